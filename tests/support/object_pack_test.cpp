// Packs: entries of a cache in one file, whole, damaged and foreign.
#include "src/support/disk/object_pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fxjit/error.h"
#include "fxjit/log.h"

namespace fxjit::support {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

// A folder of three entries, and the pack that is made of it.
class ObjectPackTest : public ::testing::Test {
 protected:
  ObjectPackTest() {
    std::string name =
        (fs::temp_directory_path() / "fxjit-pack-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    ObjectCache cache({folder_ / "cache"});
    for (const char* text : {"one", "two", ""})
      cache.store(make_cache_key(text), bytes_of(text));
  }
  ~ObjectPackTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path file() const { return folder_ / "kernels.pack"; }
  size_t write() const {
    return write_object_pack(folder_ / "cache", file().string());
  }
  std::string content() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::string& bytes) const {
    std::ofstream(file(), std::ios::binary) << bytes;
  }

  fs::path folder_;
};

TEST_F(ObjectPackTest, HoldsWhatTheFolderHeld) {
  EXPECT_EQ(write(), 3u);
  const ObjectPack pack(file());
  EXPECT_THAT(pack.fault(), IsEmpty());
  EXPECT_EQ(pack.size(), 3u);
  for (const char* text : {"one", "two", ""})
    EXPECT_EQ(pack.load(make_cache_key(text)), bytes_of(text)) << text;
  EXPECT_FALSE(pack.load(make_cache_key("three")));
}

TEST_F(ObjectPackTest, LeavesOutWhatIsNoWholeEntry) {
  std::ofstream(folder_ / "cache" / "notes.txt") << "no entry";
  std::ofstream(folder_ / "cache" / (std::string(32, 'z') + ".fxjit")) << "x";
  std::ofstream(folder_ / "cache" / (std::string(32, 'a') + ".fxjit")) << "x";
  const std::string name = make_cache_key("two").hex() + ".fxjit";
  std::ofstream(folder_ / "cache" / name, std::ios::app) << "x";
  EXPECT_EQ(write(), 2u);
  EXPECT_FALSE(ObjectPack(file()).load(make_cache_key("two")));
}

TEST_F(ObjectPackTest, NothingToWriteOrNowhere) {
  const std::string nowhere = (folder_ / "no" / "file").string();
  EXPECT_THROW(write_object_pack(folder_ / "cache", nowhere), UserError);
  EXPECT_THROW(write_object_pack(folder_ / "none", file().string()), UserError);
  fs::create_directory(folder_ / "empty");
  EXPECT_THROW(write_object_pack(folder_ / "empty", file().string()),
               UserError);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(ObjectPackTest, AnyFlippedBitIsFoundOut) {
  write();
  const std::string whole = content();
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    replace(damaged);
    const ObjectPack pack(file());
    size_t hits = 0;
    for (const char* text : {"one", "two", ""}) {
      const auto loaded = pack.load(make_cache_key(text));
      if (!loaded) continue;
      ASSERT_EQ(*loaded, bytes_of(text)) << "bit " << bit;
      ++hits;
    }
    ASSERT_LT(hits, 3u) << "bit " << bit;
  }
}

TEST_F(ObjectPackTest, AnyShorterFileIsFoundOut) {
  write();
  const std::string whole = content();
  for (size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    const ObjectPack pack(file());
    size_t hits = 0;
    for (const char* text : {"one", "two", ""})
      hits += pack.load(make_cache_key(text)).has_value();
    ASSERT_LT(hits, 3u) << length;
  }
}

TEST_F(ObjectPackTest, SaysWhatIsWrong) {
  EXPECT_THAT(ObjectPack(file()).fault(), HasSubstr("is not there"));
  replace("something else altogether, longer than a header");
  EXPECT_THAT(ObjectPack(file()).fault(), HasSubstr("is no pack of kernels"));
  EXPECT_THAT(ObjectPack(folder_).fault(), HasSubstr("is no regular file"));
  fs::remove(file());
  fs::create_symlink("/dev/zero", file());
  EXPECT_THAT(ObjectPack(file()).fault(), HasSubstr("is no regular file"));
}

TEST_F(ObjectPackTest, IsAskedBeforeTheFolderAndNeedsNone) {
  write();
  ObjectCache cache({.folder = std::nullopt, .packs = {file()}});
  EXPECT_EQ(cache.load(make_cache_key("one")), bytes_of("one"));
  EXPECT_FALSE(cache.load(make_cache_key("other")));
  EXPECT_FALSE(cache.store(make_cache_key("other"), bytes_of("other")));
}

TEST_F(ObjectPackTest, OneThatCannotBeUsedIsReported) {
  std::string said;
  set_log_callback([&](LogLevel, std::string_view text) { said += text; });
  replace("something else altogether, longer than a header");
  const ObjectCache cache(
      {.folder = std::nullopt, .packs = {file(), folder_ / "absent.pack"}});
  set_log_callback(nullptr);
  EXPECT_THAT(said, HasSubstr("kernels.pack is no pack of kernels"));
  EXPECT_THAT(said, HasSubstr("absent.pack is not there"));
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
