// One node of the model while it is imported: its inputs, its attributes with
// their defaults, and the questions that ops ask about shapes and types. What
// is missing or malformed is a UserError that names node and field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/error.h"
#include "src/import/onnx/model.h"
#include "src/import/onnx/operand.h"
#include "src/import/onnx/recorder.h"

namespace fxjit::onnx {

class GraphReader;

// Thrown when an op asks for a shape or dtype that the model does not tell,
// with the examples that it is read with.
class UnknownShape : public UserError {
 public:
  using UserError::UserError;
};

// The sizes of a tensor. Asking for the size of a dim that does not exist
// throws a UserError about the file.
class SizeList : public std::vector<Value> {
 public:
  using std::vector<Value>::vector;

  const Value& operator[](size_t dim) const {
    if (dim >= size())
      throw UserError("[onnx] expected more than " + std::to_string(dim) +
                      " dims, got " + std::to_string(size()));
    return at(dim);
  }
};

class Call {
 public:
  Call(GraphReader& reader, const NodeInfo& node, std::string place,
       int64_t opset, std::vector<Operand> inputs);
  // The same node with other inputs.
  Call with_inputs(std::vector<Operand> inputs) const {
    return {reader_, node_, place_, opset_, std::move(inputs)};
  }

  GraphReader& reader() const { return reader_; }
  Recorder& recorder() const;
  const NodeInfo& node() const { return node_; }
  int64_t opset() const { return opset_; }  // The node's domain's.
  [[noreturn]] void fail(const std::string& what) const;

  // --- Inputs. ---
  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return node_.outputs.size(); }
  bool wants(size_t output) const;  // The output is there and has a name.
  bool has(size_t i) const;
  const std::vector<Operand>& operands() const { return inputs_; }
  const Operand& operand(size_t i) const;  // Fails for an absent one.
  // Input `i` as a tensor or a list of tensors. It fails if the input is
  // absent; `optional` then gives None.
  Value operator[](size_t i) const;
  Value optional(size_t i) const;
  ValueList all() const;

  // The dtype, rank and sizes of input `i`. They fail if the model does not
  // tell.
  DType dtype(size_t i) const;
  // See Operand: of an input, and of an element type that an attribute names.
  UnsignedBits unsigned_bits(size_t i) const {
    return has(i) ? inputs_[i].unsigned_bits : 0;
  }
  int rank(size_t i) const;
  SizeList sizes(size_t i) const;
  Value size(size_t i, int64_t dim) const;
  // The number of elements of an input with one dim. Fails if it varies from
  // call to call.
  int64_t length(size_t i) const;

  // The elements of an input of integers: numbers if they are known, else
  // proxies.
  std::vector<Value> ints(size_t i) const;
  Value scalar_int(size_t i) const;
  // The elements of an input, if they are known when the model is loaded. None
  // if they are not, or if the input is absent.
  std::optional<std::vector<int64_t>> known_ints(size_t i) const;
  std::optional<std::vector<double>> known_floats(size_t i) const;
  // The only element of an input, as above. Fails if there is not exactly one.
  std::optional<int64_t> known_int(size_t i) const;
  std::optional<double> known_float(size_t i) const;
  // The only element of an input, as a number or a proxy of a number.
  Value scalar(size_t i) const;

  // --- Attributes. ---
  bool has_attribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  int64_t integer(std::string_view name) const;  // Fails without one.
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<double>> reals(std::string_view name) const;
  std::vector<std::string_view> texts(std::string_view name) const;
  std::optional<Tensor> tensor(std::string_view name) const;
  // The elements of a tensor of strings; None where there is none.
  std::optional<std::vector<std::string_view>> tensor_texts(
      std::string_view name) const;
  GraphInfo graph(std::string_view name) const;
  bool flag(std::string_view name, bool otherwise) const {
    return integer(name, otherwise ? 1 : 0) != 0;
  }

  // --- Values. ---
  DType dtype_of(const Value& tensor) const;
  int rank_of(const Value& tensor) const;
  SizeList sizes_of(const Value& tensor) const;
  Value tensor_of(const Operand& operand) const;
  // `dim`, which may count from the end, counted from the front of a tensor of
  // this rank. Fails if there is no such dim.
  int64_t wrap(int64_t dim, int64_t rank) const;
  // The number in a tensor of one element: known, or a proxy. `example` stands
  // for numbers of data, in which sizes that are made of them vary.
  Value item_of(const Value& tensor, int64_t example = 1) const;

 private:
  const AttributeInfo* find(std::string_view name, int64_t type) const;
  const Tensor& shape_of(const Value& tensor) const;

  GraphReader& reader_;
  const NodeInfo& node_;
  std::string place_;
  int64_t opset_;
  std::vector<Operand> inputs_;
};

// torch's argument for a list of numbers or proxies: a list.
template <typename T>
Value list_of(const std::vector<T>& items) {
  return Value::list(ValueList(items.begin(), items.end()));
}

}  // namespace fxjit::onnx
