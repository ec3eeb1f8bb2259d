// Tensors of ONNX files: element types, and the elements wherever the format
// lets them stand: raw bytes, lists of numbers, other files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "fxjit/carried_type.h"
#include "fxjit/tensor.h"
#include "src/import/onnx/model.h"

namespace fxjit::onnx {

// Nothing for the types that the library does not have.
std::optional<DType> find_dtype(int64_t element_type);
// Which of these `find_dtype` gives another type, that carries them.
CarriedType carried_type_of(int64_t element_type);
// 16, 32 and 64 for the types without a sign that `find_dtype` gives a wider
// type with one; 0 for all others.
int unsigned_bits_of(int64_t element_type);
// By name, as the first opsets write it ("FLOAT"). Nothing for unknown ones.
std::optional<int64_t> element_type_of(std::string_view name);
// "FLOAT8E4M3FN"; the number where there is no such type.
std::string element_type_name(int64_t element_type);

// UserError that names the tensor.
[[noreturn]] void fail(const TensorInfo& info, const std::string& what);

// The elements that stand as lists of numbers, in float_data, int32_data and
// their kin, as a tensor with memory of its own. UserError where the list is
// not the one for the type, or has another number of elements than `dims` say;
// nothing is allocated before that is known.
Tensor read_typed_data(const TensorInfo& info, const Dims& dims, DType dtype);

// A mapped ONNX file, and those beside it that hold its external data.
class TensorFile {
 public:
  // UserError for a file that cannot be mapped.
  explicit TensorFile(const std::string& path);

  const std::string& path() const { return path_; }
  Bytes bytes() const { return {storage_->data(), storage_->bytes()}; }

  // Elements that lie in a file stay there: a tensor over the mapping where
  // they are aligned, one whose bytes are copied when they are asked for where
  // not. Numbers in lists are copied. UserError naming the tensor: another
  // type, a size that does not fit its elements, an external file outside of
  // the model's folder, missing or too short.
  Tensor read(const TensorInfo& info);

 private:
  struct Extent {
    std::shared_ptr<Storage> storage;
    size_t offset = 0, bytes = 0;
  };

  Extent external(const TensorInfo& info);
  std::shared_ptr<Storage> open_beside(const std::string& location);

  std::string path_;
  std::shared_ptr<Storage> storage_;
  std::unordered_map<std::string, std::shared_ptr<Storage>> beside_;
};

}  // namespace fxjit::onnx
