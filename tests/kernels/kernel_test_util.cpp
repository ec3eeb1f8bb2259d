#include "tests/kernels/kernel_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <span>

#include "kernels/kernels.h"
#include "src/program/planning/call_code_rules.h"
#include "src/support/rounding.h"

namespace fxjit::kernels::testing {
namespace {

// Calls fn for every index below `sizes`.
void for_each_index(const Dims& sizes,
                    const std::function<void(const Dims&)>& fn) {
  if (numel(sizes) == 0) return;
  Dims index(sizes.size(), 0);
  while (true) {
    fn(index);
    int d = sizes.size() - 1;
    for (; d >= 0; --d) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

size_t place(const Dims& sizes, const Dims& index) {
  int64_t at = 0;
  for (int d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
  return static_cast<size_t>(at);
}

Dims spatial_part(const Dims& sizes) {
  Dims part;
  for (int d = 2; d < sizes.size(); ++d) part.push_back(sizes[d]);
  return part;
}

Dims with_spatial(int64_t n, int64_t c, const Dims& spatial) {
  Dims index{n, c};
  for (int64_t i : spatial) index.push_back(i);
  return index;
}

// Where the window element `tap` at `place` lies; false outside.
bool source_of(const Dims& place, const Dims& tap, const Dims& stride,
               const Dims& dilation, const Dims& pad, const Dims& bounds,
               Dims& source) {
  source = place;
  for (int i = 0; i < place.size(); ++i) {
    source[i] = place[i] * stride[i] + tap[i] * dilation[i] - pad[i];
    if (source[i] < 0 || source[i] >= bounds[i]) return false;
  }
  return true;
}

Tensor with_strides(const Tensor& tensor, const Dims& strides) {
  const Tensor storage = Tensor::empty(tensor.sizes(), tensor.dtype());
  const Tensor view = storage.as_strided(tensor.sizes(), strides, 0);
  view.copy_from(tensor);
  return view;
}

// From the first element to the last.
std::span<std::byte> bytes_of(const Tensor& tensor) {
  if (tensor.numel() == 0) return {};
  int64_t last = 0;
  for (int d = 0; d < tensor.dim(); ++d)
    last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  return {static_cast<std::byte*>(tensor.data()),
          static_cast<size_t>(last + 1) * dtype_size(tensor.dtype())};
}

}  // namespace

GuardedTensors::GuardedTensors(const std::vector<Tensor>& tensors, Tight tight)
    : tensors_(tensors) {
  for (const Tensor& tensor : tensors) {
    blocks_.push_back(
        std::make_unique<support::GuardedBytes>(bytes_of(tensor), tight));
    addresses_.push_back(blocks_.back()->data());
  }
}

void GuardedTensors::take_result() const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto bytes = bytes_of(tensors_[i]);
    const bool same = bytes.empty() || std::memcmp(bytes.data(), addresses_[i],
                                                   bytes.size()) == 0;
    if (i + 1 < tensors_.size())
      EXPECT_TRUE(same) << "operand " << i << " changed";
    else if (!same)
      std::memcpy(bytes.data(), addresses_[i], bytes.size());
  }
}

Tensor random_tensor(const Dims& sizes, DType dtype, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(numel(sizes)));
  for (float& value : values) value = normal(engine);
  return Tensor::from(values, sizes).to(dtype);
}

Tensor transposed_copy(const Tensor& tensor) {
  Dims strides = tensor.strides();
  const int last = tensor.dim() - 1;
  strides[last] = tensor.size(-2);
  strides[last - 1] = 1;
  return with_strides(tensor, strides);
}

Tensor channels_last_copy(const Tensor& tensor) {
  Dims strides = tensor.strides();
  const int64_t channels = tensor.size(1);
  for (int d = 2; d < tensor.dim(); ++d) strides[d] *= channels;
  strides[1] = 1;
  return with_strides(tensor, strides);
}

std::vector<double> doubles(const Tensor& tensor) {
  const std::vector<float> floats = tensor.to_floats();
  return {floats.begin(), floats.end()};
}

std::vector<double> product_oracle(const Tensor& a, const Tensor& b,
                                   const Tensor& bias) {
  const std::vector<double> x = doubles(a), y = doubles(b);
  const int64_t batch = a.size(0), rows = a.size(1), depth = a.size(2),
                columns = b.size(2);
  std::vector<double> added(static_cast<size_t>(columns), 0);
  if (bias.defined()) added = doubles(bias);
  std::vector<double> out;
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n) {
        double sum = added[static_cast<size_t>(n)];
        for (int64_t k = 0; k < depth; ++k)
          sum += x[static_cast<size_t>((i * rows + m) * depth + k)] *
                 y[static_cast<size_t>((i * depth + k) * columns + n)];
        out.push_back(sum);
      }
  return out;
}

