#include "examples/minilm/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "examples/minilm/tokenizer.h"
#include "fxjit/error.h"

namespace minilm {
namespace TEST_FILE {

constexpr std::string_view kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

class VocabularyFileTest : public ::testing::Test {
 protected:
  std::filesystem::path write(std::string_view content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // One file per test: CTest runs them at the same time.
  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("fxjit_vocabulary_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(VocabularyTest, FindsExactEntriesByLineNumber) {
  const Vocabulary vocabulary(std::string("a\nab\r\n\n##b\nlast"));
  EXPECT_EQ(vocabulary.size(), 5u);
  EXPECT_EQ(vocabulary.find("a"), 0);
  EXPECT_EQ(vocabulary.find("ab"), 1);
  EXPECT_EQ(vocabulary.find("##b"), 3);
  EXPECT_EQ(vocabulary.find("last"), 4);
  EXPECT_EQ(vocabulary.find("b"), Vocabulary::kNone);
  EXPECT_EQ(vocabulary.text(1), "ab");
}

TEST(VocabularyTest, PrefersTheLongestEntry) {
  const Vocabulary vocabulary(std::string("a\nabc\n##b\n##bcd\nabcdx"));
  const auto first = vocabulary.longest_prefix("abcd", false);
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(first.bytes, 3u);
  const auto inside = vocabulary.longest_prefix("bcd", true);
  EXPECT_EQ(inside.id, 3);
  EXPECT_EQ(inside.bytes, 3u);
  EXPECT_EQ(vocabulary.longest_prefix("bcd", false).id, Vocabulary::kNone);
  EXPECT_EQ(vocabulary.longest_prefix("a", true).id, Vocabulary::kNone);
}

TEST(VocabularyTest, EmptyOnesHoldNothing) {
  EXPECT_EQ(Vocabulary().find("a"), Vocabulary::kNone);
  EXPECT_EQ(Vocabulary(std::string()).longest_prefix("a", false).bytes, 0u);
}

TEST(VocabularyTest, TheLastOfEqualLinesCounts) {
  EXPECT_EQ(Vocabulary(std::string("a\nb\na")).find("a"), 2);
}

TEST_F(VocabularyFileTest, AWordWithAnUnknownRestIsUnknownAsAWhole) {
  const auto tokenizer =
      Tokenizer::load(write(std::string(kSpecials) + "play\n##ing\n##s\n,"));
  EXPECT_THAT(tokenizer.encode("Playing, plays, played", 16),
              ::testing::ElementsAre(2, 5, 6, 8, 5, 7, 8, 1, 3));
}

TEST_F(VocabularyFileTest, NamesWhatIsMissing) {
  const auto message_of = [](const std::filesystem::path& path) {
    try {
      Tokenizer::load(path);
    } catch (const fxjit::UserError& error) {
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_THAT(message_of(path_), ::testing::HasSubstr(path_.string()));
  EXPECT_THAT(message_of(::testing::TempDir()),
              ::testing::HasSubstr("cannot be read"));
  EXPECT_THAT(message_of(write("")), ::testing::HasSubstr("[PAD]"));
  EXPECT_THAT(message_of(write("[PAD]\n[UNK]\n[CLS]\n[SEP]")),
              ::testing::HasSubstr("[MASK]"));
}

TEST_F(VocabularyFileTest, RefusesFilesThatCannotBeAVocabulary) {
  std::filesystem::resize_file(write("x"), 65u << 20);  // Sparse.
  EXPECT_THROW(Vocabulary::load(path_), fxjit::UserError);
}

}  // namespace TEST_FILE
}  // namespace minilm
