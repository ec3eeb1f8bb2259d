#include "kernels/run_copy.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fxjit::kernels {
namespace {

// Runs of kRun floats from places of `from`, one after the other.
template <int kRun>
void copy(const float* from, const int32_t* places, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * kRun, from + places[i], kRun * sizeof(float));
}

// Rows of the result that fill vectors are left to generated code, which also
// does well where another dim lies innermost.
constexpr int64_t kLongRow = 16;
// Elements of a block: their places stay in the first-level cache.
constexpr int64_t kBlock = 4096;

// Dims of one element dropped, those that step evenly joined.
void join(Dims& sizes, Dims& strides) {
  Dims joined_sizes, joined_strides;
  for (int d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const int last = joined_sizes.size() - 1;
    if (last >= 0 && joined_strides[last] == strides[d] * sizes[d]) {
      joined_sizes[last] *= sizes[d];
      joined_strides[last] = strides[d];
      continue;
    }
    joined_sizes.push_back(sizes[d]);
    joined_strides.push_back(strides[d]);
  }
  sizes = joined_sizes;
  strides = joined_strides;
}

int run_of(int64_t size) {
  return size == 2 || size == 4 || size == 8 ? static_cast<int>(size) : 1;
}

// Of dims [first, last), in order.
std::vector<int64_t> places_of(const Dims& sizes, const Dims& strides,
                               int first, int last) {
  std::vector<int64_t> places = {0};
  for (int d = first; d < last; ++d) {
    std::vector<int64_t> next;
    for (int64_t place : places)
      for (int64_t i = 0; i < sizes[d]; ++i)
        next.push_back(place + i * strides[d]);
    places = std::move(next);
  }
  return places;
}

class CopyKernel : public program::ExternKernel {
 public:
  explicit CopyKernel(RunCopy copy) : copy_(std::move(copy)) {
    constexpr int64_t kPiece = 16 << 10, kMostPieces = 16;
    pieces_ = std::clamp<int64_t>(copy_.elements() / kPiece, 1, kMostPieces);
    pieces_ = std::min(pieces_, copy_.blocks());
  }

  int64_t tasks() const override { return pieces_; }
  std::string describe() const override { return "copy of short runs"; }
  ComputedBy computed_by() const override {
    return ComputedBy::routine;
  }
  void run(const program::KernelCall& call, int64_t begin,
           int64_t end) const override {
    copy_.run(static_cast<const float*>(call.operands[0]),
              static_cast<float*>(call.operands[1]),
              begin * copy_.blocks() / pieces_, end * copy_.blocks() / pieces_);
  }

 private:
  RunCopy copy_;
  int64_t pieces_ = 1;
};

}  // namespace

std::optional<RunCopy> RunCopy::make(const Dims& all_sizes,
                                     const Dims& all_strides) {
  Dims sizes = all_sizes, strides = all_strides;
  if (numel(sizes) == 0) return std::nullopt;
  join(sizes, strides);
  if (sizes.size() < 2 || sizes.back() >= kLongRow || strides.back() != 1)
    return std::nullopt;
  RunCopy copy;
  int split = sizes.size() - 1;
  while (split > 0 && copy.entry_ * sizes[split] <= kBlock)
    copy.entry_ *= sizes[split--];
  copy.run_ = run_of(sizes.back());
  copy.split_size_ = sizes[split];
  copy.split_stride_ = strides[split];
  copy.chunk_ = std::clamp<int64_t>(kBlock / copy.entry_, 1, sizes[split]);
  for (int d = 0; d < split; ++d) {
    copy.outer_sizes_.push_back(sizes[d]);
    copy.outer_strides_.push_back(strides[d]);
  }
  Dims chunk = sizes;
  chunk[split] = copy.chunk_;
  const int last = sizes.size() - (copy.run_ > 1 ? 1 : 0);
  for (int64_t place : places_of(chunk, strides, split, last)) {
    if (place > std::numeric_limits<int32_t>::max()) return std::nullopt;
    copy.places_.push_back(static_cast<int32_t>(place));
  }
  return copy;
}

void RunCopy::run(const float* in, float* out, int64_t begin,
                  int64_t end) const {
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block % chunks() * chunk_;
    int64_t row = block / chunks();
    float* to = out + (row * split_size_ + first) * entry_;
    const float* from = in + first * split_stride_;
    for (int d = outer_sizes_.size() - 1; d >= 0; --d) {
      from += row % outer_sizes_[d] * outer_strides_[d];
      row /= outer_sizes_[d];
    }
    const int64_t count = std::min(chunk_, split_size_ - first) * entry_ / run_;
    switch (run_) {
      case 2:
        copy<2>(from, places_.data(), count, to);
        break;
      case 4:
        copy<4>(from, places_.data(), count, to);
        break;
      case 8:
        copy<8>(from, places_.data(), count, to);
        break;
      default:
        copy<1>(from, places_.data(), count, to);
    }
  }
}

std::shared_ptr<const program::ExternKernel> make_copy_kernel(
    const program::KernelRequest& request) {
  const Tensor& in = request.args[0].as_tensor();
  const Tensor& out = request.results[0].as_tensor();
  if (in.item_size() != sizeof(float) || in.dtype() != out.dtype() ||
      !out.is_contiguous())
    return nullptr;
  std::optional<RunCopy> copy = RunCopy::make(in.sizes(), in.strides());
  if (!copy) return nullptr;
  return std::make_shared<CopyKernel>(std::move(*copy));
}

}  // namespace fxjit::kernels
