// The native forward of one GraphModule. It finds the program for the inputs of
// a call, or has it compiled. A graph with nodes for the interpreter has a
// program for each part between these (staged_run.h). All calling threads share
// the object.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "fxjit/compile.h"
#include "fxjit/inspection.h"
#include "src/compile/engine.h"
#include "src/compile/input_sizes.h"
#include "src/compile/shape_table.h"
#include "src/compile/size_kinds.h"
#include "src/compile/staged_run.h"
#include "src/passes/folded_weights.h"
#include "src/passes/pipeline.h"
#include "src/program/planning/planner.h"
#include "src/weights/store.h"

namespace fxjit {
class CompiledModule : public fx::NativeForward,
                       public std::enable_shared_from_this<CompiledModule> {
 public:
  // `module` is a copy of the user's, kept alive for compiling later.
  CompiledModule(nn::Ref<fx::GraphModule> module, CompileOptions options,
                 passes::PassHooks hooks);

  bool run(std::span<const Value> inputs, Value* result) override;
  const fx::LoopLimits* limits() const override;
  // Like run(), with the results in the caller's tensors `bound`
  // (bound_outputs.h). Returns false also if the graph is compiled in parts.
  bool run_into(std::span<const Value> inputs, std::span<const Tensor> bound,
                Value* result);

  // The entry for these inputs, compiled now if there is none. It covers the
  // whole graph, or the part that the graph begins with. Null after retire().
  std::shared_ptr<const CompiledShape> get(std::span<const Value> inputs);
  Report report() const;
  // A report with times of `calls` calls. Throws UserError if these inputs stay
  // with the interpreter.
  Report measured_report(std::span<const Value> inputs, int calls);
  // How many kinds of inputs have programs of named sizes.
  size_t kinds();
  // The size of all compiled programs, as CompileOptions::memory_cap counts.
  CompiledSize program_size() const;
  // The profile of `calls` calls; their stages are added to `stages` unless it
  // is null.
  Profile profile(std::span<const Value> inputs, int calls,
                  std::vector<StageTime>* stages = nullptr);
  Inspection inspect(std::span<const Value> inputs,
                     const InspectionOptions& options);

  // Called when another CompiledModule has taken this one's place. Calls of
  // this one may still run: graph, programs, weights and outputs are freed with
  // the last of them. Shapes that such a call meets for the first time are
  // interpreted. Thread-safe.
  void retire();

 private:
  using Shape = std::shared_ptr<const CompiledShape>;
  using Source = std::shared_ptr<GraphSource>;
  // What a program is looked up by, and what it is made from.
  struct Request {
    Source source;                    // The graph that has its nodes.
    const fx::Node* begin = nullptr;  // Null: the graph's beginning.
    std::span<const Value> inputs;    // The module's, if it begins there.
    GraphParts::Known known;          // Else: what was computed before.
  };

  // The entry that serves a call; null if the interpreter does.
  Shape for_call(std::span<const Value> inputs);
  // The values by which a program is looked up. None if no part was made at
  // that node before.
  std::optional<ValueList> key_of(const Request& request) const;
  Shape find(const Request& request) const;
  Shape get(const Request& request);
  Shape make(const Request& request);
  CompiledShape::Parts build(const Request& request);
  CompiledShape::Parts build_or_say_why(const Request& request);
  // `part` is the request's, if it was taken before.
  void build_of_numbers(const Request& request,
                        std::optional<passes::Part> part,
                        CompiledShape::Parts& parts);
  passes::Part take(const Request& request);
  std::optional<SizedInputs> sized(const Request& request) const;
  // False where no kind of inputs has names for these; `why_not` says why if
  // tracing with names failed.
  bool build_of_kind(const Request& request, const SizedInputs& inputs,
                     CompiledShape::Parts& parts, std::string& why_not);
  SizeKinds::Found trace_kind(const Request& request, const SizedInputs& inputs,
                              std::string& why_not);
  // Nothing where the graph of names ends at another node than that of numbers.
  std::optional<SizeKinds::Kind> traced(const Request& request,
                                        const SizedInputs& inputs,
                                        SizeNaming naming);
  void describe(const Request& request, passes::Part part,
                CompiledShape::Parts& parts);
  void build_program(const passes::ModelGraph& model,
                     const program::PlanOptions& options,
                     CompiledShape::Parts& parts);
  void note_reason(const std::string& full);  // Reports it once.
  Shape next_part(const Source& source, const fx::Node& begin,
                  const GraphParts::Known& known);
  StagedRun staged_run(Source source);
  // The stages of a call, each with the median of its times over `calls` calls.
  std::vector<StageTime> measure(const Source& graph, const Shape& shape,
                                 std::span<const Value> inputs, int calls);
  std::pair<Source, Shape> to_measure(std::span<const Value> inputs);
  Source source() const;  // Null once retired.
  passes::PipelineOptions pipeline_options() const;
  program::PlanOptions plan_options(const fx::GraphModule& named);
  void compile_behind(const Request& request);
  bool retired() const { return retired_.load(); }

  mutable std::mutex source_mutex_;
  Source source_;
  const CompileOptions options_;
  const DeclaredInputs declared_;
  const passes::PassHooks hooks_;
  const fx::LoopLimits loop_limits_;
  Engine& engine_;
  // Asked once, since it takes system calls.
  const program::Machine machine_;
  weights::Store weights_;
  std::atomic<size_t> kind_bytes_{0};
  const std::shared_ptr<passes::FoldedWeights> folded_ =
      std::make_shared<passes::FoldedWeights>();
  SizeKinds kinds_;  // Guarded by compile_mutex_, as the next one.
  std::shared_ptr<const std::map<const Storage*, std::string>> tensor_names_;
  support::BlockPool blocks_;
  ShapeTable shapes_;
  mutable std::mutex
      compile_mutex_;               // One compilation of this module at a time.
  std::set<std::string> reported_;  // Why calls stay with the interpreter.
  // How many programs were made for the same shapes at the same node. They
  // differ in numbers only; see make().
  std::map<size_t, int> variants_;
  std::mutex pending_mutex_;
  std::set<size_t> pending_;  // Hashes of inputs queued for the background.
  bool no_thread_ = false;    // The system refused one, which was reported.
  std::atomic<bool> retired_ = false;
};

// UserError for options that fxjit::compile does not take.
void check_options(const CompileOptions& options);

// fxjit::compile, with hooks for the passes. `copy` computes what `module`
// does; programs are made from it.
void install_compiled(fx::GraphModule& module, nn::Ref<fx::GraphModule> copy,
                      const CompileOptions& options, passes::PassHooks hooks);

// The CompiledModule installed in `module`; null when there is none.
std::shared_ptr<CompiledModule> compiled_module(const fx::GraphModule& module);

}  // namespace fxjit
