// The program of a graph for one tuple of sizes, made in both ways: from the
// numbers, and from the graph of a kind, which has names, at these numbers.
// They have to be equal. Inputs are meta tensors: nothing is run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "src/compile/size_kinds.h"
#include "src/program/planning/planner.h"

namespace fxjit::testing_sizes {

// Values of a naming's names, in order.
using Names = std::vector<int64_t>;

class BothWays {
 public:
  // `inputs` are dense, one for each placeholder. The module outlives this.
  BothWays(const fx::GraphModule& module, const ValueList& inputs,
           SizeNaming naming, program::PlanOptions options);

  const SizeNaming& naming() const { return naming_; }
  Names present() const { return naming_.values(inputs_.sizes); }

  // Nothing if the graph refuses these sizes or ends at a call that is not
  // compiled.
  std::optional<program::Plan> of_numbers(const Names& at);
  // The kind that a first call of these sizes makes. Throws what the trace
  // with names throws.
  std::unique_ptr<passes::NamedGraph> kind(const Names& at);
  // Nothing if the sizes are of another kind.
  std::optional<program::Plan> of_kind(passes::NamedGraph& kind,
                                       const Names& at);

 private:
  std::vector<int64_t> sizes_at(const Names& at) const;

  const fx::GraphModule& module_;
  const ValueList values_;
  const SizeNaming naming_;
  SizedInputs inputs_;
  program::PlanOptions options_;
};

// How a machine of `level` plans on so many threads.
program::PlanOptions plan_options(CpuLevel level, int threads,
                                  bool strict_sums);

// What tells two plans apart; empty if they are equal, constants included.
std::string difference(const program::Plan& got, const program::Plan& expected);

// How much of a property was seen.
struct Seen {
  int tuples = 0;   // Programs of the kind that were compared.
  int refused = 0;  // Tuples of another kind, compared with that one.
  int guards = 0, broken = 0;  // All, and those that a tuple alone broke.
};

// Compares both ways at the kind's own sizes, on both sides of its guards and
// at some others, `most` tuples in all, whose sizes grow by at most `growth`
// together. Empty if all are equal. Graphs that end at a call that is not
// compiled are left out.
std::string compare(BothWays& ways, int most, double growth, uint32_t seed,
                    Seen& seen);

}  // namespace fxjit::testing_sizes
