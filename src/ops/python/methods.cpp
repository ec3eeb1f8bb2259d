#include "src/ops/python/methods.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/ops/python/compare.h"
#include "src/ops/python/items.h"
#include "src/ops/python/operators.h"
#include "src/ops/table/number_range.h"
#include "src/ops/table/written_memory.h"
#include "src/tensor/dtype_words.h"
#include "src/tensor/value_dict.h"

namespace fxjit::ops {
namespace {

using Arguments = std::span<const Value>;

Value operate(const char* name, const Value& a, const Value& b) {
  return call_function(get_function(name), {a, b});
}

// --- self[index] = value ---

Tensor assigned(const Value& value, DType to) {
  if (value.is_tensor()) return value.as_tensor();
  if (value.is_int() || value.is_float())
    check_number(value, to, Conversion::computed);
  if (value.is_int() || value.is_bool())
    return Tensor::from(std::vector{value.as_int()}, {});
  if (value.is_float()) return Tensor::full({}, value.as_double(), DType::f64);
  throw TypeError("can't assign a " + python::name_of(value) + " to a torch." +
                  dtype_words(to).of_class + "Tensor");
}

// Spread over what is written; leading dims of one element go, as in torch.
Tensor spread(Tensor value, const Dims& sizes) {
  while (value.dim() > sizes.size() && value.size(0) == 1)
    value = value.as_strided(Dims(value.sizes().span().subspan(1)),
                             Dims(value.strides().span().subspan(1)),
                             value.offset());
  return call_method("expand", {value, sizes}).as_tensor();
}

// Where the index picks elements one by one: the same index into the tensor of
// all positions says which.
void assign_elements(const Tensor& self, const Value& index,
                     const Tensor& value) {
  std::vector<int64_t> counted(static_cast<size_t>(self.numel()));
  for (size_t i = 0; i < counted.size(); ++i)
    counted[i] = static_cast<int64_t>(i);
  const Tensor places =
      operate("_operator.getitem", Tensor::from(counted, self.sizes()), index)
          .as_tensor();
  const Tensor picked = Tensor::empty(places.sizes(), self.dtype());
  picked.copy_from(spread(value, places.sizes()));
  const Tensor result = self.clone().contiguous();
  const size_t item = self.item_size();
  const auto* from = picked.data_as<std::byte>();
  for (const int64_t place : places.to_ints()) {
    std::memcpy(result.data_as<std::byte>() + static_cast<size_t>(place) * item,
                from, item);
    from += item;
  }
  self.copy_from(result);
}

Value setitem(Arguments args) {
  const Value& self = args[0];
  if (!self.is_tensor()) return find_python_operator("setitem")->run(args);
  const Tensor& tensor = self.as_tensor();
  const Tensor value = assigned(args[2], tensor.dtype());
  const Tensor part = operate("_operator.getitem", self, args[1]).as_tensor();
  const bool by_views = part.storage() == tensor.storage();
  check_assignment(by_views ? part : tensor, value, by_views);
  if (by_views) {
    part.copy_from(spread(value, part.sizes()));
  } else {
    assign_elements(tensor, args[1], value);
  }
  return None;
}

// --- One element. ---

Tensor only_element(const Value& self) {
  if (self.as_tensor().numel() != 1)
    throw ValueError(
        "only one element tensors can be converted to Python scalars");
  return self.as_tensor();
}

Value to_bool(Arguments args) { return static_cast<bool>(args[0]); }

Value to_float(Arguments args) {
  return args[0].is_tensor() ? only_element(args[0]).item()
                             : args[0].as_double();
}

Value to_int(Arguments args) {
  if (args[0].is_tensor()) {
    const Tensor element = only_element(args[0]);
    if (is_integral(element.dtype())) return element.to_ints()[0];
  }
  return static_cast<int64_t>(to_float(args).as_double());
}

Value to_index(Arguments args) {
  if (!args[0].is_tensor()) return python::index(args[0]);
  const Tensor& self = args[0].as_tensor();
  if (self.numel() != 1 || is_floating(self.dtype()))
    throw TypeError(
        "only integer tensors of a single element can be converted to an "
        "index");
  return to_int(args);
}

Value storage_offset(Arguments args) { return args[0].as_tensor().offset(); }

// --- Containers. ---

Value length(Arguments args) {
  if (!args[0].is_tensor()) return python::length(args[0]);
  if (args[0].as_tensor().dim() == 0) throw TypeError("len() of a 0-d tensor");
  return args[0].as_tensor().size(0);
}

Value contains(Arguments args) {
  if (!args[0].is_tensor()) return python::contains(args[0], args[1]);
  if (!args[1].is_tensor() && !args[1].is_number())
    throw RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in "
        "a <class '" +
        python::name_of(args[1]) + "'>.");
  const Tensor equal = operate("_operator.eq", args[0], args[1]).as_tensor();
  return std::ranges::any_of(equal.to_ints(), [](int64_t x) { return x != 0; });
}

Value reversed(Arguments args) {
  const Value& self = args[0];
  if (self.is_tensor())
    return self.as_tensor().dim() == 0
               ? self
               : call_method("flip", {self, Value::list({0})});
  ValueList items = self.as_sequence();
  std::ranges::reverse(items);
  return Value::list(std::move(items));
}

Value keys(Arguments args) { return Value::list(python::iterated(args[0])); }

Value values(Arguments args) {
  ValueList items;
  for (const auto& [key, item] : args[0].as_dict()) items.push_back(item);
  return Value::list(std::move(items));
}

Value items(Arguments args) {
  ValueList pairs;
  for (const auto& [key, item] : args[0].as_dict())
    pairs.push_back(Value::tuple({key, item}));
  return Value::list(std::move(pairs));
}

Value get(Arguments args) {
  if (const Value* const item = find(args[0].as_dict(), args[1])) return *item;
  return args.size() > 2 ? args[2] : Value();
}

Value copy(Arguments args) { return args[0]; }  // Never changed in place.

Value count(Arguments args) { return python::count_of(args[0], args[1]); }

Value index_of(Arguments args) {
  const ValueList& items = args[0].as_sequence();
  for (size_t i = 0; i < items.size(); ++i)
    if (python::equal(items[i], args[1])) return i;
  throw ValueError(args[0].is_list() ? repr(args[1]) + " is not in list"
                                     : "tuple.index(x): x not in tuple");
}

// --- The methods. ---

enum Kinds {
  kTensor = 1,
  kNumber = 2,
  kSequence = 4,
  kDict = 8,
  kString = 16,
  kRange = 32,
  kContainer = kSequence | kDict | kString | kRange,
};

int kind_of(const Value& self) {
  if (self.is_tensor()) return kTensor;
  if (self.is_number()) return kNumber;
  if (self.is_sequence()) return kSequence;
  if (self.is_dict()) return kDict;
  if (self.is_range()) return kRange;
  return self.is_string() ? kString : 0;
}

constexpr std::string_view kSetItem = "__setitem__";

struct Method {
  std::string_view name;
  int kinds;           // What `self` may be.
  size_t least, most;  // Arguments beside it.
  Value (*run)(Arguments args);
};
constexpr Method kMethods[] = {
    {kSetItem, kTensor | kContainer, 2, 2, setitem},
    {"__len__", kTensor | kContainer, 0, 0, length},
    {"__contains__", kTensor | kContainer, 1, 1, contains},
    {"__reversed__", kTensor | kSequence, 0, 0, reversed},
    {"__bool__", kTensor | kNumber, 0, 0, to_bool},
    {"__nonzero__", kTensor, 0, 0, to_bool},
    {"__float__", kTensor | kNumber, 0, 0, to_float},
    {"__int__", kTensor | kNumber, 0, 0, to_int},
    {"__long__", kTensor, 0, 0, to_int},
    {"__index__", kTensor | kNumber, 0, 0, to_index},
    {"storage_offset", kTensor, 0, 0, storage_offset},
    {"keys", kDict, 0, 0, keys},
    {"values", kDict, 0, 0, values},
    {"items", kDict, 0, 0, items},
    {"get", kDict, 1, 2, get},
    {"copy", kSequence | kDict, 0, 0, copy},
    {"count", kSequence, 1, 1, count},
    {"index", kSequence, 1, 1, index_of},
};

// Operators with self on the right, or whose result takes self's place.
struct OperatorMethod {
  std::string_view name;
  const char* function;
  bool reflected = false;
  bool in_place = false;
};
constexpr OperatorMethod kOperatorMethods[] = {
    {"__div__", "_operator.truediv"},
    {"__idiv__", "_operator.itruediv"},
    {"__rtruediv__", "_operator.truediv", true},
    {"__rdiv__", "_operator.truediv", true},
    {"__rfloordiv__", "_operator.floordiv", true},
    {"__rmod__", "_operator.mod", true},
    {"__rpow__", "_operator.pow", true},
    {"__rmatmul__", "_operator.matmul", true},
    {"__rlshift__", "_operator.lshift", true},
    {"__rrshift__", "_operator.rshift", true},
    {"__ilshift__", "_operator.lshift", false, true},
    {"__irshift__", "_operator.rshift", false, true},
};

void check_count(const ValueList& args, const Kwargs& kwargs,
                 std::string_view name, size_t least, size_t most) {
  const size_t given = args.size() - 1;
  if (!kwargs.empty())
    throw TypeError(std::string(name) + "() takes no keyword arguments");
  if (given < least || given > most)
    throw TypeError("expected " + std::to_string(given < least ? least : most) +
                    " argument" + (most == 1 ? "" : "s") + ", got " +
                    std::to_string(given));
}

Value run(const OperatorMethod& method, const ValueList& args) {
  const Value& self = args[0];
  if (method.reflected) return operate(method.function, args[1], self);
  const Value result = operate(method.function, self, args[1]);
  if (!method.in_place || !self.is_tensor()) return result;
  self.as_tensor().copy_from(result.as_tensor());
  return self;
}

}  // namespace

std::optional<Value> call_python_method(std::string_view method,
                                        const ValueList& args,
                                        const Kwargs& kwargs) {
  const int kind = args.empty() ? 0 : kind_of(args[0]);
  for (const Method& entry : kMethods)
    if (entry.name == method && (entry.kinds & kind)) {
      check_count(args, kwargs, method, entry.least, entry.most);
      return entry.run(args);
    }
  for (const OperatorMethod& entry : kOperatorMethods)
    if (entry.name == method && (kind & (kTensor | kNumber))) {
      check_count(args, kwargs, method, 1, 1);
      return run(entry, args);
    }
  return std::nullopt;
}

bool assigns_item(std::string_view method) { return method == kSetItem; }

}  // namespace fxjit::ops
