#include "src/import/onnx/call.h"

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"
#include "src/import/onnx/graph_reader.h"
#include "src/import/onnx/texts.h"

namespace fxjit::onnx {
namespace {

// Longer lists are no shapes.
constexpr int64_t kMostNumbers = 1024;

}  // namespace

Call::Call(GraphReader& reader, const NodeInfo& node, std::string place,
           int64_t opset, std::vector<Operand> inputs)
    : reader_(reader),
      node_(node),
      place_(std::move(place)),
      opset_(opset),
      inputs_(std::move(inputs)) {}

Recorder& Call::recorder() const { return reader_.recorder(); }

void Call::fail(const std::string& what) const {
  ErrorContext context;
  context.op = std::string(node_.op);
  context.node = std::string(node_.name);
  throw UserError("[onnx] " + place_ + ": " + what, std::move(context));
}

bool Call::wants(size_t output) const {
  return output < node_.outputs.size() && !node_.outputs[output].empty();
}

bool Call::has(size_t i) const {
  return i < inputs_.size() && !inputs_[i].absent();
}

const Operand& Call::operand(size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is missing");
  return inputs_[i];
}

Value Call::tensor_of(const Operand& operand) const {
  if (!operand.value.is_none()) return operand.value;
  if (operand.grown)
    fail(
        "a sequence or tensor that a loop makes longer can only be appended to "
        "inside of the loop; a sequence can be measured, indexed and put "
        "together behind it");
  const Numbers& numbers = *operand.numbers;
  bool known = true;
  for (const Value& item : numbers.items) known = known && !item.is_proxy();
  const Value data =
      numbers.scalar ? numbers.items.at(0) : list_of(numbers.items);
  if (known) {
    std::vector<int64_t> values;
    for (const Value& item : numbers.items) values.push_back(item.as_int());
    const Dims sizes =
        numbers.scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())};
    return recorder().constant(Tensor::from(values, sizes).to(numbers.dtype));
  }
  return function("torch.tensor", {data}, {{"dtype", numbers.dtype}});
}

Value Call::operator[](size_t i) const { return tensor_of(operand(i)); }

Value Call::optional(size_t i) const { return has(i) ? (*this)[i] : Value(); }

ValueList Call::all() const {
  ValueList values;
  for (size_t i = 0; i < inputs_.size(); ++i) values.push_back((*this)[i]);
  return values;
}

const Tensor& Call::shape_of(const Value& tensor) const {
  const Value* found = &tensor;
  if (tensor.is_tensor()) return tensor.as_tensor();
  static thread_local Value example;
  example = Recorder::example(*found);
  if (!example.is_tensor())
    throw UnknownShape(
        "[onnx] " + place_ +
        ": the shape of one of its inputs is not known: the model declares "
        "none and it does not follow from those of the model's inputs");
  return example.as_tensor();
}

DType Call::dtype_of(const Value& tensor) const {
  return shape_of(tensor).dtype();
}

int Call::rank_of(const Value& tensor) const { return shape_of(tensor).dim(); }

SizeList Call::sizes_of(const Value& tensor) const {
  SizeList sizes;
  const int rank = rank_of(tensor);
  for (int d = 0; d < rank; ++d)
    sizes.push_back(tensor.is_tensor() ? Value(tensor.as_tensor().size(d))
                                       : recorder().size(tensor, d));
  return sizes;
}

DType Call::dtype(size_t i) const {
  const Operand& one = operand(i);
  return one.value.is_none() ? one.numbers->dtype : dtype_of(one.value);
}

int Call::rank(size_t i) const {
  const Operand& one = operand(i);
  if (one.value.is_none()) return one.numbers->scalar ? 0 : 1;
  return rank_of(one.value);
}

SizeList Call::sizes(size_t i) const {
  const Operand& one = operand(i);
  if (!one.value.is_none()) return sizes_of(one.value);
  if (one.numbers->scalar) return {};
  return {Value(one.numbers->items.size())};
}

Value Call::size(size_t i, int64_t dim) const {
  const SizeList all = sizes(i);
  return all[static_cast<size_t>(wrap(dim, static_cast<int64_t>(all.size())))];
}

int64_t Call::length(size_t i) const {
  const SizeList all = sizes(i);
  if (all.empty()) return 1;
  if (all.size() != 1)
    fail("input " + std::to_string(i) + ": expected one dim, got " +
         std::to_string(all.size()));
  if (!all[0].is_int())
    fail("input " + std::to_string(i) +
         ": its length varies from call to call");
  return all[0].as_int();
}

std::vector<Value> Call::ints(size_t i) const {
  const Operand& one = operand(i);
  if (one.numbers) return one.numbers->items;
  if (const auto known = known_ints(i)) return {known->begin(), known->end()};
  const int64_t count = length(i);
  if (count > kMostNumbers)
    fail("input " + std::to_string(i) + ": expected at most " +
         std::to_string(kMostNumbers) + " elements, got " +
         std::to_string(count));
  std::vector<Value> items;
  const bool in_line = rank(i) > 0;
  for (int64_t k = 0; k < count; ++k)
    items.push_back(recorder().element(one.value, k, [&] {
      return item_of(in_line ? function("torch.ops.aten.select.int",
                                        {one.value, 0, k})
                             : one.value);
    }));
  return items;
}

