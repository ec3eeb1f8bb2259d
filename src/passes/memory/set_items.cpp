#include "src/passes/memory/set_items.h"

#include <algorithm>
#include <numeric>

#include "fxjit/functions_structured.h"
#include "src/ops/table/index_parts.h"
#include "src/ops/table/number_range.h"
#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {
namespace {

Tensor counted(const Dims& sizes) {
  const Size count = Tensor::meta(sizes, DType::i64).numel();
  std::vector<int64_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  return Tensor::from(places, sizes);
}

// `value` in the type of `self`, with at most as many dims as are written.
Value fitted(const Value& value, const Tensor& self, int dims) {
  if (value.is_int() || value.is_float())
    ops::check_number(value, self.dtype(), ops::Conversion::computed);
  if (value.is_float())
    return Value(Tensor::full({}, value.as_double(), self.dtype()));
  if (value.is_number()) {
    const int64_t number = value.is_bool() ? value.as_bool() : value.as_int();
    return Value(
        Tensor::from(std::vector<int64_t>{number}, Dims()).to(self.dtype()));
  }
  Value cast = method(value, "to", {self.dtype()});
  // As torch, which lets leading dims of one element go.
  while (meta_of(cast).as_tensor().dim() > dims &&
         meta_of(cast).as_tensor().size(0) == 1)
    cast = fxjit::squeeze(cast, 0);
  return cast;
}

bool is_mask_of(const Value& index, const Tensor& self) {
  if (!index.is_tensor() && !index.is_proxy()) return false;
  const Tensor mask = meta_of(index).as_tensor();
  if (mask.dtype() != DType::boolean || mask.dim() > self.dim()) return false;
  for (int d = 0; d < mask.dim(); ++d)
    if (mask.size(d) != self.size(d)) return false;
  return true;
}

bool is_one_number(const Value& value) {
  return value.is_number() || meta_of(value).as_tensor().numel() == 1;
}

// One number where the mask is set.
Value with_masked(const Value& self, Value mask, const Value& value) {
  const Tensor meta = meta_of(self).as_tensor();
  while (meta_of(mask).as_tensor().dim() < meta.dim())
    mask = fxjit::unsqueeze(mask, -1);
  return fxjit::where(mask, fitted(value, meta, 0), self);
}

// `value` with the shape and type of `view`, which it is to be written to.
Value spread_to(const Value& view, const Value& value) {
  const Tensor meta = meta_of(view).as_tensor();
  return fxjit::expand(fitted(value, meta, meta.dim()), Value(meta.sizes()));
}

// How many dims view[tensors] has.
int dims_picked(const Tensor& view, const ValueList& tensors) {
  int dims = view.dim(), picked = 0;
  for (const Value& item : tensors) {
    if (item.is_none()) continue;
    const Tensor index = meta_of(item).as_tensor();
    const bool mask = index.dtype() == DType::boolean;
    dims -= mask ? index.dim() : 1;
    picked = std::max(picked, mask ? 1 : index.dim());
  }
  return dims + picked;
}

}  // namespace

std::optional<ItemWrite> item_write(const Value& self, const Value& index,
                                    const Value& value) {
  const Tensor meta = meta_of(self).as_tensor();
  if (is_mask_of(index, meta) && is_one_number(value))
    return ItemWrite{self, with_masked(self, index, value)};
  const auto parts = ops::index_parts(self, index);
  if (!parts) return std::nullopt;
  const auto& [view, tensors] = *parts;
  if (tensors.empty()) return ItemWrite{view, spread_to(view, value)};
  const int dims = dims_picked(meta_of(view).as_tensor(), tensors);
  return ItemWrite{
      view, function("torch.index_put", {view, Value::list(ValueList(tensors)),
                                         fitted(value, meta, dims)})};
}

Value with_items(const Value& self, const Value& index, const Value& value) {
  const Tensor meta = meta_of(self).as_tensor();
  const Value places = getitem(counted(meta.sizes()), index);
  const Tensor picked = meta_of(places).as_tensor();
  const Value written =
      fxjit::expand(fitted(value, meta, picked.dim()), Value(picked.sizes()));
  const Value flat = function(
      "torch.index_put",
      {fxjit::reshape(self, Value(Dims{meta.numel()})),
       Value::list({fxjit::reshape(places, Value(Dims{picked.numel()}))}),
       fxjit::reshape(written, Value(Dims{picked.numel()}))});
  return fxjit::reshape(flat, Value(meta.sizes()));
}

}  // namespace fxjit::passes
