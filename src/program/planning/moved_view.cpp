#include "src/program/planning/moved_view.h"

#include <algorithm>
#include <vector>

namespace fxjit::program {
namespace {

// The dims of more than one element, those with the largest strides first.
std::vector<int> free_dims(const Tensor& val) {
  std::vector<int> dims;
  for (int d = 0; d < val.dim(); ++d)
    if (val.sizes()[d] > 1) dims.push_back(d);
  std::ranges::stable_sort(
      dims, [&](int a, int b) { return val.strides()[a] > val.strides()[b]; });
  return dims;
}

// A dim of a value, or neighbours that are one dim both where the value lies
// and where it is moved.
struct Axis {
  int64_t size, from, to;
};

// Nothing where two indices could meet.
std::optional<std::vector<Axis>> axes_of(const Tensor& val, const Dims& moved) {
  std::vector<Axis> axes;
  for (const int d : free_dims(val)) {
    const Axis axis{val.sizes()[d], val.strides()[d], moved[d]};
    if (axis.from < 1) return std::nullopt;
    const int64_t reach = axis.from * axis.size;
    if (axes.empty() || axes.back().from > reach ||
        (axes.back().from == reach && axes.back().to != axis.to * axis.size))
      axes.push_back(axis);
    else if (axes.back().from == reach)
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    else
      return std::nullopt;
  }
  return axes;
}

// Goes through the elements of a view, along one of its dims after the other.
class Mover {
 public:
  explicit Mover(std::vector<Axis> axes)
      : axes_(std::move(axes)), last_(axes_.size(), 0) {}

  // How far behind the first element of the moved value an element lies;
  // nothing for one outside of it.
  std::optional<int64_t> start(int64_t offset) {
    int64_t moved = 0;
    for (size_t i = 0; i < axes_.size(); ++i) {
      last_[i] = offset / axes_[i].from;
      offset -= last_[i] * axes_[i].from;
      moved += last_[i] * axes_[i].to;
      if (last_[i] >= axes_[i].size) return std::nullopt;
    }
    if (offset != 0) return std::nullopt;
    return moved;
  }

  // The stride along a dim that has this one; nothing where its elements lie
  // along more than one axis.
  std::optional<int64_t> stride(int64_t size, int64_t from) {
    if (from == 0) return 0;
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].from > from) continue;
      const int64_t step = from / axes_[i].from;
      last_[i] += (size - 1) * step;
      if (step * axes_[i].from != from || last_[i] >= axes_[i].size) break;
      return step * axes_[i].to;
    }
    return std::nullopt;
  }

 private:
  std::vector<Axis> axes_;
  std::vector<int64_t> last_;  // The last index along each that was reached.
};

}  // namespace

std::optional<MovedView> move_view(const Tensor& view, int64_t offset,
                                   const Tensor& val, const Dims& moved) {
  auto axes = axes_of(val, moved);
  if (!axes || offset < 0) return std::nullopt;
  Mover mover(*std::move(axes));
  const auto start = mover.start(offset);
  if (!start) return std::nullopt;
  Dims strides = view.strides();
  for (const int d : free_dims(view)) {
    const auto stride = mover.stride(view.sizes()[d], view.strides()[d]);
    if (!stride) return std::nullopt;
    strides[d] = *stride;
  }
  return MovedView{Tensor::meta(view.sizes(), view.dtype(), strides), *start};
}

bool leaves_order(const Tensor& val, const Dims& moved) {
  const std::vector<int> dims = free_dims(val);
  if (!dims.empty() && moved[dims.back()] != val.strides()[dims.back()])
    return false;
  return std::ranges::is_sorted(
      dims, [&](int a, int b) { return moved[a] > moved[b]; });
}

bool lies_as(const Tensor& val, const Tensor& dense) {
  for (int d = 0; d < dense.dim(); ++d)
    if (dense.sizes()[d] > 1 && val.strides()[d] != dense.strides()[d])
      return false;
  return true;
}

}  // namespace fxjit::program
