#include "src/io/npy.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <span>

#include "fxjit/error.h"
#include "src/support/disk/atomic_file.h"
#include "src/support/disk/mapped_file.h"

namespace fxjit::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

// `dtype`: of the tensor that holds an array's bytes.
struct TypeName {
  DType dtype;
  std::string_view name;
  CarriedType carried = CarriedType::none;
};
constexpr TypeName kTypes[] = {{DType::f32, "<f4"},
                               {DType::f64, "<f8"},
                               {DType::f16, "<f2"},
                               {DType::i8, "|i1"},
                               {DType::u8, "|u1"},
                               {DType::i16, "<i2"},
                               {DType::i32, "<i4"},
                               {DType::i64, "<i8"},
                               {DType::boolean, "|b1"},
                               {DType::c64, "<c8"},
                               {DType::c128, "<c16"},
                               {DType::i16, "<u2", CarriedType::u16},
                               {DType::i32, "<u4", CarriedType::u32},
                               {DType::i64, "<u8", CarriedType::u64}};

// Types of NumPy's extensions alone.
bool is_lacking(DType dtype) {
  return dtype == DType::bf16 || is_float8(dtype);
}

// The header is the text of a Python dict of three known keys.
class Header {
 public:
  Header(std::string_view text, const std::string& path)
      : text_(text), path_(path) {
    expect("{");
    while (!take("}")) {
      read_entry();
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail("header: text behind its end");
    if (!dtype || !fortran_order || !sizes)
      fail("header: expected descr, fortran_order and shape");
  }

  std::optional<DType> dtype;
  CarriedType carried = CarriedType::none;
  std::optional<bool> fortran_order;
  std::optional<Dims> sizes;

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError("[npy] " + path_ + ": " + what);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail("header: expected " + std::string(token));
  }
  std::string_view quoted() {
    const char quote = take("'") ? '\'' : '"';
    if (quote == '"') expect("\"");
    const size_t end = text_.find(quote, at_);
    if (end == text_.npos) fail("header: a text without an end");
    const std::string_view text = text_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  void read_entry() {
    const std::string_view key = quoted();
    expect(":");
    if (key == "descr" && !dtype)
      read_type();
    else if (key == "fortran_order" && !fortran_order)
      fortran_order = read_flag();
    else if (key == "shape" && !sizes)
      read_shape();
    else
      fail("header: unknown or repeated " + std::string(key.substr(0, 40)));
  }

  void read_type() {
    const std::string_view name = quoted();
    for (const TypeName& type : kTypes)
      if (type.name == name ||
          (type.name[0] == '|' && name.size() == 3 && name[0] == '<' &&
           type.name.substr(1) == name.substr(1))) {
        dtype = type.dtype;
        carried = type.carried;
      }
    if (!dtype)
      fail("descr: type " + std::string(name.substr(0, 40)) +
           " is not supported");
  }
  bool read_flag() {
    if (take("True")) return true;
    expect("False");
    return false;
  }
  void read_shape() {
    expect("(");
    Dims read;
    while (!take(")")) {
      if (read.size() == kMaxRank)
        fail("shape: expected at most " + std::to_string(kMaxRank) + " dims");
      read.push_back(number());
      if (!take(",")) {
        expect(")");
        break;
      }
    }
    sizes = read;
  }
  int64_t number() {
    skip_blanks();
    int64_t value = 0;
    const auto [stop, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0)
      fail("shape: expected sizes of 0 or more");
    at_ = static_cast<size_t>(stop - text_.data());
    return value;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

Dims column_strides(const Dims& sizes) {
  Dims strides = sizes;
  int64_t stride = 1;
  for (int d = 0; d < sizes.size(); ++d) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return strides;
}

template <typename T>
size_t little_endian(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

}  // namespace

Tensor read_npy(std::string_view content, const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw UserError("[npy] " + path + ": " + what);
  };
  const size_t fixed = kMagic.size() + 2;
  if (!content.starts_with(kMagic) || content.size() < fixed + 4)
    fail("not a .npy file, or truncated");
  const int version = static_cast<unsigned char>(content[kMagic.size()]);
  if (version < 1 || version > 3)
    fail("version " + std::to_string(version) + " is not supported");
  const size_t width = version == 1 ? 2 : 4;
  const std::string_view length_bytes = content.substr(fixed);
  const size_t length = version == 1 ? little_endian<uint16_t>(length_bytes)
                                     : little_endian<uint32_t>(length_bytes);
  const size_t start = fixed + width;
  if (length > content.size() - start) fail("header: longer than the file");
  const Header header(content.substr(start, length), path);
  const std::string_view data = content.substr(start + length);
  const auto item = static_cast<int64_t>(dtype_size(*header.dtype));
  int64_t bytes = item;
  bool beyond = false;
  for (const int64_t size : *header.sizes)
    beyond = __builtin_mul_overflow(bytes, size, &bytes) || beyond;
  if (beyond || static_cast<uint64_t>(bytes) != data.size())
    fail("shape " + header.sizes->str() + " of " +
         std::string(dtype_name(*header.dtype)) + " does not match " +
         std::to_string(data.size()) + " bytes of data");
  Tensor tensor = Tensor::empty(*header.sizes, *header.dtype);
  if (bytes > 0) std::memcpy(tensor.data(), data.data(), data.size());
  if (*header.fortran_order && bytes > 0)
    tensor = tensor
                 .as_strided(*header.sizes, column_strides(*header.sizes),
                             tensor.offset())
                 .contiguous();
  return header.carried == CarriedType::none ? tensor
                                             : carried(tensor, header.carried);
}

Tensor load_npy(const std::string& path) {
  const support::MappedFile file(path);
  const auto bytes = file.bytes();
  return read_npy({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                  path);
}

void save_npy(const std::string& path, const Tensor& tensor,
              CarriedType carried) {
  const Tensor plain = (carried != CarriedType::none ? bits_of(tensor, carried)
                        : is_lacking(tensor.dtype()) ? tensor.to(DType::f32)
                                                     : tensor)
                           .contiguous();
  std::string shape;
  for (const int64_t size : plain.sizes())
    shape += std::to_string(size) + (plain.dim() == 1 ? "," : ", ");
  if (plain.dim() > 1) shape.resize(shape.size() - 2);
  std::string_view name;
  for (const TypeName& type : kTypes)
    if (type.dtype == plain.dtype() && type.carried == carried)
      name = type.name;
  if (name.empty())
    throw UserError("[npy] " + path + ": " +
                    std::string(dtype_name(plain.dtype())) +
                    " has no counterpart in NumPy");
  std::string header = "{'descr': '" + std::string(name) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t before = kMagic.size() + 4;
  header.append(
      (kAlignment - (before + header.size() + 1) % kAlignment) % kAlignment,
      ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string start(kMagic);
  start += '\1';
  start += '\0';
  start.append(reinterpret_cast<const char*>(&length), sizeof(length));
  support::AtomicFile file(path);
  start += header;
  file.write(std::as_bytes(std::span(start)));
  file.write({static_cast<const std::byte*>(plain.data()),
              static_cast<size_t>(plain.numel()) * plain.item_size()});
  file.commit();
}

}  // namespace fxjit::io
