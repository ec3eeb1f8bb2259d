// fxjit bench beside other runtimes, which a script stands in for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "src/io/npy.h"
#include "tests/import/command_runner.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// In place of Python: takes the place of contestant.py, knows its options.
constexpr const char* kScript = R"(#!/bin/sh
name=$2
while [ $# -gt 0 ]; do
  case $1 in --output) output=$2;; --model) model=$2;; esac
  shift
done
)";
constexpr const char* kAnswers = R"(
echo 'some library speaks'
echo '{"version": "Fake 1.0", "load_ms": 2.5, "first_ms": 1.5}'
while read -r what seconds; do
  case $what in
    run) echo '{"ns": [2001000, 4001000, 3001000]}';;
    empty) echo '{"ns": [1000]}';;
  esac
done
)";

class Peers : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    const ModelCase one = read_case("attention");
    io::save_npy(file("x.npy"), one.inputs[0].as_tensor());
    io::save_npy(file("answer.npy"), one.expected.at(0));
    io::save_npy(file("other.npy"), one.inputs[0].as_tensor());
  }

  // The model against `peers`, played by `lines`.
  Ran against(const std::string& peers, const std::string& lines,
              const std::string& more = "") const {
    const std::string fake = write_script("python", kScript + lines);
    return fxjit_command("bench " + model_path("attention") + " --input x=" +
                         file("x.npy") + " --seconds 0.02 --against " + peers +
                         " --python " + fake + " " + more);
  }
  std::string answers_with(const std::string& name) const {
    return "cp '" + file(name) + "' \"$output/0.npy\"" + kAnswers;
  }
};

TEST_F(Peers, AreMeasuredInTurns) {
  const Ran ran = against("torch", answers_with("answer.npy"),
                          "--json --chart " + file("chart.svg"));
  ASSERT_EQ(ran.code, 0) << ran.text;
  const json row = json::parse(ran.text)["rows"][3];
  EXPECT_EQ(row["name"], "torch");
  EXPECT_EQ(row["version"], "Fake 1.0");
  EXPECT_DOUBLE_EQ(row["median_us"], 3000);  // Less an empty call.
  EXPECT_DOUBLE_EQ(row["p10_us"], 2000);
  EXPECT_DOUBLE_EQ(row["first_ms"], 4);
  EXPECT_EQ(row["calls"], 15);
  EXPECT_LT(row["difference"], 1e-4);
  const std::string chart = run_line("cat " + file("chart.svg")).text;
  EXPECT_THAT(chart, ::testing::StartsWith("<svg "));
  EXPECT_THAT(chart, HasSubstr(">torch</text>"));
  EXPECT_THAT(chart, HasSubstr("3.00 ms"));
}

