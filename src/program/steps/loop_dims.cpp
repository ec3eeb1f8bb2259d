#include "src/program/steps/loop_dims.h"

namespace fxjit::program {
namespace {

bool joins(const LoopDims& done, const LoopDims& dims, int d) {
  const int last = done.sizes.size() - 1;
  for (size_t i = 0; i < dims.strides.size(); ++i)
    if (done.strides[i][last] != dims.strides[i][d] * dims.sizes[d])
      return false;
  return true;
}

}  // namespace

LoopDims join_dims(const LoopDims& dims) {
  LoopDims done;
  done.strides.resize(dims.strides.size());
  for (int d = 0; d < dims.sizes.size(); ++d) {
    if (dims.sizes[d] == 1) continue;
    if (!done.sizes.empty() && joins(done, dims, d)) {
      const int last = done.sizes.size() - 1;
      done.sizes[last] *= dims.sizes[d];
      for (size_t i = 0; i < dims.strides.size(); ++i)
        done.strides[i][last] = dims.strides[i][d];
      continue;
    }
    done.sizes.push_back(dims.sizes[d]);
    for (size_t i = 0; i < dims.strides.size(); ++i)
      done.strides[i].push_back(dims.strides[i][d]);
  }
  return done;
}

LoopDims sub_dims(const LoopDims& dims, int first, int last) {
  LoopDims part;
  part.sizes = Dims(dims.sizes.span().subspan(first, last - first));
  for (const Dims& strides : dims.strides)
    part.strides.emplace_back(strides.span().subspan(first, last - first));
  return part;
}

}  // namespace fxjit::program
