// Malformed files are refused with errors that name the node and the field, and
// without memory beyond the file's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "fxjit/error.h"
#include "fxjit/onnx.h"
#include "tests/onnx/backend_cases.h"
#include "tests/onnx/damaged_files.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

using ::testing::HasSubstr;

class DamagedFiles : public ::testing::TestWithParam<Damaged> {};

TEST_P(DamagedFiles, AreRefusedByName) {
  const std::string path = write_model(GetParam().bytes);
  try {
    onnx::load(path);
    FAIL() << "it was loaded";
  } catch (const UserError& error) {
    for (const char* const part : GetParam().says)
      EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr("model.onnx"));
  } catch (const RuntimeError& error) {
    // Shape rules mirror torch's types of errors.
    for (const char* const part : GetParam().says)
      EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(All, DamagedFiles, ::testing::ValuesIn(damaged_files()),
                         [](const auto& info) { return info.param.name; });

TEST(Damaged, EverythingUnsupportedIsNamedAtOnce) {
  const std::string path = write_model(
      model_of({node("Frob", {"x"}, {"a"}), node("Nicate", {"a"}, {"b"}),
                node("Cast", {"b"}, {"y"}, {int_attribute("to", 24)})})
          .bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const NotImplementedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 things are not supported"));
    EXPECT_THAT(error.what(), HasSubstr("op Frob (graph.node[0]"));
    EXPECT_THAT(error.what(), HasSubstr("op Nicate (graph.node[1]"));
    EXPECT_THAT(error.what(), HasSubstr("type FLOAT8E8M0"));
  }
}

TEST(Damaged, AnyCutOfAFileIsRefusedOrLoaded) {
  const std::string whole =
      adding(float_tensor("c", {3}, {1, 2, 3})).bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string path = write_model(whole.substr(0, size));
    try {
      onnx::load(path);
    } catch (const UserError&) {
    }
  }
}

TEST(Damaged, AnyFlippedByteIsRefusedOrLoaded) {
  const std::string whole =
      adding(float_tensor("c", {3}, {1, 2, 3})).bytes();
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const std::string path = write_model(changed);
      try {
        onnx::load(path);
      } catch (const UserError&) {
      } catch (const RuntimeError&) {
      }
    }
}

// What is read of other people's files, with some bytes changed: an error, or a
// model; nothing else.
TEST(Damaged, AnyEditsOfCasesAreRefusedOrLoaded) {
  constexpr size_t kEvery = 12;
  constexpr int kVariants = 4, kEdits = 3;
  std::mt19937 random(19);
  const auto cases = backend_cases();
  if (cases.empty()) GTEST_SKIP() << "scripts/setup brings the cases";
  for (size_t i = 0; i < cases.size(); i += kEvery) {
    std::ifstream file(cases[i].model, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    if (whole.empty() || whole.size() > 100000) continue;
    for (int variant = 0; variant < kVariants; ++variant) {
      std::string changed = whole;
      for (int edit = 0; edit < kEdits; ++edit)
        changed[random() % changed.size()] = static_cast<char>(random());
      const std::string path = write_model(changed);
      try {
        onnx::load(path);
      } catch (const Error&) {
      }
      std::filesystem::remove(path);
    }
  }
}

TEST(Damaged, ALinkOutOfTheFolderIsRefused) {
  namespace fs = std::filesystem;
  const std::string outside = write_model("aaaaaaaaaaaa", "data.bin");
  const std::string path = write_model(adding(external("link.bin")).bytes());
  fs::create_symlink(outside, fs::path(path).parent_path() / "link.bin");
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leaves the folder"));
  }
}

TEST(External, TensorsOfOtherFilesAreRead) {
  const std::string path =
      write_model(adding(external("data.bin", "4", "12")).bytes());
  const float numbers[] = {9, 1, 2, 3};
  std::ofstream(std::filesystem::path(path).parent_path() / "data.bin",
                std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  const onnx::Program program = onnx::load(path);
  const Value y = program(Tensor::zeros({2, 3}));
  EXPECT_THAT(y.as_tensor().to_floats(),
              ::testing::ElementsAre(1, 2, 3, 1, 2, 3));
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
