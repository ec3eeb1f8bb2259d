#include "examples/minilm/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <thread>

#include "fxjit/error.h"
#include "tests/minilm/reference_data.h"

namespace minilm {
namespace TEST_FILE {

using Ids = std::vector<std::int64_t>;

constexpr std::size_t kMaxLength = 256;
constexpr std::int64_t kClassifyId = 101;
constexpr std::int64_t kSeparateId = 102;

class TokenizerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = reference::model_dir() / "vocab.txt";
    ASSERT_TRUE(std::filesystem::exists(path))
        << reference::missing_model_message();
    tokenizer_ = Tokenizer::load(path);
  }

  Ids encode(std::string_view text) const {
    return tokenizer_->encode(text, kMaxLength);
  }

  std::optional<Tokenizer> tokenizer_;
};

// What a limit of `max_length` leaves of a text that has the ids `all`.
Ids cut(const Ids& all, std::size_t max_length) {
  if (all.size() <= max_length) return all;
  Ids kept(all.begin(), all.begin() + static_cast<long>(max_length) - 1);
  kept.push_back(kSeparateId);
  return kept;
}

TEST_F(TokenizerTest, EqualsTheReferenceOnEveryLine) {
  const auto lines = reference::token_lines();
  ASSERT_GE(lines.size(), 1000u);
  for (const auto& line : lines) {
    bool truncated = !line.truncated;
    EXPECT_EQ(tokenizer_->encode(line.text, kMaxLength, &truncated), line.ids)
        << line.text;
    EXPECT_EQ(truncated, line.truncated) << line.text;
  }
}

TEST_F(TokenizerTest, EqualsTheReferenceOfTheEmbeddings) {
  for (const auto& line : reference::embedding_lines()) {
    EXPECT_EQ(encode(line.text), line.ids) << line.text;
  }
}

TEST_F(TokenizerTest, AShorterLimitKeepsTheBeginning) {
  for (const auto& line : reference::token_lines()) {
    for (const std::size_t limit : {2u, 3u, 4u, 16u, 128u}) {
      bool truncated = false;
      EXPECT_EQ(tokenizer_->encode(line.text, limit, &truncated),
                cut(line.ids, limit))
          << line.text;
      EXPECT_EQ(truncated, line.truncated || line.ids.size() > limit)
          << line.text;
    }
  }
}

TEST_F(TokenizerTest, TakesTextsFarBeyondTheLimit) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "a ";
  bool truncated = false;
  const Ids ids = tokenizer_->encode(text, kMaxLength, &truncated);
  EXPECT_TRUE(truncated);
  EXPECT_EQ(ids.size(), kMaxLength);
  EXPECT_EQ(encode(std::string(4'000'000, 'a')),
            (Ids{kClassifyId, tokenizer_->encode("[UNK]", 3)[1], kSeparateId}));
}

TEST_F(TokenizerTest, MalformedBytesVanishAsTheReplacementCharacterDoes) {
  const Ids clean = encode("river bank");
  for (const std::string_view bytes :
       {"\xEF\xBF\xBD", "\x80", "\xBF\xBF", "\xC0\xAF", "\xC2", "\xE2\x82",
        "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF0\x9F\x98", "\xF8\x88\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_EQ(encode("riv" + std::string(bytes) + "er bank"), clean);
    EXPECT_EQ(encode(std::string(bytes) + "river bank"), clean);
    EXPECT_EQ(encode("river bank" + std::string(bytes)), clean);
  }
}

TEST_F(TokenizerTest, AnyBytesGiveAFramedListOfKnownIds) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const Ids ids = tokenizer_->encode(text, 24);
    ASSERT_THAT(ids, ::testing::SizeIs(::testing::Le(24u)));
    ASSERT_EQ(ids.front(), kClassifyId);
    ASSERT_EQ(ids.back(), kSeparateId);
    const auto size = static_cast<std::int64_t>(tokenizer_->vocabulary_size());
    ASSERT_THAT(
        ids, ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(size))));
  }
}

TEST_F(TokenizerTest, EncodesFromManyThreads) {
  const auto lines = reference::token_lines();
  std::array<std::size_t, 8> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t& count : wrong) {
    threads.emplace_back([&] {
      for (const auto& line : lines) count += encode(line.text) != line.ids;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0u));
}

TEST_F(TokenizerTest, TellsItsTokens) {
  EXPECT_EQ(tokenizer_->vocabulary_size(), 30522u);
  EXPECT_EQ(tokenizer_->token(tokenizer_->pad_id()), "[PAD]");
  EXPECT_EQ(tokenizer_->token(kClassifyId), "[CLS]");
  EXPECT_EQ(tokenizer_->token(-1), "");
  EXPECT_EQ(tokenizer_->token(30522), "");
}

TEST_F(TokenizerTest, RefusesALimitWithoutRoomForTheFrame) {
  EXPECT_THROW(tokenizer_->encode("a", 1), fxjit::UserError);
  EXPECT_THROW(tokenizer_->encode("", 0), fxjit::UserError);
}

}  // namespace TEST_FILE
}  // namespace minilm
