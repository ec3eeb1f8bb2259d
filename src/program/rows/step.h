// The step of rows: elementwise work, reductions along rows, gathers.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/rows/form.h"
#include "src/program/steps/skeleton.h"

namespace fxjit::program {

// For each point of `outer`, a row of `inner` elements. Reductions of the body
// run over the row. A result that is constant along the row may have an output
// access with inner stride 0 and is written once. Operands: inputs by slot,
// then outputs. With no outer dims and no reductions the row itself is split
// among tasks.
struct RowStep : Loops {  // Nothing is reduced but rows.
  ScalarBody body;
  // The order of a row's sums does not depend on how many rows there are.
  bool strict = false;
  // One thread does it all: nothing is cut for others.
  bool serial = false;
  // Instructions that are of a softmax (RowSchedule::softmax) although the body
  // alone does not show it.
  std::vector<int32_t> softmax;
  RowCode code;

  using Form = RowForm;
  static constexpr const char* kName = "rows";
  static constexpr bool kWritesAnywhere = true;

  size_t written() const { return outputs.size(); }
  // Rewrites the body, too.
  void analyse(const Machine& machine);
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const;
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const RowStep&, const RowStep&) = default;
};

template <typename V>
void fields(Is<RowStep> auto& s, V& v) {
  v("outer", s.outer), v("inner", s.inner), v("inputs", s.inputs);
  v("outputs", s.outputs), v("body", s.body), v("strict", s.strict);
  v("serial", s.serial), v("softmax", s.softmax), v("code", s.code);
}

// A step without outer dims and reductions: the row is cut into chunks of this
// many elements, a multiple of every vector width.
inline constexpr int64_t kFlatChunk = 2048;
bool is_flat(const RowStep& step);

}  // namespace fxjit::program
