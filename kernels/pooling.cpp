#include "kernels/pooling.h"

#include <algorithm>

#include "fxjit/thread_pool.h"
#include "kernels/pool_plane.h"
#include "kernels/thread_scratch.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels {
namespace {

// Elements read and written that pay for another thread: some 10 us.
constexpr double kElementsPerThread = 64 << 10;

template <typename T>
void widen(const std::byte* plane, const Pooling::Axis* axes, float* out) {
  const auto* from = reinterpret_cast<const T*>(plane);
  for (int64_t d = 0; d < axes[0].size; ++d)
    for (int64_t h = 0; h < axes[1].size; ++h) {
      const T* row = from + d * axes[0].input_stride + h * axes[1].input_stride;
      for (int64_t w = 0; w < axes[2].size; ++w)
        *out++ = static_cast<float>(row[w * axes[2].input_stride]);
    }
}

template <typename T>
void narrow(const float* from, int64_t count, void* out) {
  auto* to = static_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
}

}  // namespace

bool Pooling::supports(const ops::PoolParams& params, const Tensor& input) {
  return !params.indices && compute_dtype(input.dtype()) == DType::f32;
}

Pooling::Pooling(const ops::PoolParams& params, const Tensor& input)
    : dtype_(input.dtype()),
      average_(params.average),
      count_pad_(params.count_include_pad),
      divisor_(params.divisor),
      images_(params.output[0]),
      channels_(params.output[1]) {
  const int first = params.batched ? 2 : 1;
  image_stride_ = params.batched ? input.strides()[0] : 0;
  channel_stride_ = input.strides()[first - 1];
  for (int i = 0; i < params.spatial; ++i) {
    Axis& axis = axes_[3 - params.spatial + i];
    axis.size = input.sizes()[first + i];
    axis.places = params.output[2 + i];
    axis.kernel = params.kernel[i];
    axis.stride = params.stride[i];
    axis.pad = params.padding[i];
    axis.dilation = average_ ? 1 : params.dilation[i];
    axis.input_stride = input.strides()[first + i];
  }
  int64_t next = 1;
  in_place_ = dtype_ == DType::f32;
  for (int d = 2; d >= 0; --d) {
    if (axes_[d].size != 1 && axes_[d].input_stride != next) in_place_ = false;
    next *= axes_[d].size;
  }
}

int64_t Pooling::plane_elements() const {
  return axes_[0].size * axes_[1].size * axes_[2].size;
}

int64_t Pooling::output_elements() const {
  return axes_[0].places * axes_[1].places * axes_[2].places;
}

double Pooling::elements_per_plane() const {
  return static_cast<double>(plane_elements() + output_elements());
}

size_t Pooling::scratch_bytes() const {
  int64_t floats = axes_[2].reach() + axes_[2].places;
  if (!in_place_) floats += plane_elements();
  if (dtype_ != DType::f32) floats += output_elements();
  return static_cast<size_t>(floats) * sizeof(float);
}

const float* Pooling::load(const std::byte* plane, float* scratch) const {
  if (in_place_) return reinterpret_cast<const float*>(plane);
  if (dtype_ == DType::f32)
    widen<float>(plane, axes_, scratch);
  else if (dtype_ == DType::f16)
    widen<Half>(plane, axes_, scratch);
  else
    widen<BFloat16>(plane, axes_, scratch);
  return scratch;
}

void Pooling::run(const void* input, void* output, std::byte* scratch,
                  int64_t begin, int64_t end) const {
  PlaneJob job;
  job.axes = axes_;
  job.average = average_;
  job.count_pad = count_pad_;
  job.divisor = divisor_;
  job.row = reinterpret_cast<float*>(scratch);
  job.counts = job.row + axes_[2].reach();
  float* wide_output = job.counts + axes_[2].places;
  float* plane = wide_output;
  if (dtype_ != DType::f32) plane += output_elements();
  const auto item = static_cast<int64_t>(dtype_size(dtype_));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at =
        i / channels_ * image_stride_ + i % channels_ * channel_stride_;
    job.input = load(static_cast<const std::byte*>(input) + at * item, plane);
    void* out = static_cast<std::byte*>(output) + i * output_elements() * item;
    job.output = dtype_ == DType::f32 ? static_cast<float*>(out) : wide_output;
    pool_plane(job);
    if (dtype_ == DType::f16) narrow<Half>(wide_output, output_elements(), out);
    if (dtype_ == DType::bf16)
      narrow<BFloat16>(wide_output, output_elements(), out);
  }
}

bool eager_pool(const ops::PoolParams& params, const Tensor& input,
                const Tensor& out) {
  if (!Pooling::supports(params, input) || out.numel() == 0) return false;
  // The eager kernels always give the batch dim.
  ops::PoolParams batched = params;
  batched.batched = true;
  const Pooling pooling(batched, input);
  const double work =
      pooling.elements_per_plane() * static_cast<double>(pooling.planes());
  support::ThreadPool& pool = support::ThreadPool::shared();
  const auto threads = static_cast<int>(std::clamp(
      work / kElementsPerThread, 1.0, static_cast<double>(pool.size())));
  pool.parallel_for(
      pooling.planes(),
      [&](int64_t begin, int64_t end, int) {
        pooling.run(input.data(), out.data(),
                    thread_scratch(pooling.scratch_bytes()), begin, end);
      },
      threads, (pooling.planes() + threads - 1) / threads);
  return true;
}

}  // namespace fxjit::kernels