TEST_F(Peers, AnotherAnswerIsAnError) {
  const Ran ran = against("torch", answers_with("other.npy"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.text, HasSubstr("torch          result 0 differs by"));
  EXPECT_THAT(ran.text, HasSubstr("another answer: torch"));
  EXPECT_THAT(ran.text, HasSubstr("fused"));
  EXPECT_EQ(against("torch", answers_with("other.npy"), "--tolerance 9").code,
            0);
  const Ran none = against("torch", kAnswers);
  EXPECT_THAT(none.text, HasSubstr("gives 0 tensors, not 1"));
}

TEST_F(Peers, SayWhatIsMissing) {
  const auto says = [&](const std::string& peers, const std::string& lines,
                        const std::string& words) {
    const Ran ran = against(peers, lines, "--peer-timeout 0.5");
    EXPECT_EQ(ran.code, 1) << words;
    EXPECT_THAT(ran.text, HasSubstr(words));
  };
  says("torch", "echo '{\"error\": \"no package torch\"}'", "no package torch");
  says("torch", "echo one >&2; echo 'ImportError: x' >&2; exit 1",
       "it ended: ImportError: x");
  says("torch", "exit 7", "with status 7");
  says("torch", "kill -9 $$", "by signal Killed");
  says("torch", "sleep 1000", "no answer within 0.5 seconds");
  says("torch", "exec >&-; sleep 1000", "it closed its output");
  says("torch", "echo '{damaged'; sleep 1000", "damaged JSON");
  says("torch", "echo '{}'; sleep 1000", "nothing of load_ms");
  says("onnxruntime,openvino", "echo '{\"error\": \"no package onnxscript\"}'",
       "it needs an ONNX file (--onnx FILE, or ");
  says("onnxruntime", "echo '{\"error\": \"no package onnxscript\"}'",
       "making one failed: no package onnxscript");
}

TEST_F(Peers, ThatDieAreNotWaitedFor) {
  const std::string dying =
      "cp '" + file("answer.npy") +
      "' \"$output/0.npy\"; echo '{\"load_ms\": 1, \"first_ms\": 1}';"
      "read -r line; echo 'out of memory' >&2; exit 3";
  const Ran ran = against("torch", dying);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.text, HasSubstr("it ended: out of memory"));
  const Ran missing = fxjit_command("bench " + model_path("attention") +
                                    " --seconds 0.01 --against torch"
                                    " --python /nowhere/python");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.text, HasSubstr("/nowhere/python cannot be started: No"));
}

TEST_F(Peers, GetOnnxFiles) {
  // Says which file it was given.
  const std::string told =
      "if [ $name = export ]; then echo made >\"$output\"; echo '{}'; exit; "
      "fi\n"
      "[ $(cat \"$model\") = made ] || { echo \"given $model\" >&2; exit 1; "
      "}\n" +
      answers_with("answer.npy");
  EXPECT_EQ(against("onnxruntime,openvino", told).code, 0);
  const std::string own = write("own.onnx", "own");
  const Ran given = against("onnxruntime", told, "--onnx " + own);
  EXPECT_THAT(given.text, HasSubstr("given " + own));
  run_line("cp " + model_path("attention") + " " + file("model.pt2"));
  const std::string beside = write("model.onnx", "beside");
  const Ran found = fxjit_command("bench " + file("model.pt2") +
                                  " --seconds 0.01 --against openvino" +
                                  " --python " + file("python"));
  EXPECT_THAT(found.text, HasSubstr("given " + beside));
}

TEST_F(Peers, AndFilesGoWithTheCommand) {
  run_line("mkdir " + file("tmp"));
  const std::string fake = write_script(
      "python", kScript + ("echo $$ >" + file("pid")) + "; exec sleep 1000");
  const Ran ran =
      run_line("TMPDIR=" + file("tmp") + " " + fxjit_program() + " bench " +
               model_path("attention") + " --against torch --python " + fake +
               " >/dev/null 2>&1 & until [ -s " + file("pid") +
               " ]; do sleep 0.1; done; kill -TERM $!; wait $!; echo $?; ls " +
               file("tmp") +
               // Gone, or not yet noticed by whoever inherits it.
               "; while grep -q '^State:.[^Z]' /proc/$(cat " + file("pid") +
               ")/status 2>/dev/null; do sleep 0.1; done");
  EXPECT_THAT(ran.text, ::testing::StartsWith("143\n"));
  EXPECT_THAT(ran.text, Not(HasSubstr("fxjit_")));
}

// The real script, by a Python without packages.
TEST_F(Peers, TheScriptNamesPackages) {
  if (run_line("python3 -c 1 2>&1").code != 0) GTEST_SKIP() << "no python3";
  const std::string bare =
      write_script("bare", "#!/bin/sh\nexec python3 -I -S \"$@\"\n");
  const Ran ran =
      fxjit_command("bench " + model_path("attention") +
                    " --seconds 0.01 --against torch,openvino" + " --onnx " +
                    write("m.onnx", "x") + " --python " + bare);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.text, HasSubstr("the Python package numpy is missing"));
  EXPECT_THAT(ran.text, HasSubstr("the Python package openvino is missing"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
