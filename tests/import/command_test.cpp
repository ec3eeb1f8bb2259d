// The command fxjit as a program: results, exit codes, what it says of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/archive.h"
#include "fxjit/safetensors.h"
#include "src/io/npy.h"
#include "tests/import/command_runner.h"
#include "tests/import/edited_archive.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using ::testing::HasSubstr;

TEST_F(Command, RunsOnFilesAndWritesResults) {
  const ModelCase one = read_case("tied");
  std::string inputs;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    if (!one.inputs[i].is_tensor()) continue;
    const std::string& name = one.program.inputs[i].name;
    io::save_npy(file(name + ".npy"), one.inputs[i].as_tensor());
    inputs += " --input " + name + "=" + file(name + ".npy");
  }
  for (const char* how : {"", " --interpret", " --threads 1"}) {
    const Ran ran = fxjit_command("run " + model_path("tied") + inputs +
                                  " --output " + file("results") + how);
    ASSERT_EQ(ran.code, 0) << ran.text;
    EXPECT_THAT(ran.text, HasSubstr("output_0: float32[2, 3, 10]"));
    ValueList leaves(one.program.outputs.size());
    for (const auto& [place, expected] : one.expected)
      leaves[place] = io::load_npy(
          file("results/" + one.program.outputs[place].name + ".npy"));
    EXPECT_EQ(difference(one, leaves, 2e-5), "");
  }
}

TEST_F(Command, MakesInputsUp) {
  const Ran first = fxjit_command("run " + model_path("images"));
  EXPECT_EQ(first.code, 0);
  EXPECT_THAT(first.text, HasSubstr("output: float32[2, 5]"));
  EXPECT_EQ(fxjit_command("run " + model_path("images")).text, first.text);
  EXPECT_NE(fxjit_command("run " + model_path("images") + " --seed 2").text,
            first.text);
  const Ran sized = fxjit_command("run " + model_path("dynamic") +
                                  " --shape x=6x6 --shape y=30x6");
  EXPECT_THAT(sized.text, HasSubstr("output: float32[12, 6]"));
}

TEST_F(Command, NamesSizes) {
  fx::save(
      *fx::symbolic_trace([](Value x) { return relu(x) + 1; }, {"x"}, "net"),
      file("saved"));
  const std::string inspect =
      "inspect --compile " + file("saved") + " --shape x=2x5x32 --sizes ";
  const Ran ran = fxjit_command(inspect + "x=batch,length:2..64");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("length in 2..64"));
  const Ran wrong = fxjit_command(inspect + "x=batch,length:8..4");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.text, HasSubstr("no size of length is in the range 8..4"));
  const Ran outside = fxjit_command(inspect + "x=batch,length:8..64");
  EXPECT_THAT(outside.text, HasSubstr("expected a size in 8..64, got 5"));
  EXPECT_THAT(fxjit_command(inspect + "x=batch,a:b").text,
              HasSubstr("expected a name, NAME:LEAST..MOST, * or a number"));
  EXPECT_THAT(fxjit_command(inspect + "y=batch").text,
              HasSubstr("the model's inputs are x"));
}

TEST_F(Command, AFileOfFxSave) {
  fx::save(*read_case("attention").program.module, file("saved"));
  const Ran ran = fxjit_command("run " + file("saved") + " --shape x=2x5x32");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("float32[2, 5, 32]"));
  EXPECT_THAT(fxjit_command("run " + file("saved")).text,
              HasSubstr("--shape x="));
}

TEST_F(Command, Inspects) {
  const Ran text =
      fxjit_command("inspect " + model_path("dynamic") + " --compile --graph");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.text, HasSubstr("x: float32[s77 in 4..100, 6]"));
  EXPECT_THAT(text.text, HasSubstr("generated"));
  EXPECT_THAT(text.text, HasSubstr("placeholder[target=x]"));
  const auto facts = nlohmann::json::parse(
      fxjit_command("inspect " + model_path("images") + " --json").text);
  EXPECT_EQ(facts["inputs"][0]["sizes"], nlohmann::json({2, 3, 12, 12}));
  EXPECT_EQ(facts["ops"]["torch.ops.aten.linear.default"], 1);
  EXPECT_THAT(fxjit_command("inspect " + model_path("images") + " --dot").text,
              ::testing::StartsWith("digraph"));
  const Ran code = fxjit_command("inspect " + model_path("images") + " --ir");
  EXPECT_EQ(code.code, 0);
  EXPECT_THAT(code.text, HasSubstr("define i32 @fxjit_driver_"));
  EXPECT_THAT(code.text, HasSubstr("define void @fxjit_"));
}