std::optional<std::vector<int64_t>> Call::known_ints(size_t i) const {
  if (!has(i)) return std::nullopt;
  const Operand& one = inputs_[i];
  if (!one.value.is_none()) {
    const Tensor* const tensor = recorder().constant_of(one.value);
    if (!tensor) return std::nullopt;
    if (tensor->numel() > (1 << 16))
      fail("input " + std::to_string(i) + ": " +
           std::to_string(tensor->numel()) + " numbers");
    return tensor->to_ints();
  }
  std::vector<int64_t> known;
  for (const Value& item : one.numbers->items) {
    if (!item.is_number()) return std::nullopt;
    known.push_back(item.as_int());
  }
  return known;
}

std::optional<std::vector<double>> Call::known_floats(size_t i) const {
  if (!has(i)) return std::nullopt;
  const Value value = (*this)[i];  // Keeps the tensor.
  const Tensor* const tensor = recorder().constant_of(value);
  if (!tensor || tensor->numel() > kMostNumbers) return std::nullopt;
  const Tensor wide = tensor->to(DType::f64).contiguous();
  return std::vector<double>(wide.data_as<double>(),
                             wide.data_as<double>() + wide.numel());
}

namespace {

template <typename T>
std::optional<T> only_one(const Call& call, size_t i,
                          const std::optional<std::vector<T>>& known) {
  if (!known) return std::nullopt;
  if (known->size() != 1)
    call.fail("input " + std::to_string(i) + ": expected one element, got " +
              std::to_string(known->size()));
  return known->front();
}

}  // namespace

Value Call::scalar_int(size_t i) const {
  return *only_one<Value>(*this, i, ints(i));
}

std::optional<int64_t> Call::known_int(size_t i) const {
  return only_one(*this, i, known_ints(i));
}

std::optional<double> Call::known_float(size_t i) const {
  return only_one(*this, i, known_floats(i));
}

Value Call::scalar(size_t i) const {
  const Operand& one = operand(i);
  if (one.numbers && one.numbers->items.size() == 1)
    return one.numbers->items[0];
  return recorder().element((*this)[i], 0, [&] { return item_of((*this)[i]); });
}

Value Call::item_of(const Value& tensor, int64_t example) const {
  constexpr const char* kItem = "torch.ops.aten.item.default";
  const Value known = Recorder::example(tensor);
  if (known.is_tensor() && !known.as_tensor().is_meta())
    return function(kItem, {tensor});
  const bool real =
      known.is_tensor() && is_floating(known.as_tensor().dtype());
  return recorder().record_data_sized(
      kItem, {tensor},
      real ? Value(static_cast<double>(example)) : Value(example));
}

int64_t Call::wrap(int64_t dim, int64_t rank) const {
  if (dim < -rank || dim >= std::max<int64_t>(rank, 1))
    fail("axis " + std::to_string(dim) + " is not one of " +
         std::to_string(rank) + " dims");
  return dim < 0 ? dim + rank : dim;
}

const AttributeInfo* Call::find(std::string_view name, int64_t type) const {
  const AttributeInfo* const found = node_.find(name);
  if (!found) return nullptr;
  // Files of the first versions of ONNX state no types.
  if (found->type != AttributeInfo::kUndefined && found->type != type)
    fail("attribute " + std::string(name) + ": expected type " +
         std::to_string(type) + ", got " + std::to_string(found->type));
  return found;
}

bool Call::has_attribute(std::string_view name) const {
  return node_.find(name) != nullptr;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kInt);
  return found ? found->integer : otherwise;
}

int64_t Call::integer(std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kInt);
  if (!found) fail("attribute " + std::string(name) + " is missing");
  return found->integer;
}

double Call::real(std::string_view name, double otherwise) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kFloat);
  return found ? found->real : otherwise;
}

std::string Call::text(std::string_view name,
                       std::string_view otherwise) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kString);
  return std::string(found ? found->text : otherwise);
}

std::optional<std::vector<int64_t>> Call::integers(
    std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kInts);
  if (!found) return std::nullopt;
  return found->integers;
}

std::optional<std::vector<double>> Call::reals(std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kFloats);
  if (!found) return std::nullopt;
  return std::vector<double>(found->reals.begin(), found->reals.end());
}

std::vector<std::string_view> Call::texts(std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kStrings);
  if (!found) return {};
  return found->texts;
}

std::optional<Tensor> Call::tensor(std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kTensor);
  if (!found || !found->tensor) return std::nullopt;
  return reader_.file().read(read_tensor_info(*found->tensor));
}

std::optional<std::vector<std::string_view>> Call::tensor_texts(
    std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kTensor);
  if (!found || !found->tensor) return std::nullopt;
  const TensorInfo info = read_tensor_info(*found->tensor);
  if (info.data_type != kStringType) return std::nullopt;
  return info.strings;
}

GraphInfo Call::graph(std::string_view name) const {
  const AttributeInfo* const found = find(name, AttributeInfo::kGraph);
  if (!found || !found->graph)
    fail("attribute " + std::string(name) + " is missing");
  return read_graph(*found->graph);
}

}  // namespace fxjit::onnx
