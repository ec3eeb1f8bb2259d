#include "src/ops/families/shared/composition.h"

#include <limits>

#include "fxjit/error.h"
#include "fxjit/functions_structured.h"

namespace fxjit::ops {

Value call_row(std::string_view name, ValueList args, Kwargs kwargs) {
  return call_function(get_op(name).canonical, std::move(args),
                       std::move(kwargs));
}

Value cast_to(const Value& value, DType dtype) {
  if (meta_of(value).dtype() == dtype) return value;
  return method(value, "to", {dtype});
}

Value widened(const Value& value, DType dtype) {
  return cast_to(value, compute_dtype(dtype));
}

Value narrowed(const Value& result, const Value& wide, DType dtype) {
  return meta_of(wide).dtype() == dtype ? result
                                        : method(result, "to", {dtype});
}

Value factor_of(const Value& factor, DType dtype) {
  if (is_floating(dtype)) return factor;
  if (dtype == DType::boolean) return factor.as_double() != 0;
  if (factor.is_int()) return factor;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  const double number = factor.as_double();
  if (!(number >= -kEnd && number < kEnd))  // NaN is refused as well.
    throw RuntimeError(
        "value cannot be converted to type int64_t without overflow");
  return static_cast<int64_t>(number);
}

std::string reduction_of(const OpCall& call, bool batchmean) {
  const int average = call.op.index_of("size_average");
  const int reduce = call.op.index_of("reduce");
  if (average >= 0 && reduce >= 0) {
    const Value &mean = call[size_t(average)], &any = call[size_t(reduce)];
    if (!mean.is_none() || !any.is_none()) {
      if (!any.is_none() && !call.flag(size_t(reduce))) return "none";
      return mean.is_none() || call.flag(size_t(average)) ? "mean" : "sum";
    }
  }
  return checked_reduction(call[index_of(call, "reduction")], batchmean);
}

std::string checked_reduction(const Value& reduction, bool batchmean) {
  const std::string name(reduction.as_string());
  if (name != "none" && name != "mean" && name != "sum" &&
      !(batchmean && name == "batchmean"))
    throw ValueError(name + " is not a valid value for reduction");
  return name;
}

Value reduced_loss(const Value& loss, std::string_view how) {
  if (how == "none") return loss;
  return how == "mean" ? fxjit::mean(loss) : fxjit::sum(loss);
}

Value reshaped_copy(const Value& value, const Dims& sizes) {
  const Tensor meta = meta_of(value);
  const Value shaped = fxjit::reshape(value, sizes);
  return view_strides(meta.sizes(), meta.strides(), sizes)
             ? method(shaped, "clone")
             : shaped;
}

Value safe_softmax(const Value& scores, int64_t dim) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const Value top = fxjit::amax(scores, dim, true);
  const Value shift = fxjit::where(fxjit::eq(top, kLowest), 0.0, top);
  const Value e = fxjit::exp(scores - shift);
  const Value total = fxjit::sum(e, dim, true);
  return e / fxjit::where(fxjit::eq(total, 0), 1.0, total);
}

Value inverse_rms(const OpCall& call, const Value& wide, const Dims& axes) {
  const Tensor meta = meta_of(wide);
  const double added = call.has(3) ? call.number(3)
                       : meta.dtype() == DType::f64
                           ? std::numeric_limits<double>::epsilon()
                           : double{std::numeric_limits<float>::epsilon()};
  const Value count = count_along(meta, axes);
  const Value square = fxjit::sum(wide * wide, axes_value(axes), true) / count;
  return fxjit::rsqrt(square + added);
}

Value axes_value(const Dims& axes) {
  ValueList items;
  for (int64_t axis : axes) items.push_back(axis);
  return Value::tuple(std::move(items));
}

Size count_along(const Tensor& input, const Dims& axes) {
  Size count = 1;
  for (int64_t axis : axes) count *= input.sizes()[axis];
  return count;
}

}  // namespace fxjit::ops
