// Max and average pooling in plain C++, vectorised for the machine's level, for
// the interpreter and for compiled programs. It follows torch's rules for NaN,
// infinities, ceil_mode and padding, which oneDNN's pooling does not, and needs
// no generated code.
#pragma once

#include <vector>

#include "kernels/pooling/pool_block.h"
#include "src/ops/eager/pooling.h"

namespace fxjit::kernels {

// One spatial dim (depth, height, width); missing dims have size 1.
struct PoolAxis {
  int64_t size = 1, stride = 1;  // Of the input.
  int64_t dilation = 1;
  std::vector<PoolWindow> windows{PoolWindow{0, 1, 1}};

  int64_t places() const { return static_cast<int64_t>(windows.size()); }
};

// Reads the spatial dims. For averages all divisors are in the windows.
void read_pool_axes(const ops::PoolParams& params, const Tensor& input,
                    PoolAxis (&axes)[3]);

class Pooling {
 public:
  // For pooling of which program::is_float_pool() is true. `input` may be meta
  // and have any strides; results are contiguous.
  Pooling(const ops::PoolParams& params, const Tensor& input);

  // The number of parts that can be computed side by side. A part is 16
  // channels of a band of rows.
  int64_t parts() const { return images_ * channel_blocks_ * bands_; }
  double elements_per_part() const;
  size_t scratch_bytes() const;

  // Computes parts [begin, end).
  void run(const void* input, void* output, std::byte* scratch, int64_t begin,
           int64_t end) const;

 private:
  // The windows of a part along the height, and the rows of the input that they
  // see.
  struct Band {
    int64_t first_window = 0, windows = 0;
    int64_t first_row = 0, rows = 0;
  };

  void choose_bands();
  Band band_at(int64_t index) const;
  int64_t band_elements() const;  // Of the input, one channel.
  int64_t band_results() const;
  int64_t plane_results() const;
  void load(const std::byte* planes, int64_t channels, const Band& band,
            float* block) const;
  void store(const float* block, int64_t channels, const Band& band,
             std::byte* planes) const;

  DType dtype_;
  bool average_;
  PoolAxis axes_[3];
  int64_t images_, channels_, channel_blocks_;
  int64_t image_stride_, channel_stride_;
  bool planes_in_order_;  // Each plane is one run of memory.
  int64_t bands_ = 1, rows_per_band_ = 1;
};

// A part of the ops::Backend.
bool eager_pool(const ops::PoolParams& params, const Tensor& input,
                const Tensor& out);

}  // namespace fxjit::kernels
