#include "tests/onnx/stored_values.h"

#include <algorithm>
#include <filesystem>

#include "fxjit/functions.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::testing_onnx {
namespace {

using onnx::Bytes;
using onnx::WireField;

// SequenceProto and OptionalProto have the same numbers: tensors, sequences and
// optionals that are held stand in fields of their own.
constexpr uint32_t kTensors = 3, kSequences = 5, kOptionals = 7;

Value read_value(onnx::TensorFile& file, Bytes bytes,
                 const onnx::TypeInfo& type) {
  using Kind = onnx::TypeInfo::Kind;
  if (type.kind == Kind::tensor || type.element.empty())
    return file.read(onnx::read_tensor_info(bytes));
  ValueList values;
  onnx::WireReader reader(bytes);
  WireField field;
  while (reader.next(field))
    if (field.number == kTensors || field.number == kSequences ||
        field.number == kOptionals)
      values.push_back(read_value(file, field.message(), type.element[0]));
  if (type.kind == Kind::sequence) return Value::list(std::move(values));
  return values.empty() ? Value() : values[0];
}

}  // namespace

Value read_stored_value(const std::string& path, const onnx::TypeInfo& type) {
  if (std::filesystem::file_size(path) == 0) return {};
  onnx::TensorFile file(path);
  return read_value(file, file.bytes(), type);
}

Tensor read_stored_places(const std::string& path,
                          const std::vector<std::string>& texts) {
  onnx::TensorFile file(path);
  const onnx::TensorInfo info = onnx::read_tensor_info(file.bytes());
  Dims sizes;
  for (const int64_t size : info.dims) sizes.push_back(size);
  std::vector<int64_t> places;
  for (const std::string_view text : info.strings) {
    const auto found = std::ranges::find(texts, text);
    places.push_back(found == texts.end() ? -1 : found - texts.begin());
  }
  return Tensor::from(places, sizes);
}

Tensor parts_of(const Tensor& complex) {
  return function("torch.view_as_real", {complex}).as_tensor();
}

}  // namespace fxjit::testing_onnx
