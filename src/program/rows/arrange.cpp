#include "src/program/rows/arrange.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "src/program/rows/lane_memory.h"
#include "src/program/rows/lanes.h"
#include "src/program/rows/step.h"
#include "src/program/steps/loop_dims.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"

namespace fxjit::program {
namespace {

constexpr int64_t kLeastElements = 4096;
// Groups of longer rows would not stay in the second-level cache.
constexpr int64_t kLongestRow = 2048;

std::vector<Access*> accesses_of(RowStep& step) {
  std::vector<Access*> all;
  for (Access& access : step.inputs) all.push_back(&access);
  for (Access& access : step.outputs) all.push_back(&access);
  return all;
}

bool has_dense_row(const Access& access) {
  return access.inner == 0 || access.inner == 1;
}

// Whether each element of a row has a cache line of its own, and all of them
// are more than the first-level cache holds anyway.
bool lies_apart(const RowStep& step, const Access& access) {
  const auto bytes = static_cast<int64_t>(dtype_size(access.dtype));
  if (access.inner * bytes < support::kCacheLine) return false;
  int64_t elements = step.inner;
  for (int d = 0; d < step.outer.size(); ++d)
    if (access.outer[d] != 0) elements *= step.outer[d];
  return elements >= kLeastElements;
}

bool suits(RowStep& step, int lanes) {
  if (step.inner * 2 < lanes) return false;
  bool crosswise = false;
  for (const Access* access : accesses_of(step)) {
    if (has_dense_row(*access)) continue;
    if (!lies_crosswise(*access)) return false;
    crosswise = true;
  }
  return crosswise && has_neighbours(step);
}

// The step with its dims, of which the inner one is last, in another order.
RowStep in_order(const RowStep& step, const std::vector<int>& order) {
  RowStep made = step;
  LoopDims dims;
  const std::vector<Access*> all = accesses_of(made);
  dims.strides.resize(all.size());
  const int outer = step.outer.size();
  for (int from : order) {
    dims.sizes.push_back(from == outer ? Size(step.inner) : step.outer[from]);
    for (size_t i = 0; i < all.size(); ++i)
      dims.strides[i].push_back(from == outer ? Size(all[i]->inner)
                                              : all[i]->outer[from]);
  }
  const LoopDims joined = join_dims(sub_dims(dims, 0, outer));
  made.outer = joined.sizes;
  made.inner = dims.sizes[outer];
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->outer = joined.strides[i];
    all[i]->inner = dims.strides[i][outer];
  }
  return made;
}

// The step with rows along `inner`, and with outer dims from the widest stride
// of `operand` to the narrowest; none if that does not suit it.
std::optional<RowStep> arranged(const RowStep& step, size_t operand, int inner,
                                int lanes) {
  RowStep made = step;
  const Access& leader = *accesses_of(made)[operand];
  const int outer = step.outer.size();
  const auto stride = [&](int dim) -> int64_t {
    return dim == outer ? Size(leader.inner) : leader.outer[dim];
  };
  std::vector<int> order(static_cast<size_t>(outer) + 1);
  std::iota(order.begin(), order.end(), 0);
  std::erase(order, inner);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return stride(a) > stride(b); });
  order.push_back(inner);
  made = in_order(step, order);
  return suits(made, lanes) ? std::optional(std::move(made)) : std::nullopt;
}

// Whether rows are too short to be turned, and their neighbours, which lie side
// by side in what is read, are many: planes that become the few channels of an
// image, say.
bool has_short_rows(const RowStep& step, int lanes) {
  constexpr int64_t kLeastNeighbours = 64;
  if (has_reduction(step.body) || has_index(step.body) || step.inner <= 1 ||
      step.inner * 2 >= lanes || step.outer.empty() ||
      step.outer.back() < kLeastNeighbours)
    return false;
  const auto gathers = [](const Access& a) { return a.gather_slot >= 0; };
  return std::ranges::none_of(step.inputs, gathers) &&
         std::ranges::none_of(step.outputs, gathers) &&
         std::ranges::any_of(step.inputs, lies_crosswise);
}

// The step with rows along the last outer dim.
RowStep along_neighbours(const RowStep& step) {
  const int outer = step.outer.size();
  std::vector<int> order(static_cast<size_t>(outer) + 1);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 2], order.back());
  return in_order(step, order);
}

// Dims that may be those of the rows, the best first: the present one, then
// others by their size.
std::vector<int> rows_along(const RowStep& step) {
  const int outer = step.outer.size();
  std::vector<int> dims{outer};
  if (has_reduction(step.body)) return dims;
  for (int d = 0; d < outer; ++d)
    if (step.outer[d] <= kLongestRow) dims.push_back(d);
  std::stable_sort(dims.begin() + 1, dims.end(),
                   [&](int a, int b) { return step.outer[a] > step.outer[b]; });
  return dims;
}

bool may_change(RowStep& step, int lanes, SecondLevel second) {
  if (step.outer.size() < 2 || step.inner > kLongestRow || has_index(step.body))
    return false;
  bool apart = false;
  for (const Access* access : accesses_of(step)) {
    if (access->gather_slot >= 0) return false;
    apart = apart || lies_apart(step, *access);
  }
  return apart && !suits(step, lanes) &&
         lane_group(step, lanes, second).empty();
}

}  // namespace

void arrange_dims(RowStep& step, const Machine& machine) {
  const int lanes = support::vector_lanes(machine.level);
  if (has_short_rows(step, lanes)) {
    step = along_neighbours(step);
    return;
  }
  if (!may_change(step, lanes, second_level(machine.cache_bytes))) return;
  const size_t operands = step.inputs.size() + step.outputs.size();
  for (int inner : rows_along(step))
    for (size_t i = 0; i < operands; ++i)
      if (std::optional<RowStep> made = arranged(step, i, inner, lanes)) {
        step = *std::move(made);
        return;
      }
}

}  // namespace fxjit::program
