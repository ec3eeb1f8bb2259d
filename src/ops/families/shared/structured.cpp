#include "src/ops/families/shared/structured.h"

#include "fxjit/proxy_base.h"
#include "src/support/memory/memory_limit.h"
#include "src/tensor/dtype_words.h"

namespace fxjit::ops {

void runtime_error(std::initializer_list<TextPart> parts) {
  throw RuntimeError(concat(parts));
}

void no_kernel(const std::string& kernel, DType dtype) {
  throw NotImplementedError('"' + kernel + "\" not implemented for '" +
                            torch_type_name(dtype) + "'");
}

Tensor meta_of(const Value& value) {
  if (value.is_tensor()) return value.as_tensor();
  if (value.is_proxy()) {
    const Value known = value.as_proxy()->val();
    if (known.is_tensor()) return known.as_tensor();
  }
  throw UserError("expected a tensor of known shape, got " +
                  std::string(value.kind_name()));
}

std::string x_shape(const Dims& sizes) {
  std::string text;
  for (int i = 0; i < sizes.size(); ++i)
    text += (i ? "x" : "") + std::to_string(sizes[i]);
  return text;
}

const char* torch_type_name(DType dtype) { return dtype_words(dtype).of_class; }

const char* cpp_type_name(DType dtype) { return dtype_words(dtype).cpp; }

size_t index_of(const OpCall& call, const char* parameter) {
  const int i = call.op.index_of(parameter);
  FXJIT_CHECK(i >= 0, concat(call.op.name(), " lacks ", parameter));
  return static_cast<size_t>(i);
}

int dim_arg(const OpCall& call, size_t i, int rank) {
  return wrap_dim(call.integer(i), rank);
}

Dims axes_arg(const OpCall& call, size_t i, int rank) {
  if (!call.has(i) || (call[i].is_sequence() && call[i].size() == 0))
    return dims_between(0, rank);
  Dims axes;
  for (int64_t dim : call.dims(i)) {
    const int axis = wrap_dim(dim, rank);
    if (contains(axes, axis))
      runtime_error("dim ", axis,
                    " appears multiple times in the list of dims");
    axes.push_back(axis);
  }
  return rank == 0 ? Dims() : axes;
}

DType dtype_arg(const OpCall& call, size_t i, DType fallback) {
  return call.has(i) ? call[i].as_dtype() : fallback;
}

void check_moderate(const OpCall& call, const Dims& numbers) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (const Size number : numbers)
    if (number >= kLimit || number <= -kLimit)
      runtime_error(call.op.name(), ": expected numbers below 2^31, got ",
                    numbers);
}

void check_memory(const Dims& sizes, DType dtype) {
  const ExactInt bytes =
      ExactInt(numel(sizes)) * static_cast<int64_t>(dtype_size(dtype));
  // Passes look at those of named sizes.
  if (bytes.is_number())
    support::check_memory(static_cast<size_t>(int64_t{bytes}));
}

int empty_dim(const Tensor& input, int inner) {
  for (int d = std::max(0, input.dim() - inner); d < input.dim(); ++d)
    if (input.sizes()[d] == 0) return d;
  return -1;
}

void check_pieces(const OpCall& call, int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (count > kMost)
    runtime_error(call.op.name(), ": expected at most ", kMost, " pieces, got ",
                  count);
}

void check_device(const OpCall& call, const Value& device) {
  if (device.is_string() && !device.as_string().starts_with("cpu") &&
      device.as_string() != "meta")
    call.fail("device: expected cpu, got " + std::string(device.as_string()));
}

Dims per_axis_arg(const OpCall& call, size_t i, int count) {
  const Dims dims = call.dims(i);
  check_moderate(call, dims);
  if (dims.size() == 1) return Dims(count, dims[0]);
  if (dims.size() != count)
    runtime_error("expected ", call.op.parameters[i].name,
                  " to be a single integer value or a list of ", count,
                  " values to match the convolution dimensions, but got ",
                  call.op.parameters[i].name, "=", dims);
  return dims;
}

Dims flat_dims(const Value& value) {
  if (value.is_sequence() && value.size() == 1 && value.at(0).is_sequence())
    return value.at(0).as_dims();
  return value.as_dims();
}

std::vector<Tensor> tensors_arg(const OpCall& call, size_t i) {
  std::vector<Tensor> tensors;
  for (const Value& item : call[i].as_sequence())
    tensors.push_back(item.as_tensor());
  return tensors;
}

bool contains(const Dims& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Dims joined(Dims first, const Dims& second) {
  for (int64_t each : second) first.push_back(each);
  return first;
}

Dims dims_between(int begin, int end, const Dims& left_out) {
  Dims dims;
  for (int d = begin; d < end; ++d)
    if (!contains(left_out, d)) dims.push_back(d);
  return dims;
}

Dims reduced_shape(const Dims& sizes, const Dims& axes, bool keepdim) {
  Dims shape;
  for (int d = 0; d < sizes.size(); ++d) {
    if (!contains(axes, d))
      shape.push_back(sizes[d]);
    else if (keepdim)
      shape.push_back(1);
  }
  return shape;
}

Tensor permuted(const Tensor& tensor, const Dims& order) {
  Dims sizes, strides;
  for (int64_t d : order) {
    sizes.push_back(tensor.sizes()[d]);
    strides.push_back(tensor.strides()[d]);
  }
  return tensor.as_strided(sizes, strides, tensor.offset());
}

Size axis_size(const Tensor& tensor, int axis) {
  return tensor.dim() > 0 ? tensor.sizes()[axis] : Size(1);
}

Size axis_stride(const Tensor& tensor, int axis) {
  return tensor.dim() > 0 ? tensor.strides()[axis] : Size(1);
}

Tensor tensor_of(const std::vector<int64_t>& numbers) {
  return Tensor::from(numbers, {static_cast<int64_t>(numbers.size())});
}

Tensor with_batch(const Tensor& tensor) {
  Dims sizes = tensor.sizes(), strides = tensor.strides();
  sizes.insert(0, 1);
  strides.insert(0, 0);
  return tensor.as_strided(sizes, strides, tensor.offset());
}

Tensor without_batch(const Tensor& tensor) {
  Dims sizes = tensor.sizes();
  sizes.erase(0);
  return tensor.as_strided(sizes, contiguous_strides(sizes), 0);
}

Tensor empty_like(const Value& inferred) {
  const Tensor& shape = inferred.as_tensor();
  return Tensor::empty(shape.sizes(), shape.dtype());
}

Value infer_like_first(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), call.tensor(0).dtype());
}

Value infer_running(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  dim_arg(call, 1, input.dim());
  return Tensor::meta(
      input.sizes(),
      dtype_arg(call, 2,
                is_floating(input.dtype()) ? input.dtype() : DType::i64));
}

Value infer_ordered(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  dim_arg(call, 1, input.dim());
  return Value::tuple({Tensor::meta(input.sizes(), input.dtype()),
                       Tensor::meta(input.sizes(), DType::i64)});
}

void output_mismatch(const Dims& output, const Dims& result) {
  runtime_error("output with shape ", output,
                " doesn't match the broadcast shape ", result);
}

DType kernel_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::i64;
  return compute_dtype(dtype);
}

}  // namespace fxjit::ops
