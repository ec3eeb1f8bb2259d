// The disk cache against damage, concurrency, missing rights and its cap.
#include "src/support/disk/object_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "fxjit/log.h"
#include "src/support/disk/file_places.h"
#include "src/support/machine/generator_id.h"

namespace fxjit::support {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name =
        (fs::temp_directory_path() / "fxjit-cache-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

fs::path entry_of(const fs::path& folder, const CacheKey& key) {
  return folder / (key.hex() + ".fxjit");
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

size_t files_in(const fs::path& folder) {
  const fs::directory_iterator files(folder);
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

TEST(CacheKeyTest, TellsTextsApartAndIsStable) {
  EXPECT_EQ(make_cache_key("a"), make_cache_key("a"));
  EXPECT_NE(make_cache_key("a"), make_cache_key("b"));
  EXPECT_NE(make_cache_key(""), make_cache_key(std::string(1, '\0')));
  EXPECT_EQ(make_cache_key("a").hex().size(), 32u);
}

TEST(GeneratorIdTest, IsASha256InHexadecimal) {
  EXPECT_THAT(std::string(generator_id()),
              ::testing::MatchesRegex("[0-9a-f]{64}"));
}

TEST(ObjectCacheTest, ReturnsWhatWasStored) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path() / "deep" / "er"});
  const CacheKey key = make_cache_key("k");
  EXPECT_FALSE(cache.load(key));
  EXPECT_TRUE(cache.store(key, bytes_of("payload")));
  EXPECT_EQ(cache.load(key), bytes_of("payload"));
  EXPECT_FALSE(cache.load(make_cache_key("other")));
  ObjectCache second({folder.path() / "deep" / "er"});
  EXPECT_EQ(second.load(key), bytes_of("payload"));
}

TEST(ObjectCacheTest, KeepsEmptyAndReplacedEntries) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k");
  EXPECT_TRUE(cache.store(key, {}));
  EXPECT_EQ(cache.load(key), bytes_of(""));
  EXPECT_TRUE(cache.store(key, bytes_of("new")));
  EXPECT_EQ(cache.load(key), bytes_of("new"));
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(ObjectCacheTest, AnyFlippedBitIsAMissAndRemoved) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k");
  ASSERT_TRUE(cache.store(key, bytes_of("the payload of the entry")));
  const fs::path path = entry_of(folder.path(), key);
  const std::string whole = read_file(path);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_file(path, damaged);
    ASSERT_FALSE(cache.load(key)) << "bit " << bit;
    ASSERT_FALSE(fs::exists(path)) << "bit " << bit;
  }
  write_file(path, whole);
  EXPECT_TRUE(cache.load(key));
}

TEST(ObjectCacheTest, AnyOtherLengthIsAMiss) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k");
  ASSERT_TRUE(cache.store(key, bytes_of("payload")));
  const fs::path path = entry_of(folder.path(), key);
  const std::string whole = read_file(path);
  for (size_t length = 0; length < whole.size(); ++length) {
    write_file(path, whole.substr(0, length));
    ASSERT_FALSE(cache.load(key)) << length;
  }
  write_file(path, whole + "x");
  EXPECT_FALSE(cache.load(key));
}

TEST(ObjectCacheTest, EntryUnderAnotherNameIsForeign) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k"), other = make_cache_key("other");
  ASSERT_TRUE(cache.store(key, bytes_of("payload")));
  fs::rename(entry_of(folder.path(), key), entry_of(folder.path(), other));
  EXPECT_FALSE(cache.load(other));
}

TEST(ObjectCacheTest, OddFilesInPlaceOfAnEntryDoNoHarm) {
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k");
  const fs::path path = entry_of(folder.path(), key);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.load(key));
  fs::create_directory(path);
  EXPECT_FALSE(cache.load(key));
  write_file(folder.path() / "elsewhere", "text");
  fs::create_symlink(folder.path() / "elsewhere", path);
  EXPECT_FALSE(cache.load(key));
  EXPECT_EQ(read_file(folder.path() / "elsewhere"), "text");
  EXPECT_TRUE(cache.store(key, bytes_of("payload")));
  EXPECT_EQ(cache.load(key), bytes_of("payload"));
}

