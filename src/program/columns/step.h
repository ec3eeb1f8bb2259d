// The step of columns: reductions over other dims than the innermost.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/columns/form.h"
#include "src/program/steps/skeleton.h"

namespace fxjit::program {

// For each point of `outer` and each element of `inner` (contiguous where it
// pays), reductions of the body run over the points of `reduce`; instructions
// that depend on a reduction run once per element afterwards. All reductions
// are of the first level: none depends on another.
struct ColumnStep : Loops {
  ScalarBody body;
  int64_t block = 1;  // Columns of a task, at most.

  using Form = ColumnForm;
  static constexpr const char* kName = "columns";
  static constexpr bool kWritesAnywhere = true;

  size_t written() const { return outputs.size(); }
  void analyse(const Machine& machine) {
    block = column_block(body, machine.level);
  }
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const;
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const ColumnStep&, const ColumnStep&) = default;
};

template <typename V>
void fields(Is<ColumnStep> auto& s, V& v) {
  v("outer", s.outer), v("reduce", s.reduce), v("inner", s.inner);
  v("inputs", s.inputs), v("outputs", s.outputs), v("body", s.body);
  v("block", s.block);
}

}  // namespace fxjit::program
