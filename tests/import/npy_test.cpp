// NumPy's files of one tensor.
#include "src/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "fxjit/error.h"
#include "tests/import/edited_archive.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using ::testing::HasSubstr;

// As numpy.save writes arrays.
std::string npy(const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    io::read_npy(bytes, "file.npy");
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was read";
}

const std::string kSix = "\1\2\3\4\5\6";
constexpr const char* kBytes =
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(Npy, RowsAndColumns) {
  const Tensor rows = io::read_npy(npy(kBytes, kSix), "file.npy");
  EXPECT_EQ(rows.sizes(), Dims({2, 3}));
  EXPECT_EQ(rows.at({0, 1}), 2);
  const Tensor columns = io::read_npy(
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", kSix),
      "file.npy");
  EXPECT_EQ(columns.at({0, 1}), 3);
  EXPECT_EQ(columns.at({1, 2}), 6);
  EXPECT_TRUE(columns.is_contiguous());
}

TEST(Npy, WhatIsWrittenIsRead) {
  const std::string file = ::testing::TempDir() + "tensor.npy";
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::i8, DType::u8, DType::i16,
        DType::i32, DType::i64, DType::boolean})
    for (const Dims& sizes :
         {Dims(), Dims({3}), Dims({2, 0}), Dims({2, 3, 4})}) {
      const Tensor tensor = Tensor::full(sizes, 1, dtype);
      io::save_npy(file, tensor);
      const Tensor read = io::load_npy(file);
      EXPECT_EQ(read.describe(), tensor.describe());
      EXPECT_EQ(read.to(DType::f32).to_floats(),
                tensor.to(DType::f32).to_floats());
    }
  for (const DType dtype : {DType::c64, DType::c128}) {
    const Tensor tensor = Tensor::full({2, 3}, 3, dtype);
    Tensor::view(tensor.storage(), {6}, part_type(dtype), {2}, 1)
        .copy_from(Tensor::full({}, 5));
    io::save_npy(file, tensor);
    const Tensor read = io::load_npy(file);
    EXPECT_EQ(read.describe(), tensor.describe());
    EXPECT_EQ(std::memcmp(read.data(), tensor.data(), tensor.storage()->bytes()),
              0);
  }
  io::save_npy(file, Tensor::full({2}, 3, DType::bf16));
  EXPECT_EQ(io::load_npy(file).dtype(), DType::f32);
  std::filesystem::remove(file);
}

TEST(Npy, Refused) {
  const std::string good = npy(kBytes, kSix);
  EXPECT_THAT(error_of(""), HasSubstr("file.npy: not a .npy file"));
  EXPECT_THAT(error_of("PK"), HasSubstr("not a .npy file"));
  EXPECT_THAT(error_of(good.substr(0, 30)), HasSubstr("header: longer"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)),
              HasSubstr("does not match 5 bytes"));
  EXPECT_THAT(error_of(good + "x"), HasSubstr("does not match 7 bytes"));
  std::string version = good;
  version[6] = 9;
  EXPECT_THAT(error_of(version), HasSubstr("version 9"));
  const auto header = [](const std::string& type, const std::string& shape) {
    return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                   shape + "), }",
               "");
  };
  EXPECT_THAT(error_of(header(">f4", "2,")), HasSubstr("descr: type >f4"));
  EXPECT_THAT(error_of(header("|O", "2,")), HasSubstr("descr: type |O"));
  EXPECT_THAT(error_of(header("<f4", "-2,")), HasSubstr("shape"));
  EXPECT_THAT(error_of(header("<f4", "9999999999, 9999999999")),
              HasSubstr("does not match"));
  EXPECT_THAT(error_of(header("<f4", "1,1,1,1,1,1,1,1,1")),
              HasSubstr("at most 8"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4'}", "")),
              HasSubstr("expected descr"));
  EXPECT_THAT(error_of(npy("[1]", "")), HasSubstr("expected {"));
}

TEST(Npy, RandomDamage) {
  const std::string good = npy(kBytes, kSix);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int changes = 1 + random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    try {
      EXPECT_LE(io::read_npy(bytes, "file.npy").numel(), 6);
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10'000);
}

}  // namespace TEST_FILE
}  // namespace fxjit
