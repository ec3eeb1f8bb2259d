// Python's indexing, `self[index]`: of tensors by ints, slices, None, Ellipsis
// and index tensors; of plain values as Python does (items.h). On
// tensors it is a chain of select, slice, unsqueeze and of index by tensors
// without dims, then at most one index.
#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/python/items.h"
#include "src/ops/table/data_dependent.h"
#include "src/ops/table/families.h"
#include "src/ops/table/index_parts.h"

namespace fxjit::ops {
namespace {

bool is_tensor_index(const Value& item) {
  return item.is_tensor() || item.is_proxy() || item.is_list();
}

bool is_mask(DType dtype) {
  return dtype == DType::boolean || dtype == DType::u8;
}

// A list of ints or bools, or of such lists, as an index tensor; bytes as
// bools.
Value index_tensor(const Value& item) {
  if (!item.is_list())
    return meta_of(item).dtype() == DType::u8 ? cast_to(item, DType::boolean)
                                              : item;
  Dims sizes;
  for (Value level = item; level.is_sequence(); level = level.at(0)) {
    sizes.push_back(static_cast<int64_t>(level.size()));
    if (level.size() == 0) break;
  }
  std::vector<int64_t> values;
  bool flags = item.size() > 0;
  visit_leaves(item, [&](const Value& entry) {
    values.push_back(entry.as_int());
    flags = flags && entry.is_bool();
  });
  if (numel(sizes) != static_cast<int64_t>(values.size()))
    throw ValueError("expected sequence of equal lengths as an index");
  const Tensor tensor = Tensor::from(values, sizes);
  return flags ? tensor.to(DType::boolean) : tensor;
}

int dims_taken(const Value& item) {
  if (item.is_none() || item.is_ellipsis() || item.is_bool()) return 0;
  if (item.is_tensor() || item.is_proxy()) {
    const Tensor meta = meta_of(item);
    return is_mask(meta.dtype()) ? meta.dim() : 1;
  }
  return 1;
}

// The number in a tensor of one element that Python would take as an int.
int64_t known_number(const Value& value, const char* what) {
  if (!value.is_tensor() || value.as_tensor().is_meta())
    throw DataDependentError(concat(
        "getitem: expected a number as ", what,
        " for a result of known shape, got a tensor; it runs eagerly only"));
  const Tensor& tensor = value.as_tensor();
  if (tensor.numel() != 1 || is_floating(tensor.dtype()))
    throw TypeError(
        "only integer tensors of a single element can be converted to an "
        "index");
  return tensor.to_ints().at(0);
}

Value slice_bound(const Value& bound) {
  if (!bound.is_tensor() && !bound.is_proxy()) return bound;
  return known_number(bound, "bound of a slice");
}

// A list of anything but numbers means what a tuple does.
bool is_tuple_of_items(const Value& index) {
  if (!index.is_list()) return index.is_tuple();
  for (const Value& item : index.as_sequence())
    if (!item.is_int() && !item.is_bool() && !item.is_float()) return true;
  return false;
}

// The items of `index` with an Ellipsis where there is none.
ValueList index_items(const Value& index, int rank) {
  ValueList items =
      is_tuple_of_items(index) ? index.as_sequence() : ValueList{index};
  int taken = 0, ellipses = 0;
  for (const Value& item : items) {
    taken += dims_taken(item);
    ellipses += item.is_ellipsis();
  }
  if (ellipses > 1)
    throw IndexError("an index can only have a single ellipsis ('...')");
  if (taken > rank)
    throw IndexError(concat("too many indices for tensor of dimension ", rank));
  if (ellipses == 0) items.push_back(Ellipsis);
  return items;
}

// Consumes the items of an index one by one; `axis_` is the next dim.
class Indexer {
 public:
  explicit Indexer(const Value& self) : value_(self) {}

  Value apply(const Value& index) {
    take(index);
    return picked_ ? fxjit::index(value_, Value::list(std::move(tensors_)))
                   : alias();
  }

  std::optional<IndexParts> parts(const Value& index) {
    in_parts_ = true;
    take(index);
    if (!picked_) return IndexParts{value_, {}};
    if (has_element_ && !are_adjacent()) return std::nullopt;
    return IndexParts{value_, std::move(tensors_)};
  }

