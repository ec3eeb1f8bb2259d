#include "src/compile/written_inputs.h"

#include <algorithm>

#include "src/support/memory/small_array.h"

namespace fxjit {
namespace {

struct InputBytes {
  Bytes bytes;
  bool written = false;
};

constexpr size_t kFewInputs = 16;

// Whether a range that is written meets another; they are in order.
bool meet(std::span<const InputBytes> sorted) {
  const std::byte *end = nullptr, *written_end = nullptr;
  for (const auto& [bytes, written] : sorted) {
    if (bytes.begin < (written ? end : written_end)) return true;
    end = std::max(end, bytes.end);
    if (written) written_end = std::max(written_end, bytes.end);
  }
  return false;
}

}  // namespace

WrittenInputs::WrittenInputs(const program::Program& program,
                             const std::vector<Tensor>& constants) {
  if (program.written.empty()) return;
  written_.resize(program.inputs.size());
  for (const int32_t input : program.written)
    written_[static_cast<size_t>(input)] = true;
  std::vector<Bytes> all;
  for (const Tensor& constant : constants)
    if (constant.numel() > 0) all.push_back(bytes_of(constant));
  std::sort(all.begin(), all.end(), [](const Bytes& a, const Bytes& b) {
    return a.begin < b.begin;
  });
  for (const Bytes& bytes : all)
    if (!constants_.empty() && bytes.begin < constants_.back().end)
      constants_.back().end = std::max(constants_.back().end, bytes.end);
    else
      constants_.push_back(bytes);
}

bool WrittenInputs::are_apart(std::span<const Tensor* const> inputs) const {
  if (written_.empty()) return true;
  support::SmallArray<InputBytes, kFewInputs> ranges(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ranges[i] = {bytes_of(*inputs[i]), written_[i]};
    if (written_[i] && (inputs[i]->storage()->read_only() ||
                        meets_constant(ranges[i].bytes)))
      return false;
  }
  const std::span<InputBytes> sorted(ranges.data(), ranges.size());
  std::sort(sorted.begin(), sorted.end(),
            [](const InputBytes& a, const InputBytes& b) {
              return a.bytes.begin < b.bytes.begin;
            });
  return !meet(sorted);
}

bool WrittenInputs::meets_constant(const Bytes& bytes) const {
  const auto behind =
      std::lower_bound(constants_.begin(), constants_.end(), bytes.end,
                       [](const Bytes& constant, const std::byte* end) {
                         return constant.begin < end;
                       });
  return behind != constants_.begin() && std::prev(behind)->end > bytes.begin;
}

}  // namespace fxjit
