#include "src/program/planning/builder.h"
#include "src/program/rows/code.h"

namespace fxjit::program {
namespace {

// A group of 16 such rows is 32 KiB of f32.
constexpr int64_t kLongRow = 512;
constexpr int64_t kShortestPiece = 64;

template <typename Fn>
bool any_access(RowStep& step, Fn fn) {
  bool any = false;
  for (Access& access : step.inputs) any |= fn(access);
  for (Access& access : step.outputs) any |= fn(access);
  return any;
}

// The longest piece that divides the row; 0 when there is none.
int64_t piece_of(int64_t row) {
  for (int64_t piece = kLongRow; piece >= kShortestPiece; --piece)
    if (row % piece == 0) return piece;
  return 0;
}

}  // namespace

void cut_long_rows(RowStep& step) {
  if (step.inner <= kLongRow || step.outer.empty() ||
      has_reduction(step.body) || has_index(step.body))
    return;
  if (any_access(step, [](Access& a) { return a.gather_slot >= 0; }) ||
      !any_access(step, lies_crosswise))
    return;
  const int64_t piece = piece_of(step.inner);
  if (piece == 0) return;
  // Neighbouring rows stay neighbours.
  const int at = step.outer.size() - 1;
  step.outer.insert(at, step.inner / piece);
  any_access(step, [&](Access& access) {
    access.outer.insert(at, access.inner * piece);
    return false;
  });
  step.inner = piece;
}

}  // namespace fxjit::program