 private:
  void take(const Value& index) {
    const int rank = meta_of(value_).dim();
    if (rank == 0 && index.is_int() && !index.is_bool())
      throw IndexError(
          "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
          "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    const ValueList items = index_items(index, rank);
    int taken = 0;
    for (const Value& item : items) taken += dims_taken(item);
    for (const Value& item : items) {
      step(item, rank - taken);
      consumed_ += item.is_ellipsis() ? rank - taken : dims_taken(item);
    }
  }

  void step(const Value& item, int skipped) {
    if (item.is_ellipsis()) return keep(skipped);
    if (item.is_none()) {
      value_ = fxjit::unsqueeze(value_, axis_);
      return keep(1);
    }
    if (item.is_slice()) return take_slice(item.as_slice());
    if (item.is_bool()) return take_flag(item.as_bool());
    if (is_tensor_index(item)) return take_tensor(index_tensor(item));
    if (item.is_int()) return take_int(item.as_size());
    throw IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        "Variables are valid indices (got " +
        std::string(item.kind_name()) + ")");
  }

  void keep(int count) {
    tensors_.resize(tensors_.size() + static_cast<size_t>(count));
    axis_ += count;
  }

  void take_int(Size at) {
    const Size size = meta_of(value_).sizes()[axis_];
    if (at < -size || at >= size)
      throw IndexError(concat("index ", at, " is out of bounds for dimension ",
                              consumed_, " with size ", size));
    value_ = fxjit::select(value_, axis_, at);
    changed_ = true;
  }

  void take_slice(const Value::SliceView& range) {
    const Value step_value = slice_bound(range.step);
    const int64_t step = step_value.is_none() ? 1 : step_value.as_int();
    if (step <= 0) throw ValueError("step must be greater than zero");
    if (!range.start.is_none() || !range.stop.is_none() || step != 1) {
      value_ = call_row("slice", {value_, axis_, slice_bound(range.start),
                                  slice_bound(range.stop), step});
      changed_ = true;
    }
    keep(1);
  }

  // A new dim of one element, or of none.
  void take_flag(bool flag) {
    value_ = fxjit::unsqueeze(value_, axis_++);
    tensors_.push_back(Tensor::zeros({flag ? 1 : 0}, DType::i64));
    picked_ = true;
  }

  void take_tensor(Value tensor) {
    const Tensor meta = meta_of(tensor);
    if (meta.dim() == 0 && is_mask(meta.dtype()))
      return take_flag(known_number(tensor, "a mask without dims") != 0);
    if (meta.dim() == 0 && is_integral(meta.dtype()))
      return take_element(tensor);
    axis_ += dims_taken(tensor);
    tensors_.push_back(std::move(tensor));
    picked_ = true;
  }

  // A tensor without dims stands for its number: a view where that is known.
  void take_element(const Value& index) {
    if (index.is_tensor() && !index.as_tensor().is_meta() &&
        (value_.is_tensor() || in_parts_))
      return take_int(index.as_tensor().to_ints().at(0));
    if (in_parts_) {
      ++axis_;
      tensors_.push_back(cast_to(index, DType::i64));
      picked_ = has_element_ = true;
      return;
    }
    ValueList picks(static_cast<size_t>(axis_));
    picks.push_back(cast_to(index, DType::i64));
    value_ = fxjit::index(value_, Value::list(std::move(picks)));
    changed_ = true;
  }

  // Among other index tensors, numbers are dims that the result has not.
  bool are_adjacent() const {
    const auto is_tensor = [](const Value& item) { return !item.is_none(); };
    const auto first = std::ranges::find_if(tensors_, is_tensor);
    const auto end = std::find_if_not(first, tensors_.end(), is_tensor);
    return std::find_if(end, tensors_.end(), is_tensor) == tensors_.end();
  }

  // Indexing always gives a new view.
  Value alias() const {
    if (changed_ || !value_.is_tensor()) return value_;
    const Tensor& t = value_.as_tensor();
    return t.as_strided(t.sizes(), t.strides(), t.offset());
  }

  Value value_;
  ValueList tensors_;  // For the index op: a tensor or None per dim.
  int axis_ = 0;       // The dim of `value_` that comes next.
  int consumed_ = 0;   // Dims of the indexed tensor.
  bool picked_ = false;
  bool changed_ = false;
  bool in_parts_ = false;
  bool has_element_ = false;  // A tensor without dims is among `tensors_`.
};

Value decompose_getitem(const OpCall& call) {
  const Value& self = call[0];
  if (!self.is_tensor() && !self.is_proxy())
    return python::getitem(self, call[1]);
  return Indexer(self).apply(call[1]);
}

constexpr OpRow kIndexingRows[] = {
    composed_row("getitem", "input, index", "_operator.getitem .__getitem__",
                 decompose_getitem)
        .stating({.aliasing = Aliasing::item}),
};

}  // namespace

std::optional<IndexParts> index_parts(const Value& self, const Value& index) {
  return Indexer(self).parts(index);
}

std::span<const OpRow> indexing_rows() { return kIndexingRows; }

}  // namespace fxjit::ops