TEST(ObjectCacheTest, WithoutAFolderEverythingIsAMiss) {
  ObjectCache cache({});
  const CacheKey key = make_cache_key("k");
  EXPECT_FALSE(cache.enabled());
  EXPECT_FALSE(cache.store(key, bytes_of("payload")));
  EXPECT_FALSE(cache.load(key));
}

TEST(ObjectCacheTest, FolderThatCannotBeMadeWarnsOnce) {
  std::vector<std::string> warnings;
  set_log_callback([&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings.emplace_back(message);
  });
  ObjectCache cache({fs::path("/proc/nowhere/fxjit")});
  EXPECT_FALSE(cache.load(make_cache_key("k")));
  EXPECT_TRUE(warnings.empty());
  EXPECT_FALSE(cache.store(make_cache_key("k"), bytes_of("payload")));
  EXPECT_FALSE(cache.store(make_cache_key("other"), bytes_of("payload")));
  EXPECT_FALSE(cache.load(make_cache_key("k")));
  set_log_callback(nullptr);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("/proc/nowhere/fxjit"),
                                          HasSubstr("FXJIT_CACHE="))));
}

// Exit status of `function` run as an unprivileged user, where one is needed.
template <typename Function>
int status_as_user(Function function) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(99);
    _exit(function());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(ObjectCacheTest, ReadOnlyFolderStillServes) {
  const TemporaryFolder folder;
  const CacheKey key = make_cache_key("k");
  ASSERT_TRUE(ObjectCache({folder.path()}).store(key, bytes_of("payload")));
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  EXPECT_EQ(status_as_user([&] {
              ObjectCache cache({folder.path()});
              const bool read = cache.load(key) == bytes_of("payload");
              const bool stored =
                  cache.store(make_cache_key("new"), bytes_of("x"));
              return read && !stored ? 0 : 1;
            }),
            0);
  EXPECT_EQ(files_in(folder.path()), 1u);
  chmod(folder.path().c_str(), 0755);
}

