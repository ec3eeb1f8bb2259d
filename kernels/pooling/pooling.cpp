#include "kernels/pooling/pooling.h"

#include <algorithm>

#include "fxjit/thread_pool.h"
#include "kernels/copies/plane_copy.h"
#include "kernels/thread_scratch.h"
#include "src/program/planning/call_code_rules.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels {
namespace {

constexpr int64_t kChannels = PoolBlock::kChannels;
// Floats of a block of channels that leave room for results in the cache.
constexpr int64_t kBandFloats = 48 << 10;
// Elements that pay for another thread: some 10 us.
constexpr double kElementsPerThread = 128 << 10;

template <typename Fn>
void visit_float(DType dtype, Fn&& fn) {
  if (dtype == DType::f16)
    fn(std::type_identity<Half>{});
  else if (dtype == DType::bf16)
    fn(std::type_identity<BFloat16>{});
  else
    fn(std::type_identity<float>{});
}

void read_pool_axis(const ops::PoolParams& params, int i, PoolAxis& axis) {
  const int64_t kernel = params.kernel[i], pad = params.padding[i];
  axis.dilation = params.average ? Size(1) : params.dilation[i];
  axis.windows.clear();
  for (int64_t place = 0; place < params.output[2 + i]; ++place) {
    const int64_t begin = place * params.stride[i] - pad;
    int64_t first = 0, last = kernel;
    while (first < last && begin + first * axis.dilation < 0) ++first;
    while (first < last && begin + (last - 1) * axis.dilation >= axis.size)
      --last;
    PoolWindow window{begin + first * axis.dilation, last - first, 1};
    const int64_t padded = std::min(begin + kernel, axis.size + pad) - begin;
    const int64_t counted = params.count_include_pad ? padded : window.count;
    // A window outside the plane sums to nothing, whatever its size.
    if (params.average && params.divisor == 0)
      window.divisor = static_cast<float>(std::max<int64_t>(counted, 1));
    if (window.count == 0) window.first = 0;
    axis.windows.push_back(window);
  }
}

}  // namespace

void read_pool_axes(const ops::PoolParams& params, const Tensor& input,
                    PoolAxis (&axes)[3]) {
  const int first = params.batched ? 2 : 1;
  for (int i = 0; i < params.spatial; ++i) {
    PoolAxis& axis = axes[3 - params.spatial + i];
    axis.size = input.sizes()[first + i];
    axis.stride = input.strides()[first + i];
    read_pool_axis(params, i, axis);
  }
  // A fixed divisor stands in for the windows' sizes.
  if (params.average && params.divisor != 0)
    for (PoolWindow& window : axes[2].windows)
      window.divisor = static_cast<float>(params.divisor);
}

Pooling::Pooling(const ops::PoolParams& params, const Tensor& input)
    : dtype_(input.dtype()),
      average_(params.average),
      images_(params.output[0]),
      channels_(params.output[1]),
      channel_blocks_((channels_ + kChannels - 1) / kChannels) {
  image_stride_ = params.batched ? input.strides()[0] : Size(0);
  channel_stride_ = input.strides()[params.batched ? 1 : 0];
  read_pool_axes(params, input, axes_);
  int64_t next = 1;
  planes_in_order_ = true;
  for (int d = 2; d >= 0; --d) {
    if (axes_[d].size != 1 && axes_[d].stride != next) planes_in_order_ = false;
    next *= axes_[d].size;
  }
  choose_bands();
}

void Pooling::choose_bands() {
  rows_per_band_ = axes_[1].places();
  if (axes_[0].size != 1) return;
  const int64_t floats = axes_[1].size * axes_[2].size * kChannels;
  const int64_t wanted = (floats + kBandFloats - 1) / kBandFloats;
  const int64_t places = std::max<int64_t>(1, axes_[1].places());
  rows_per_band_ = (places + wanted - 1) / wanted;
  bands_ = (places + rows_per_band_ - 1) / rows_per_band_;
}

Pooling::Band Pooling::band_at(int64_t index) const {
  const PoolAxis& height = axes_[1];
  Band band;
  band.first_window = index * rows_per_band_;
  band.windows = std::min(rows_per_band_, height.places() - band.first_window);
  int64_t first = height.size, last = 0;
  for (int64_t i = 0; i < band.windows; ++i) {
    const PoolWindow& window =
        height.windows[static_cast<size_t>(band.first_window + i)];
    if (window.count == 0) continue;
    first = std::min(first, window.first);
    last =
        std::max(last, window.first + (window.count - 1) * height.dilation + 1);
  }
  band.first_row = std::min(first, last);
  band.rows = last - band.first_row;
  return band;
}

int64_t Pooling::band_elements() const {
  int64_t rows = 0;
  for (int64_t i = 0; i < bands_; ++i) rows = std::max(rows, band_at(i).rows);
  return axes_[0].size * rows * axes_[2].size;
}

