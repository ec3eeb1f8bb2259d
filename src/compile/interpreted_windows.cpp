#include "src/compile/interpreted_windows.h"

#include <algorithm>
#include <utility>

#include "src/compile/environment.h"
#include "src/compile/input_key.h"
#include "src/ops/eager/backend.h"
#include "src/ops/eager/convolution.h"
#include "src/ops/table/op_call.h"
#include "src/program/cost/call_work.h"
#include "src/support/memory/executable_memory.h"
#include "src/tensor/visit.h"

namespace fxjit {
namespace {

// A graph of this call alone, whose inputs are the tensors of the call.
nn::Ref<fx::GraphModule> module_of(const ops::OpCall& call) {
  auto graph = std::make_unique<fx::Graph>();
  ValueList args;
  int count = 0;
  const auto input = [&] {
    return Value(graph->placeholder("x" + std::to_string(count++)));
  };
  for (const Value& arg : call.args)
    args.push_back(map_leaves(arg, [&](const Value& leaf) {
      return leaf.is_tensor() ? input() : leaf;
    }));
  graph->output(graph->call_function(call.op.canonical, std::move(args)));
  return std::make_shared<fx::GraphModule>(nn::AttributeMap{},
                                           std::move(graph));
}

ValueList inputs_of(const ops::OpCall& call) {
  ValueList inputs;
  for (const Tensor& tensor : ops::tensors_in(call.args))
    inputs.push_back(tensor);
  return inputs;
}

// Null where the program would call the plain loops.
std::shared_ptr<CompiledModule> program_of(const ops::OpCall& call) {
  CompileOptions options;
  options.memory_cap = size_t{4} << 20;  // Of results that wait for reuse.
  auto program = std::make_shared<CompiledModule>(module_of(call), options,
                                                  passes::PassHooks{});
  const auto shape = program->get(inputs_of(call));
  const bool generated =
      shape && shape->whole() && Report{{shape->report()}}.native();
  return generated ? program : nullptr;
}

// Other types have no generated code, of which compiling would warn.
bool is_worth_it(const ops::OpCall& call) {
  if (compute_dtype(call.tensor(0).dtype()) != DType::f32) return false;
  const bool dense = call.op.row.lowering == ops::Lowering::convolution &&
                     ops::conv_params(call).groups == 1;
  const double least = dense ? InterpretedWindows::kLeastOfDense
                             : InterpretedWindows::kLeastOperations;
  const ValueList result{ops::infer(call)};
  const ValueList args(call.args.begin(), call.args.end());
  return program::call_work(call.op, args, result).flops >= least;
}

// Dumps are of the programs that were asked for.
bool may_compile() {
  const Environment& env = environment();
  return !env.plain_windows && env.dump_folder.empty() &&
         support::executable_memory_allowed();
}

bool run_window(const ops::OpCall& call, Value* result) {
  return may_compile() && is_worth_it(call) &&
         InterpretedWindows::shared().run(call, result);
}

[[maybe_unused]] const bool given = (ops::set_window_backend(run_window), true);

}  // namespace

InterpretedWindows& InterpretedWindows::shared() {
  static auto* const shared = new InterpretedWindows;
  return *shared;
}

bool InterpretedWindows::run(const ops::OpCall& call, Value* result) {
  Entry entry{&call.op, hash_inputs(call.args), {}, nullptr};
  for (const Value& arg : call.args) entry.args.push_back(ops::metas_of(arg));
  std::shared_ptr<CompiledModule> program;
  if (!find(entry, &program)) {
    program = entry.program = program_of(call);
    add(std::move(entry));
  }
  return program && program->run(inputs_of(call), result);
}

size_t InterpretedWindows::kept() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

bool InterpretedWindows::find(const Entry& call,
                              std::shared_ptr<CompiledModule>* program) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& known) {
    return known.hash == call.hash && known.op == call.op &&
           same_inputs(known.args, call.args);
  });
  if (found == entries_.end()) return false;
  entries_.splice(entries_.begin(), entries_, found);
  *program = found->program;
  return true;
}

// Two threads may have made one program for each of them.
void InterpretedWindows::add(Entry entry) {
  std::lock_guard lock(mutex_);
  entries_.push_front(std::move(entry));
  if (entries_.size() > kMost) entries_.pop_back();
}

}  // namespace fxjit