TEST(ObjectCacheTest, EntriesOfAnotherUserAreNotTrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to change an owner";
  const TemporaryFolder folder;
  ObjectCache cache({folder.path()});
  const CacheKey key = make_cache_key("k");
  ASSERT_TRUE(cache.store(key, bytes_of("payload")));
  ASSERT_EQ(chown(entry_of(folder.path(), key).c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.load(key));
  EXPECT_FALSE(fs::exists(entry_of(folder.path(), key)));
}

CacheKey numbered_key(int i) { return make_cache_key(std::to_string(i)); }

// After so many stores a cache has looked at what others left in its folder.
constexpr int kStoresUntilScanned = 33;

void set_age(const fs::path& path, std::chrono::minutes age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST(ObjectCacheTest, EvictsTheLeastRecentlyUsedBeyondTheCap) {
  const TemporaryFolder folder;
  constexpr uint64_t kCap = 10'000;
  ObjectCache cache({folder.path(), kCap});
  const std::vector<std::byte> kilobyte(1000);
  constexpr int kFit = 9;
  for (int i = 0; i < kFit; ++i) {
    ASSERT_TRUE(cache.store(numbered_key(i), kilobyte));
    set_age(entry_of(folder.path(), numbered_key(i)),
            std::chrono::minutes(60 - i));
  }
  EXPECT_TRUE(cache.load(numbered_key(0)));  // The oldest, now used again.
  ASSERT_TRUE(cache.store(numbered_key(kFit), kilobyte));
  EXPECT_TRUE(cache.load(numbered_key(0)));
  EXPECT_FALSE(cache.load(numbered_key(1)));
  EXPECT_TRUE(cache.load(numbered_key(kFit)));
}

TEST(ObjectCacheTest, StaysWithinTheCapWhateverIsStored) {
  const TemporaryFolder folder;
  constexpr uint64_t kCap = 50'000;
  ObjectCache cache({folder.path(), kCap});
  for (int i = 0; i < 300; ++i) {
    cache.store(numbered_key(i), std::vector<std::byte>(size_t(37 * i)));
    uint64_t total = 0;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      total += file.file_size();
    }
    ASSERT_LE(total, kCap) << i;
  }
  EXPECT_TRUE(cache.load(numbered_key(299)));
  EXPECT_FALSE(cache.store(numbered_key(0), std::vector<std::byte>(kCap)));
}

TEST(ObjectCacheTest, RemovesWhatDeadProcessesLeft) {
  const TemporaryFolder folder;
  const fs::path old = folder.path() / ".fxjit-tmp-1-1";
  const fs::path fresh = folder.path() / ".fxjit-tmp-1-2";
  write_file(old, "half");
  write_file(fresh, "half");
  set_age(old, std::chrono::minutes(120));
  ObjectCache cache({folder.path()});
  for (int i = 0; i < kStoresUntilScanned; ++i)
    ASSERT_TRUE(cache.store(numbered_key(i), bytes_of("payload")));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST(ObjectCacheTest, RemovesWhatOtherProcessesStoredBeyondTheCap) {
  const TemporaryFolder folder;
  constexpr uint64_t kCap = 60'000;
  constexpr int kOthers = 20;
  const std::vector<std::byte> payload(10'000);
  for (int i = 0; i < kOthers; ++i) {
    ObjectCache other({folder.path()});
    ASSERT_TRUE(other.store(numbered_key(i), payload));
    set_age(entry_of(folder.path(), numbered_key(i)),
            std::chrono::minutes(60 - i));
  }
  ObjectCache cache({folder.path(), kCap});
  for (int i = 0; i < kStoresUntilScanned; ++i)
    ASSERT_TRUE(cache.store(numbered_key(kOthers), payload));
  EXPECT_FALSE(cache.load(numbered_key(0)));
  EXPECT_TRUE(cache.load(numbered_key(kOthers - 1)));
}

// Many writers of few keys: each load is a miss or a whole entry.
int hammer(const fs::path& folder, int seed) {
  int damaged = 0;
  set_log_callback([&](LogLevel, std::string_view message) {
    damaged += message.find("damaged") != message.npos;
  });
  ObjectCache cache({folder, 200'000});
  for (int i = 0; i < 300; ++i) {
    const int which = (i * 7 + seed) % 5;
    const std::vector<std::byte> payload(size_t(1000 * which),
                                         std::byte(which));
    cache.store(numbered_key(which), payload);
    const auto loaded = cache.load(numbered_key((which + 1) % 5));
    if (!loaded) continue;
    const int other = (which + 1) % 5;
    const std::vector<std::byte> expected(size_t(1000 * other),
                                          std::byte(other));
    if (*loaded != expected) return 1;
  }
  return damaged == 0 ? 0 : 2;
}

TEST(ObjectCacheTest, ThreadsShareAFolder) {
  const TemporaryFolder folder;
  std::vector<int> results(8, -1);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back(
          [&, i] { results[i] = hammer(folder.path(), static_cast<int>(i)); });
    }
  }
  EXPECT_THAT(results, ::testing::Each(0));
}

TEST(ObjectCacheTest, ProcessesShareAFolder) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(hammer(folder.path(), i));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files_in(folder.path()), 5u);
}

class CacheFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"FXJIT_CACHE", "XDG_CACHE_HOME", "HOME"}) {
      const char* value = std::getenv(name);
      saved_.emplace_back(name, value == nullptr ? "" : value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      if (value.empty()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> saved_;
};

TEST_F(CacheFolderTest, FollowsTheXdgSpecification) {
  EXPECT_EQ(cache_folder(), std::nullopt);
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(cache_folder(), fs::path("/home/u/.cache/fxjit"));
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_folder(), fs::path("/home/u/.cache/fxjit"));
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(cache_folder(), fs::path("/caches/fxjit"));
  setenv("FXJIT_CACHE", "/mine", 1);
  EXPECT_EQ(cache_folder(), fs::path("/mine"));
  setenv("FXJIT_CACHE", "", 1);
  EXPECT_EQ(cache_folder(), std::nullopt);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
