// Plain files of tensors with any bit flipped, and all their prefixes: an error
// of the user's, or the tensors that were written.
#include <gtest/gtest.h>

#include <cstring>

#include "fxjit/safetensors.h"
#include "tests/fx/archive_testing.h"
#include "tests/fx/fuzzing.h"

namespace fxjit::fx {
namespace TEST_FILE {

using namespace testing_archive;  // NOLINT: the names of this folder

// Of a few types, without elements, without dims.
NamedTensors tensors() {
  return {{"a", Tensor::from(std::vector<float>{1, -2, 3, 4, 5, 6}, {2, 3})},
          {"b.c", Tensor::full({3}, -7, DType::i64)},
          {"d", Tensor::zeros({0, 4}, DType::f16)},
          {"e", Tensor::full({}, 2.5, DType::bf16)},
          {"f", Tensor::full({5}, 1, DType::boolean)}};
}

class FuzzSafetensors : public ::testing::Test {
 protected:
  FuzzSafetensors() {
    save_safetensors(path_, tensors(), {{"who", "me"}});
    good_ = read_bytes(path_);
    written_ = load_safetensors(path_);
    uint64_t header = 0;
    std::memcpy(&header, good_.data(), sizeof(header));
    data_ = sizeof(header) + header;
  }

  // What a file of these bytes is read as; nothing after an error.
  std::optional<NamedTensors> read(const std::string& bytes) {
    std::filesystem::remove(path_);
    write_bytes(path_, bytes);
    FileMetadata metadata;
    try {
      return load_safetensors(path_, &metadata);
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos);
      return std::nullopt;
    }
  }

  // Names may differ, and elements where `bytes` do.
  void expect_same(const NamedTensors& got, const std::string& bytes) {
    ASSERT_EQ(got.size(), written_.size());
    const char* data = bytes.data() + data_;
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor &a = got[i].second, &b = written_[i].second;
      ASSERT_EQ(a.dtype(), b.dtype());
      ASSERT_EQ(a.numel(), b.numel());
      if (b.numel() > 0) {
        ASSERT_EQ(a.sizes(), b.sizes());
      }
      const size_t size =
          static_cast<size_t>(b.numel()) * dtype_size(b.dtype());
      ASSERT_TRUE(size == 0 || std::memcmp(a.data(), data, size) == 0);
      data += size;
    }
    ASSERT_EQ(data, bytes.data() + bytes.size());
  }

  const std::string path_ = folder() / "plain_fuzz.safetensors";
  std::string good_;
  NamedTensors written_;
  size_t data_ = 0;  // Where the header ends.
};

TEST_F(FuzzSafetensors, PrefixesAreRefused) {
  for (size_t size = 0; size < good_.size(); ++size)
    ASSERT_FALSE(read(good_.substr(0, size))) << size;
  EXPECT_FALSE(read(good_ + '\0'));
  EXPECT_TRUE(read(good_));
}

TEST_F(FuzzSafetensors, FlippedBits) {
  int whole = 0, refused = 0;
  for (size_t at = 0; at < good_.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE("byte " + std::to_string(at) + " bit " +
                   std::to_string(bit));
      std::string bytes = good_;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const auto got = read(bytes);
      if (!got) {
        ASSERT_LT(at, data_) << "elements have no check";
        ++refused;
        continue;
      }
      ++whole;
      expect_same(*got, bytes);
      if (HasFatalFailure()) return;
    }
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
}

// Several pieces of the header removed, changed, doubled or moved at a time;
// the length before it is that of the damaged one, so that all of it is read.
TEST_F(FuzzSafetensors, DamagedHeaders) {
  int whole = 0, refused = 0;
  fuzzing::run(3000, [&](fuzzing::Random& random) {
    const std::string header =
        fuzzing::damaged(good_.substr(8, data_ - 8), random);
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    const auto got = read(bytes + header + good_.substr(data_));
    ++(got ? whole : refused);
    if (!got) return;
    // Whatever the header says now, every element can be read.
    for (const auto& [name, tensor] : *got)
      EXPECT_EQ(tensor.to(DType::f64).contiguous().numel(), tensor.numel());
  });
  EXPECT_GT(whole, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
