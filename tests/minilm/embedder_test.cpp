// Sentence embeddings against PyTorch's, committed in double precision.
#include "examples/minilm/embedder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "fxjit/inspection.h"
#include "tests/minilm/reference_data.h"

namespace minilm {
namespace TEST_FILE {

constexpr double kGreatestDifference = 1e-5;
constexpr double kCosine = 1e-6;
constexpr double kBatchDifference = 1e-6;

std::vector<std::string> texts_of(
    const std::vector<reference::EmbeddingLine>& lines) {
  std::vector<std::string> texts;
  for (const auto& line : lines) texts.push_back(line.text);
  return texts;
}

void expect_close(const std::vector<float>& got,
                  const std::vector<double>& want, const std::string& text) {
  ASSERT_EQ(got.size(), want.size());
  double difference = 0, dot = 0, a = 0, b = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = static_cast<double>(got[i]);
    difference = std::max(difference, std::abs(g - want[i]));
    dot += g * want[i];
    a += g * g;
    b += want[i] * want[i];
  }
  EXPECT_LT(difference, kGreatestDifference) << text;
  EXPECT_LT(std::abs(1 - dot / std::sqrt(a * b)), kCosine) << text;
}

class EmbedderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(reference::model_dir() /
                                        "model.safetensors"))
        << reference::missing_model_message();
  }

  static EmbedderOptions options(size_t batch) {
    EmbedderOptions options;
    options.wait = true;
    options.batch = batch;
    options.use_cache_folder = true;  // None: nothing left behind.
    return options;
  }
};

TEST_F(EmbedderTest, CompiledBatchesMatchPyTorch) {
  const auto lines = reference::embedding_lines();
  Embedder embedder(reference::model_dir(), options(16));
  const auto got = embedder.embed(texts_of(lines));
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(got[i].tokens, lines[i].ids.size());
    expect_close(got[i].values, lines[i].embedding, lines[i].text);
  }
  // Every step of every shape is native code.
  const std::string report = embedder.module().report();
  EXPECT_NE(report.find("attention"), std::string::npos);
  EXPECT_EQ(report.find("not native"), std::string::npos) << report;
  EXPECT_EQ(report.find("interpreter"), std::string::npos) << report;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

// The driver's code of a call, as far as the block for calls that are measured.
std::string driver_of(const fxjit::Inspection& seen) {
  const std::string& ir = seen.programs.at(0).driver.ir;
  return ir.substr(0, ir.find("\nobserved:"));
}

TEST_F(EmbedderTest, OneThreadCallsEveryKernelDirectly) {
  EmbedderOptions one = options(1);
  one.threads = 1;
  Embedder embedder(reference::model_dir(), one);
  const fxjit::Tensor ids = fxjit::Tensor::zeros({1, 16}, fxjit::DType::i64);
  embedder.run({ids, ids});
  const fxjit::Inspection seen = fxjit::inspect(
      embedder.module(), fxjit::ValueList{ids, ids}, {.calls = 1});
  ASSERT_EQ(seen.programs.size(), 1u);
  const size_t steps = seen.programs[0].steps.size();
  EXPECT_GT(steps, 40u);
  EXPECT_EQ(count_of(driver_of(seen), "call void %kernel"), steps);
  EXPECT_EQ(count_of(driver_of(seen), "call "), steps);
}

TEST_F(EmbedderTest, AloneOrInABatchIsTheSame) {
  auto lines = reference::embedding_lines();
  lines.resize(12);
  Embedder alone(reference::model_dir(), options(1));
  Embedder together(reference::model_dir(), options(12));
  const auto a = alone.embed(texts_of(lines));
  const auto b = together.embed(texts_of(lines));
  for (size_t i = 0; i < lines.size(); ++i)
    for (size_t j = 0; j < a[i].values.size(); ++j)
      ASSERT_NEAR(a[i].values[j], b[i].values[j], kBatchDifference);
}

TEST_F(EmbedderTest, InterpreterMatchesPyTorch) {
  auto lines = reference::embedding_lines();
  lines.resize(4);
  EmbedderOptions interpreter = options(4);
  interpreter.backend = Backend::interpreter;
  Embedder embedder(reference::model_dir(), interpreter);
  const auto got = embedder.embed(texts_of(lines));
  for (size_t i = 0; i < lines.size(); ++i)
    expect_close(got[i].values, lines[i].embedding, lines[i].text);
}

TEST_F(EmbedderTest, NewShapesAreAnsweredAtOnceAndCompiledBehind) {
  auto lines = reference::embedding_lines();
  lines.resize(2);
  EmbedderOptions behind = options(1);
  behind.wait = false;
  Embedder embedder(reference::model_dir(), behind);
  for (int round = 0; round < 3; ++round) {
    const auto got = embedder.embed(texts_of(lines));
    for (size_t i = 0; i < lines.size(); ++i)
      expect_close(got[i].values, lines[i].embedding, lines[i].text);
  }
}

TEST(EmbedderErrors, MissingModelSaysHowToGetIt) {
  try {
    Embedder embedder("/nonexistent/model", {});
    FAIL() << "expected an error";
  } catch (const fxjit::UserError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("scripts/setup"), std::string::npos);
    EXPECT_NE(text.find("/nonexistent/model"), std::string::npos);
  }
}

TEST_F(EmbedderTest, TruncatedWeightsAreRefused) {
  const auto folder = std::filesystem::path(::testing::TempDir()) /
                      ("minilm_truncated_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"config.json", "vocab.txt"})
    std::filesystem::copy_file(
        reference::model_dir() / name, folder / name,
        std::filesystem::copy_options::overwrite_existing);
  {
    std::ifstream in(reference::model_dir() / "model.safetensors",
                     std::ios::binary);
    std::vector<char> head(1 << 20);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    std::ofstream(folder / "model.safetensors", std::ios::binary)
        .write(head.data(), in.gcount());
  }
  EXPECT_THROW(Embedder(folder, {}), fxjit::UserError);
  std::filesystem::remove_all(folder);
}

}  // namespace TEST_FILE
}  // namespace minilm