TEST_F(Command, Measures) {
  const Ran ran = fxjit_command("bench " + model_path("attention") +
                                " --seconds 0.01 --json --disable fuse");
  ASSERT_EQ(ran.code, 0) << ran.text;
  const auto table = nlohmann::json::parse(ran.text);
  ASSERT_EQ(table["rows"].size(), 3u);
  for (const auto& row : table["rows"]) {
    EXPECT_GE(row["calls"], 5);
    EXPECT_LT(row["difference"], 1e-4);
    for (const char* statistic : {"p10_us", "median_us", "spread"})
      EXPECT_TRUE(row[statistic].is_number()) << statistic;
  }
}

TEST_F(Command, ShowsSteps) {
  const Ran ran = fxjit_command("bench " + model_path("attention") +
                                " --seconds 0.01 --steps");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("\nunfused:\n"));
  EXPECT_THAT(ran.text, HasSubstr("\nfused:\n"));
}

TEST_F(Command, NumbersBelowABound) {
  fx::save(*read_case("tied").program.module, file("saved"));
  const std::string model = "run " + file("saved") + " --shape ";
  EXPECT_EQ(fxjit_command(model + "'tokens=int64:2x3<10'").code, 0);
  EXPECT_EQ(fxjit_command(model + "'tokens=int64:9x99<1000'").code, 1);
}

TEST_F(Command, OneNumberIsATensorWithoutDims) {
  fx::save(*fx::symbolic_trace([](Value x) { return x * 2.0; }, {"x"}),
           file("twice"));
  const Ran ran = fxjit_command(
      "run " + file("twice") + " --input x=-1.5e3 --output " + file("results"));
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("float32[]"));
}

TEST_F(Command, SaysWhatIsWrong) {
  const std::string model = model_path("images");
  const auto fails = [](const std::string& arguments, int code,
                        const std::string& words) {
    const Ran ran = fxjit_command(arguments);
    EXPECT_EQ(ran.code, code) << arguments << ": " << ran.text;
    EXPECT_THAT(ran.text, HasSubstr(words)) << arguments;
  };
  fails("", 2, "subcommand");
  fails("run", 2, "fxjit: MODEL is required\nRun fxjit run --help");
  fails("rum x", 2, "fxjit: there is no command rum: expected run, inspect");
  fails("run " + model + " --nonsense", 2, "--nonsense");
  fails("bench " + model + " --disable nonsense", 2, "nonsense");
  fails("run " + file("none.pt2"), 1, "No such file");
  fails("run " + folder(), 1, "regular file");
  fails("run " + write("text", "some text, no model"), 1, "neither");
  fails("run " + write("empty", ""), 1, "0 bytes");
  fails("run " + model + " --input y=x.npy", 1, "inputs are x");
  fails("run " + model + " --input x=none.npy", 1, "none.npy");
  fails("run " + model + " --input x", 1, "NAME=");
  fails("run " + model + " --input 'x=[[1],2]'", 1, "x=[[1],2]: expected rows");
  fails("run " + model + " --shape x=2x3x", 1, "expected sizes");
  for (const char* shape : {"x", "2xx3", "f:2", "2x-3", "2<", "2<0", "2<x"})
    fails("run " + model + " '--shape=x=" + shape + "'", 1, "expected sizes");
  fails("run " + model + " --shape x=1x3x12x12", 1, "expected float32[2");
  fails("run " + model + " --weights none.safetensors", 1, "none.safetensors");
  const std::string damaged = read_bytes(model).substr(0, 5000);
  fails("inspect " + write("cut.pt2", damaged), 1, "truncated");
  EXPECT_EQ(fxjit_command("--version").code, 0);
  EXPECT_THAT(fxjit_command("--help").text, HasSubstr("Exit codes"));
  EXPECT_THAT(fxjit_command("--help").text, HasSubstr("ONNX models"));
  EXPECT_EQ(fxjit_command("run --help").code, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit
