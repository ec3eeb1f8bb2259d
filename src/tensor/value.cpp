#include "fxjit/value.h"

#include <algorithm>

#include "fxjit/proxy_base.h"
#include "src/tensor/concat.h"
#include "src/tensor/value_payloads.h"

namespace fxjit {
namespace {

using Kind = Value::Kind;

[[noreturn]] void throw_kind(const char* expected, const Value& value) {
  throw TypeError(concat(
      "value: expected ", expected, ", got ", value.kind_name(),
      value.is_proxy() ? ", whose value is not known while tracing" : ""));
}

}  // namespace

Value::Value(std::string_view v)
    : Value(Kind::string, new StringPayload(std::string(v))) {}
Value::Value(const Tensor& v) : Value() {
  if (v.defined()) *this = Value(Kind::tensor, new TensorPayload(v));
}
Value::Value(ValueList v) : Value() {
  const int nesting = nesting_around(v);
  *this = Value(Kind::list, new SequencePayload(std::move(v), nesting));
}
Value::Value(const Dims& v) : Value(ValueList(v.begin(), v.end())) {}
Value::Value(fx::NodePtr node) : Value() {
  if (!node) return;
  kind_ = Kind::node;
  word_.node = node.get();
}

int Value::nesting() const {
  const bool container = kind_ == Kind::list || kind_ == Kind::tuple ||
                         kind_ == Kind::dict || kind_ == Kind::slice;
  return container
             ? static_cast<const ContainerPayload*>(word_.payload)->nesting
             : 0;
}

// Refuses here what the walks over values could not get through.
int Value::nesting_around(std::span<const Value> items) {
  int nesting = 0;
  for (const Value& item : items) nesting = std::max(nesting, item.nesting());
  if (nesting >= kMaxNesting)
    throw RuntimeError(
        "maximum recursion depth exceeded: expected values nested at most " +
        std::to_string(kMaxNesting) + " deep");
  return nesting + 1;
}

Value Value::tuple(ValueList items) {
  const int nesting = nesting_around(items);
  return Value(Kind::tuple, new SequencePayload(std::move(items), nesting));
}

Value Value::dict(ValueDict items) {
  int nesting = 1;
  for (const auto& [key, item] : items)
    nesting = std::max(
        {nesting, nesting_around({&key, 1}), nesting_around({&item, 1})});
  return Value(Kind::dict, new DictPayload(std::move(items), nesting));
}

Value Value::slice(Value start, Value stop, Value step) {
  const int nesting =
      std::max({nesting_around({&start, 1}), nesting_around({&stop, 1}),
                nesting_around({&step, 1})});
  return Value(Kind::slice, new SlicePayload(std::move(start), std::move(stop),
                                             std::move(step), nesting));
}

Value Value::range(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) throw ValueError("range() arg 3 must not be zero");
  return Value(Kind::range, new RangePayload({start, stop, step}));
}

Value Value::proxy(fx::ProxyBase* payload) {
  if (!payload) throw TypeError("value: expected a proxy, got null");
  return Value(Kind::proxy, payload);
}

Value Value::opaque(Counted* payload) {
  if (!payload) throw TypeError("value: expected an object, got null");
  return Value(Kind::opaque, payload);
}

bool Value::as_bool() const {
  if (!is_bool()) throw_kind("bool", *this);
  return word_.integer != 0;
}

int64_t Value::as_int() const {
  if (!is_int() && !is_bool()) throw_kind("int", *this);
  return is_named_size() ? int64_t{as_size()} : word_.integer;
}

Size Value::as_size() const {
  if (is_named_size()) return Size::from_word(word_.integer);
  return as_int();
}

double Value::as_double() const {
  if (is_float()) return word_.floating;
  if (!is_int() && !is_bool()) throw_kind("a number", *this);
  return static_cast<double>(as_int());
}

std::string_view Value::as_string() const {
  if (!is_string()) throw_kind("str", *this);
  return static_cast<const StringPayload*>(word_.payload)->text;
}

DType Value::as_dtype() const {
  if (!is_dtype()) throw_kind("torch.dtype", *this);
  return static_cast<DType>(word_.integer);
}

const Tensor& Value::as_tensor() const {
  if (!is_tensor()) throw_kind("Tensor", *this);
  return static_cast<const TensorPayload*>(word_.payload)->tensor;
}

const ValueList& Value::as_sequence() const {
  if (!is_sequence()) throw_kind("list or tuple", *this);
  return static_cast<const SequencePayload*>(word_.payload)->items;
}

const ValueDict& Value::as_dict() const {
  if (!is_dict()) throw_kind("dict", *this);
  return static_cast<const DictPayload*>(word_.payload)->items;
}

fx::NodePtr Value::as_node() const {
  if (!is_node()) throw_kind("Node", *this);
  return word_.node;
}

fx::ProxyBase* Value::as_proxy() const {
  if (!is_proxy()) throw_kind("Proxy", *this);
  return static_cast<fx::ProxyBase*>(word_.payload);
}

Counted* Value::as_opaque() const {
  if (!is_opaque()) throw_kind("an opaque object", *this);
  return word_.payload;
}

Value::SliceView Value::as_slice() const {
  if (!is_slice()) throw_kind("slice", *this);
  const auto& slice = *static_cast<const SlicePayload*>(word_.payload);
  return {slice.start, slice.stop, slice.step};
}

Value::RangeView Value::as_range() const {
  if (!is_range()) throw_kind("range", *this);
  return static_cast<const RangePayload*>(word_.payload)->range;
}

Dims Value::as_dims() const {
  if (is_int()) return Dims{as_size()};
  if (!is_sequence()) throw_kind("a list of int", *this);
  Dims dims;
  for (const Value& item : as_sequence()) dims.push_back(item.as_size());
  return dims;
}

const Value& Value::at(size_t i) const {
  const ValueList& items = as_sequence();
  if (i >= items.size())
    throw IndexError(std::string(kind_name()) + " index out of range");
  return items[i];
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, item] : as_dict())
    if (name.is_string() && name.as_string() == key) return &item;
  return nullptr;
}

size_t Value::size() const {
  if (is_sequence()) return as_sequence().size();
  if (is_dict()) return as_dict().size();
  if (is_string()) return as_string().size();
  throw TypeError(concat("object of type '", kind_name(), "' has no len()"));
}

Value::operator bool() const {
  switch (kind_) {
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return is_named_size() ? as_size() != 0 : word_.integer != 0;
    case Kind::floating:
      return word_.floating != 0;
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
      return size() != 0;
    case Kind::tensor:
      if (as_tensor().numel() > 1)
        throw RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous");
      if (as_tensor().numel() == 0)
        throw RuntimeError(
            "Boolean value of Tensor with no values is ambiguous");
      return as_tensor().item() != 0;
    case Kind::range: {
      const RangeView r = as_range();
      return r.step > 0 ? r.start < r.stop : r.start > r.stop;
    }
    case Kind::proxy:
      return as_proxy()->to_bool({});
    case Kind::dtype:
    case Kind::ellipsis:
    case Kind::node:
    case Kind::slice:
    case Kind::opaque:
      return true;
  }
  return true;
}

std::string_view Value::kind_name() const {
  // In the order of Kind.
  constexpr std::string_view kNames[] = {
      "NoneType", "bool", "int",   "float", "torch.dtype", "ellipsis",
      "Node",     "str",  "slice", "range", "Tensor",      "list",
      "tuple",    "dict", "Proxy", "object"};
  static_assert(std::size(kNames) == static_cast<size_t>(Kind::opaque) + 1);
  return kNames[static_cast<size_t>(kind_)];
}

}  // namespace fxjit