std::vector<double> conv_oracle(const ops::ConvParams& params,
                                const Tensor& input, const Tensor& weight,
                                const Tensor& bias) {
  const std::vector<double> x = doubles(input), w = doubles(weight);
  std::vector<double> out(static_cast<size_t>(numel(params.output)), 0);
  // A transposed convolution spreads each input over the window that an output
  // of the plain one would gather from.
  const bool back = params.transposed;
  const Dims places = spatial_part(back ? input.sizes() : params.output);
  const Dims bounds = spatial_part(back ? params.output : input.sizes());
  const int64_t in = input.size(1) / params.groups;
  const int64_t of = params.output[1] / params.groups;
  const auto plane = [](const Dims& sizes) {
    return numel(sizes) / (sizes[0] * sizes[1]);
  };
  const int64_t from_plane = plane(input.sizes()),
                to_plane = plane(params.output);
  for_each_index(spatial_part(weight.sizes()), [&](const Dims& tap) {
    // Places of a plane that this element of the window connects.
    std::vector<std::pair<size_t, size_t>> pairs;
    for_each_index(places, [&](const Dims& spot) {
      Dims other;
      if (source_of(spot, tap, params.stride, params.dilation,
                    params.pad_before, bounds, other))
        pairs.emplace_back(place(back ? bounds : places, back ? other : spot),
                           place(back ? places : bounds, back ? spot : other));
    });
    for_each_index({input.size(0), params.groups, in, of}, [&](const Dims& i) {
      const int64_t n = i[0], c = i[1] * in + i[2], k = i[1] * of + i[3];
      const Dims at =
          back ? with_spatial(c, i[3], tap) : with_spatial(k, i[2], tap);
      const double factor = w[place(weight.sizes(), at)];
      const double* source = x.data() + (n * input.size(1) + c) * from_plane;
      double* target = out.data() + (n * params.output[1] + k) * to_plane;
      for (const auto& [to, from] : pairs) target[to] += factor * source[from];
    });
  });
  if (!bias.defined()) return out;
  const std::vector<double> added = doubles(bias);
  for_each_index(params.output, [&](const Dims& index) {
    out[place(params.output, index)] += added[static_cast<size_t>(index[1])];
  });
  return out;
}

double relative_error(const Tensor& result,
                      const std::vector<double>& expected) {
  const std::vector<double> got = doubles(result);
  if (got.size() != expected.size()) return HUGE_VAL;
  double worst = 0, scale = 1e-30;
  for (size_t i = 0; i < got.size(); ++i) {
    const double a = got[i], b = expected[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!std::isfinite(a) || !std::isfinite(b)) return HUGE_VAL;
    worst = std::max(worst, std::abs(a - b));
  }
  for (double b : expected)
    if (std::isfinite(b)) scale = std::max(scale, std::abs(b));
  return worst / scale;
}

std::vector<Value> bound_args(const char* op, const ValueList& args) {
  return ops::bind(ops::get_op(op), args, {});
}

int32_t run_kernel(const program::ExternCode& kernel,
                   const std::vector<Tensor>& operands) {
  const support::GuardedBytes scratch(
      support::round_up(kernel.scratch_bytes(), size_t{64}));
  const std::span<std::byte> result = bytes_of(operands.back());
  const std::vector<std::byte> before(result.begin(), result.end());
  std::vector<std::byte> results[2];
  int32_t status = program::kOk;
  for (Tight tight : {Tight::begin, Tight::end}) {
    std::copy(before.begin(), before.end(), result.begin());
    const GuardedTensors copies(operands, tight);
    const program::StepCall call{copies.addresses(), scratch.data(), &status};
    for (int64_t i = 0; i < kernel.tasks(); ++i) kernel.run(call, i, i + 1);
    copies.take_result();
    results[tight == Tight::end].assign(result.begin(), result.end());
  }
  EXPECT_TRUE(results[0] == results[1]) << "differs by where operands lie";
  return status;
}

std::shared_ptr<const program::ExternCode> make_call_code(
    const CallRequest& request, int threads) {
  const program::CallCode code =
      program::call_code_of({request.op, request.args}, request.results);
  if (request.packer) return kernels::make_call_code(code, request, threads);
  // What is packed outlives the store.
  weights::Store store(request.level);
  weights::Packer packer(store, support::ThreadPool::shared(), threads);
  CallRequest packing = request;
  packing.packer = &packer;
  return kernels::make_call_code(code, packing, threads);
}

}  // namespace fxjit::kernels::testing