int64_t Pooling::band_results() const {
  return axes_[0].places() * rows_per_band_ * axes_[2].places();
}

int64_t Pooling::plane_results() const {
  return axes_[0].places() * axes_[1].places() * axes_[2].places();
}

double Pooling::elements_per_part() const {
  return static_cast<double>((band_elements() + band_results()) *
                             std::min(channels_, kChannels));
}

size_t Pooling::scratch_bytes() const {
  return static_cast<size_t>((band_elements() + band_results()) * kChannels) *
         sizeof(float);
}

// Rows of the band of `channels` planes, channels side by side.
void Pooling::load(const std::byte* planes, int64_t channels, const Band& band,
                   float* block) const {
  const PoolAxis &depth = axes_[0], &height = axes_[1], &width = axes_[2];
  const int64_t first = band.first_row * height.stride;
  const bool whole = depth.size == 1 || band.rows == height.size;
  if (planes_in_order_ && whole && dtype_ == DType::f32) {
    const int64_t places = depth.size * band.rows * width.size;
    PlaneCopy copy{1, channels, places, 0, channel_stride_, true};
    copy.to_inner(reinterpret_cast<const float*>(planes) + first, block);
    return;
  }
  visit_float(dtype_, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* from = reinterpret_cast<const T*>(planes) + first;
    for (int64_t d = 0; d < depth.size; ++d)
      for (int64_t h = 0; h < band.rows; ++h)
        for (int64_t w = 0; w < width.size; ++w, block += kChannels)
          for (int64_t c = 0; c < channels; ++c)
            block[c] = static_cast<float>(
                from[d * depth.stride + h * height.stride + w * width.stride +
                     c * channel_stride_]);
  });
}

void Pooling::store(const float* block, int64_t channels, const Band& band,
                    std::byte* planes) const {
  const int64_t first = band.first_window * axes_[2].places();
  const int64_t places = axes_[0].places() * band.windows * axes_[2].places();
  if (dtype_ == DType::f32) {
    PlaneCopy copy{1, channels, places, 0, plane_results(), true};
    copy.to_planes(block, reinterpret_cast<float*>(planes) + first);
    return;
  }
  visit_float(dtype_, [&](auto type) {
    using T = typename decltype(type)::type;
    T* to = reinterpret_cast<T*>(planes) + first;
    for (int64_t c = 0; c < channels; ++c, to += plane_results())
      for (int64_t i = 0; i < places; ++i)
        to[i] = static_cast<T>(block[i * kChannels + c]);
  });
}

void Pooling::run(const void* input, void* output, std::byte* scratch,
                  int64_t begin, int64_t end) const {
  auto* block = reinterpret_cast<float*>(scratch);
  float* results = block + band_elements() * kChannels;
  const auto item = static_cast<int64_t>(dtype_size(dtype_));
  PoolBlock job;
  job.average = average_;
  for (int64_t i = begin; i < end; ++i) {
    const Band band = band_at(i % bands_);
    const int64_t image = i / bands_ / channel_blocks_;
    const int64_t channel = i / bands_ % channel_blocks_ * kChannels;
    const int64_t channels = std::min(kChannels, channels_ - channel);
    load(static_cast<const std::byte*>(input) +
             (image * image_stride_ + channel * channel_stride_) * item,
         channels, band, block);
    const int64_t steps[3] = {band.rows * axes_[2].size, axes_[2].size, 1};
    for (int d = 0; d < 3; ++d) {
      job.windows[d] = axes_[d].windows.data();
      job.window_count[d] = axes_[d].places();
      job.position_step[d] = steps[d] * kChannels;
      job.tap_step[d] = job.position_step[d] * axes_[d].dilation;
    }
    job.windows[1] += band.first_window;
    job.window_count[1] = band.windows;
    job.input = block - band.first_row * job.position_step[1];
    job.output = results;
    pool_block(job);
    store(results, channels, band,
          static_cast<std::byte*>(output) +
              (image * channels_ + channel) * plane_results() * item);
  }
}

bool eager_pool(const ops::PoolParams& params, const Tensor& input,
                const Tensor& out) {
  if (!program::is_float_pool(params, input.dtype()) || out.numel() == 0)
    return false;
  // The eager functions always give the batch dim.
  ops::PoolParams batched = params;
  batched.batched = true;
  const Pooling pooling(batched, input);
  const double work =
      pooling.elements_per_part() * static_cast<double>(pooling.parts());
  support::ThreadPool& pool = support::ThreadPool::shared();
  const auto threads = static_cast<int>(std::clamp(
      work / kElementsPerThread, 1.0, static_cast<double>(pool.size())));
  pool.parallel_for(
      pooling.parts(),
      [&](int64_t begin, int64_t end, int) {
        pooling.run(input.data(), out.data(),
                    thread_scratch(pooling.scratch_bytes()), begin, end);
      },
      threads, (pooling.parts() + threads - 1) / threads);
  return true;
}

}  // namespace fxjit::kernels
