// The reader of zip archives: what it reads, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "fxjit/error.h"
#include "fxjit/pt2.h"
#include "src/io/zip_reader.h"
#include "src/io/zip_writer.h"
#include "tests/import/edited_archive.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using io::ZipReader;
using ::testing::HasSubstr;

// Three entries: "r/a" of 5 bytes, "r/b" of 0, "r/c" of 100.
std::string small_archive() {
  const std::string path = write_bytes("small.zip", "");
  io::ZipWriter zip(path);
  zip.add("r/a", "first");
  zip.add("r/b", "");
  zip.add("r/c", std::string(100, 'c'));
  zip.finish();
  const std::string bytes = read_bytes(path);
  std::filesystem::remove(path);
  return bytes;
}

ZipReader reader(const std::string& bytes) {
  return ZipReader(std::as_bytes(std::span(bytes)), "file.zip");
}

std::string error_of(const std::string& bytes) {
  try {
    reader(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was read";
}

template <typename T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Where the n-th record with this signature begins.
size_t record(const std::string& bytes, const char* signature, int n) {
  size_t at = bytes.find(signature);
  while (n-- > 0) at = bytes.find(signature, at + 1);
  return at;
}
size_t local(const std::string& bytes, int n) {
  return record(bytes, "PK\3\4", n);
}
size_t directory(const std::string& bytes, int n) {
  return record(bytes, "PK\1\2", n);
}
size_t end_record(const std::string& bytes) { return bytes.size() - 22; }

TEST(Zip, Entries) {
  const std::string bytes = small_archive();
  const ZipReader zip = reader(bytes);
  ASSERT_EQ(zip.entries().size(), 3u);
  ASSERT_NE(zip.find("r/a"), nullptr);
  EXPECT_EQ(zip.text(*zip.find("r/a")), "first");
  EXPECT_EQ(zip.find("r/b")->bytes, 0u);
  EXPECT_EQ(zip.find("a"), nullptr);
}

// The others can be read.
TEST(Zip, ACompressedEntryIsRefusedWhenItIsRead) {
  std::string bytes = small_archive();
  put<uint16_t>(bytes, directory(bytes, 0) + 10, 8);
  put<uint32_t>(bytes, directory(bytes, 0) + 24, 500);  // Uncompressed.
  const ZipReader zip = reader(bytes);
  EXPECT_EQ(zip.text(*zip.find("r/c")), std::string(100, 'c'));
  EXPECT_EQ(zip.find("r/a")->bytes, 5u);
  try {
    zip.content(*zip.find("r/a"));
    FAIL() << "it was read";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("entry \"r/a\": method: expected a stored entry"));
  }
}

TEST(Zip, ACommentAtTheEnd) {
  std::string bytes = small_archive();
  put<uint16_t>(bytes, end_record(bytes) + 20, 9);
  bytes += "a comment";
  EXPECT_EQ(reader(bytes).entries().size(), 3u);
}

// The fields of 32 bits hold all ones and the record of 64 bits their values.
TEST(Zip, SizesOf64Bits) {
  std::string bytes = small_archive();
  const size_t start = directory(bytes, 0);
  std::string entries = bytes.substr(start, end_record(bytes) - start);
  const size_t last = directory(entries, 2);
  const uint64_t offset = local(bytes, 2);
  put<uint16_t>(entries, last + 30, 28);
  for (const size_t field : {20, 24, 42})
    put<uint32_t>(entries, last + field, 0xffffffff);
  std::string extra(28, '\0');
  put<uint16_t>(extra, 0, 1);
  put<uint16_t>(extra, 2, 24);
  put<uint64_t>(extra, 4, 100);
  put<uint64_t>(extra, 12, 100);
  put<uint64_t>(extra, 20, offset);
  entries += extra;
  std::string tail(56 + 20, '\0');
  std::memcpy(tail.data(), "PK\6\6", 4);
  put<uint64_t>(tail, 24, 3);
  put<uint64_t>(tail, 32, 3);
  put<uint64_t>(tail, 40, entries.size());
  put<uint64_t>(tail, 48, start);
  std::memcpy(tail.data() + 56, "PK\6\7", 4);
  put<uint64_t>(tail, 64, start + entries.size());
  put<uint32_t>(tail, 72, 1);
  std::string last_record = bytes.substr(end_record(bytes));
  put<uint32_t>(last_record, 12, 0xffffffff);
  put<uint32_t>(last_record, 16, 0xffffffff);
  const std::string whole =
      bytes.substr(0, start) + entries + tail + last_record;
  const ZipReader zip = reader(whole);
  ASSERT_NE(zip.find("r/c"), nullptr);
  EXPECT_EQ(zip.text(*zip.find("r/c")), std::string(100, 'c'));
  std::string wrong = whole;
  put<uint64_t>(wrong, start + entries.size() + 56 + 8, uint64_t{1} << 60);
  EXPECT_THAT(error_of(wrong), HasSubstr("no ZIP64 record"));
  wrong = whole;
  put<uint64_t>(wrong, start + entries.size() - 8, uint64_t{1} << 60);
  EXPECT_THAT(error_of(wrong), HasSubstr("entry \"r/c\": offset"));
  wrong = whole;
  put<uint64_t>(wrong, start + entries.size() + 32, uint64_t{1} << 40);
  EXPECT_THAT(error_of(wrong), HasSubstr("entries do not fit"));
}

TEST(Zip, Refused) {
  const std::string good = small_archive();
  const auto damaged = [&](auto edit) {
    std::string bytes = good;
    edit(bytes);
    return error_of(bytes);
  };
  EXPECT_THAT(error_of(""), HasSubstr("not a zip archive"));
  EXPECT_THAT(error_of("something else, of more than twenty-two bytes"),
              HasSubstr("not a zip archive"));
  EXPECT_THAT(damaged([](auto& b) { b.resize(b.size() - 10); }),
              HasSubstr("truncated"));
  EXPECT_THAT(damaged([](auto& b) { b.resize(b.size() / 2); }),
              HasSubstr("truncated"));
  EXPECT_THAT(
      damaged([](auto& b) { put<uint32_t>(b, end_record(b) + 16, 1 << 30); }),
      HasSubstr("directory: "));
  EXPECT_THAT(damaged([](auto& b) {
                put<uint16_t>(b, end_record(b) + 8, 60000);
                put<uint16_t>(b, end_record(b) + 10, 60000);
              }),
              HasSubstr("60000 entries do not fit"));
  EXPECT_THAT(damaged([](auto& b) { put<uint16_t>(b, end_record(b) + 4, 1); }),
              HasSubstr("several disks"));
  EXPECT_THAT(damaged([](auto& b) { b[directory(b, 1)] = 'X'; }),
              HasSubstr("entry 1 is damaged"));
  EXPECT_THAT(
      damaged([](auto& b) { put<uint16_t>(b, directory(b, 0) + 8, 1); }),
      HasSubstr("entry \"r/a\": flags: encrypted"));
  EXPECT_THAT(
      damaged([](auto& b) { put<uint32_t>(b, directory(b, 0) + 24, 4); }),
      HasSubstr("entry \"r/a\": sizes"));
  EXPECT_THAT(damaged([](auto& b) {
                for (const size_t field : {20, 24})
                  put<uint32_t>(b, directory(b, 2) + field, 0x7fffffff);
              }),
              HasSubstr("entry \"r/c\": size"));
  EXPECT_THAT(damaged([](auto& b) {
                for (const size_t field : {20, 24})
                  put<uint32_t>(b, directory(b, 0) + field, 40);
              }),
              HasSubstr("entry \"r/b\": offset: overlaps with \"r/a\""));
  EXPECT_THAT(
      damaged([](auto& b) { put<uint32_t>(b, directory(b, 1) + 42, 1); }),
      HasSubstr("entry \"r/b\": offset: no entry at 1"));
  EXPECT_THAT(damaged([](auto& b) { b[local(b, 0) + 30] = 'X'; }),
              HasSubstr("entry \"r/a\": name"));
  EXPECT_THAT(
      damaged([](auto& b) { put<uint16_t>(b, directory(b, 2) + 28, 60000); }),
      HasSubstr("directory: a name"));
}

// Changed bytes anywhere: an error, or entries that lie inside.
TEST(Zip, RandomDamage) {
  const std::string good = small_archive();
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    try {
      const ZipReader zip = reader(bytes);
      for (const io::ZipEntry& entry : zip.entries())
        ASSERT_LE(entry.offset + entry.bytes, bytes.size());
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5'000);
}

// The same for a whole program: an error, or a program.
TEST(Zip, RandomDamageOfAProgram) {
  const std::string good = read_bytes(model_path("images"));
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 1'500; ++i) {
    std::string bytes = good;
    for (int changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::string file = write_bytes("fuzz.pt2", bytes);
    try {
      pt2::load(file);
    } catch (const UserError&) {
      ++refused;
    } catch (const RuntimeError&) {
      ++refused;  // Of a graph that refers to what is not there.
    }
    std::filesystem::remove(file);
  }
  EXPECT_GT(refused, 500);
}

}  // namespace TEST_FILE
}  // namespace fxjit
