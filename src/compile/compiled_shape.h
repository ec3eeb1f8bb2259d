// One compiled program of a module and what a call of it needs: the inputs that
// it serves, how outputs are made, what reports say. It computes the whole
// graph, or a part that ends at a node for the interpreter (staged_run.h).
// Immutable, and shared by all threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/fx/node.h"
#include "fxjit/report.h"
#include "src/compile/bodies.h"
#include "src/compile/written_inputs.h"
#include "src/program/running/executable.h"
#include "src/support/memory/block_pool.h"

namespace fxjit {

struct GraphSource;
struct ProgramInspection;

// The row of a report for a node between two parts: the call of an op whose
// result depends on data or a loop over programs, if `native`, else a node that
// the interpreter runs for `reason`.
StepReport step_between(const fx::Node& node, bool native, std::string reason);

// "float32[2, 3], 5"
std::string inputs_text(const ValueList& inputs);

class CompiledShape {
 public:
  struct Parts {
    // Owns the nodes below. A report may hold the program longer than its
    // module does.
    std::shared_ptr<const GraphSource> source;
    ValueList signature;  // Inputs with meta tensors in place of tensors.
    std::unique_ptr<program::Executable> executable;
    Profile timings;
    size_t code_bytes = 0;
    bool of_kind = false;  // Made without passes, from a kind of sizes.
    std::string why_not;   // Not empty: the interpreter serves these inputs.
    // The part of the graph is [begin, stop). A null `begin` is the beginning
    // of the graph, a null `stop` its end. If `begin` is not null, it is also
    // the first value of `signature`.
    const fx::Node* begin = nullptr;
    const fx::Node* stop = nullptr;
    bool op_stop = false;  // The op's own function computes it.
    std::vector<CompiledBody> stop_bodies;
    std::string why_stop;                  // Empty with either.
    std::vector<const fx::Node*> inputs;   // As passes::Part.
    bool reads_attributes = false;         // There are some among `inputs`.
    std::vector<const fx::Node*> outputs;  // As passes::Part.
    std::vector<const fx::Node*> dead;  // Known before and not read any more.
  };

  explicit CompiledShape(Parts parts);

  bool serves(std::span<const Value> inputs) const;
  bool native() const { return parts_.executable != nullptr; }
  // Whether this program alone serves calls of the module.
  bool whole() const {
    return native() && !parts_.begin && !parts_.stop &&
           !parts_.reads_attributes;
  }
  // Whether the node behind is an op's call, or a loop over programs.
  bool native_stop() const {
    return parts_.op_stop ||
           (!parts_.stop_bodies.empty() && are_compiled(parts_.stop_bodies));
  }
  // Whether some of the graph is compiled, as far as is known.
  bool compiled() const { return native() || parts_.stop; }
  const Parts& part() const { return parts_; }
  const std::string& why_not() const { return parts_.why_not; }
  const program::Executable& executable() const { return *parts_.executable; }
  const Profile& timings() const { return parts_.timings; }
  // What it keeps, without working memory.
  size_t bytes() const;
  // Whether it is made anew in about a millisecond: of a kind of sizes, and
  // without primitives, which a library generates code for.
  bool is_remade_soon() const;
  // What its calls that ran at one time needed; other programs use it as well.
  size_t working_bytes() const;

  Value run(std::span<const Value> inputs, support::BlockPool& blocks,
            program::StepTimes* times = nullptr) const {
    return run(inputs, {}, blocks, times);
  }
  // Runs the program with results in the memory of `bound`. Throws UserError
  // for tensors of another dtype or other sizes.
  Value run_into(std::span<const Value> inputs, std::span<const Tensor> bound,
                 support::BlockPool& blocks) const;

  // What reports say of this program, without times.
  ProgramReport report() const;
  // The report without its steps.
  ProgramReport heading() const;
  // What inspections say of this program. The fields `profile` and `kernels` of
  // steps are empty, and the step of a node for the interpreter is left out.
  ProgramInspection inspection() const;

 private:
  // `bound` may be empty.
  Value run(std::span<const Value> inputs, std::span<const Tensor> bound,
            support::BlockPool& blocks, program::StepTimes* times) const;

  Parts parts_;
  size_t described_bytes_ = 0;
  WrittenInputs written_;
};

}  // namespace fxjit
