// A program without weights, bound to the published ones by their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fxjit/fx/pytree.h"
#include "fxjit/pt2.h"
#include "fxjit/safetensors.h"
#include "src/io/npy.h"
#include "tests/import/command_runner.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const std::string kFolder = FXJIT_SOURCE_DIR "/examples/exported/";
const std::string kProgram = kFolder + "minilm.pt2";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// Where scripts/setup puts it.
std::string published_weights() {
  fs::path folder = variable("FXJIT_MODEL_DIR");
  if (folder.empty()) {
    const fs::path cache = variable("XDG_CACHE_HOME");
    folder =
        (cache.is_absolute() ? cache : fs::path(variable("HOME")) / ".cache") /
        "fxjit/models/all-minilm-l6-v2";
  }
  return (folder / "model.safetensors").string();
}

class Published : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    ASSERT_TRUE(fs::exists(published_weights()))
        << published_weights()
        << " is missing: run scripts/setup, or set FXJIT_MODEL_DIR";
  }
};

double difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(DType::f64).contiguous();
  double error = 0;
  for (int64_t i = 0; i < expected.numel(); ++i)
    error = std::max(error, std::abs(a.data_as<double>()[i] -
                                     expected.data_as<double>()[i]));
  return error;
}

TEST_F(Published, GivesTorchsAnswer) {
  std::map<std::string, Tensor> tensors;
  for (auto& [name, tensor] : load_safetensors(kFolder + "minilm.safetensors"))
    tensors.emplace(name, tensor);
  const pt2::Program program =
      pt2::load(kProgram, {.weights = published_weights()});
  for (const bool compiled : {false, true}) {
    if (compiled) program.module->compile();
    const ValueList results = fx::tree_leaves(program(tensors.at("ids")));
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& expected = tensors.at(program.outputs[i].name);
      ASSERT_EQ(results[i].as_tensor().sizes(), expected.sizes());
      EXPECT_LT(difference(results[i].as_tensor(), expected), 1e-5);
    }
  }
}

TEST_F(Published, ByTheCommand) {
  const std::string ids =
      " --input 'ids=[[101, 1037, 4937, 7719, 2006, 1996, 13523, 1012, 102],"
      " [101, 1037, 18401, 16626, 2006, 1037, 20452, 1012, 102]]'";
  const Ran ran = fxjit_command("run " + kProgram + " --weights " +
                                published_weights() + ids);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, HasSubstr("similarity: float32[2, 2] [1, 0.66539"));
  EXPECT_THAT(ran.text, Not(HasSubstr("warning")));
  // The published file has more than the program.
  const Ran bare = fxjit_command("run " + kProgram + ids);
  EXPECT_EQ(bare.code, 1);
  EXPECT_THAT(bare.text, HasSubstr("no tensor \"embeddings.word_embeddings"));
  EXPECT_THAT(bare.text, HasSubstr("a .safetensors file"));
}

TEST_F(Published, NumbersOnTheCommandLine) {
  const std::string line =
      "run " + kProgram + " --weights " + published_weights() + " --input ";
  const auto fails = [&](const std::string& value, const char* words) {
    const Ran ran = fxjit_command(line + "'ids=" + value + "'");
    EXPECT_EQ(ran.code, 1) << value;
    EXPECT_THAT(ran.text, HasSubstr(words)) << value;
  };
  for (const char* value :
       {"[1,", "[[1, 2], [3]]", "[[1], 2]", "[\"a\"]", "[[1, [2]]]", "[null]",
        "[18446744073709551615]", "[{}]"})
    fails(value, "expected rows of numbers");
  fails("[1, 2, 3]", "ids");  // One dim is missing.
  EXPECT_EQ(fxjit_command(line + "'ids=[[101, 102]]'").code, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit
