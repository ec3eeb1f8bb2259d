#include "kernels/copies/run_copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/routines.h"

namespace fxjit::kernels {
namespace {

// Runs of kRun floats from places of `from`, one after the other.
template <int kRun>
void copy(const float* from, const int32_t* places, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * kRun, from + places[i], kRun * sizeof(float));
}

// The places of a chunk's runs, in order.
std::vector<int32_t> places_of(const program::ShortRuns& runs) {
  std::vector<int32_t> places;
  for (int64_t i = 0; i < runs.chunk; ++i)
    places.push_back(static_cast<int32_t>(i * runs.split_stride));
  const int last = runs.entry_sizes.size() - (runs.run > 1 ? 1 : 0);
  for (int d = 0; d < last; ++d) {
    std::vector<int32_t> next;
    for (int32_t place : places)
      for (int64_t i = 0; i < runs.entry_sizes[d]; ++i)
        next.push_back(place + static_cast<int32_t>(i * runs.entry_strides[d]));
    places = std::move(next);
  }
  return places;
}

class CopyRoutine : public program::ExternCode {
 public:
  explicit CopyRoutine(RunCopy copy) : copy_(std::move(copy)) {
    constexpr int64_t kPiece = 16 << 10, kMostPieces = 16;
    pieces_ = std::clamp<int64_t>(copy_.elements() / kPiece, 1, kMostPieces);
    pieces_ = std::min(pieces_, copy_.blocks());
  }

  int64_t tasks() const override { return pieces_; }
  std::string describe() const override { return "copy of short runs"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }
  void run(const program::StepCall& call, int64_t begin,
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

RunCopy::RunCopy(const program::ShortRuns& runs)
    : runs_(runs), entry_(runs.entry()), places_(places_of(runs)) {}

void RunCopy::run(const float* in, float* out, int64_t begin,
                  int64_t end) const {
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block % chunks() * runs_.chunk;
    int64_t row = block / chunks();
    float* to = out + (row * runs_.split_size + first) * entry_;
    const float* from = in + first * runs_.split_stride;
    for (int d = runs_.outer_sizes.size() - 1; d >= 0; --d) {
      from += row % runs_.outer_sizes[d] * runs_.outer_strides[d];
      row /= runs_.outer_sizes[d];
    }
    const int64_t count =
        std::min(runs_.chunk, runs_.split_size - first) * entry_ / runs_.run;
    switch (runs_.run) {
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

std::shared_ptr<const program::ExternCode> make_copy_routine(
    const CallRequest& request) {
  const Tensor& in = request.args[0].as_tensor();
  const auto runs = program::short_runs(in.sizes(), in.strides());
  FXJIT_CHECK(runs, "the planner asked for a copy of short runs");
  return std::make_shared<CopyRoutine>(RunCopy(*runs));
}

}  // namespace fxjit::kernels
