#include "src/fx/control_flow/functions.h"

#include <algorithm>
#include <iterator>

#include "fxjit/fx/pytree.h"
#include "src/fx/control_flow/run.h"
#include "src/fx/tracing/builtins.h"

namespace fxjit::fx {
namespace {

struct Row {
  ControlFlow kind;
  const char* name;
  size_t bodies;          // Behind what comes first.
  const char* arguments;  // For errors.
};
// In the order of ControlFlow.
constexpr Row kRows[] = {
    {ControlFlow::cond, "torch.ops.higher_order.cond", 2,
     "(pred, true_graph, false_graph, operands)"},
    {ControlFlow::while_loop, "torch.ops.higher_order.while_loop", 2,
     "(cond_graph, body_graph, carried_inputs, additional_inputs)"},
    {ControlFlow::scan, "torch.ops.higher_order.scan", 1,
     "(combine_graph, init, xs, additional_inputs)"},
    {ControlFlow::associative_scan, "torch.ops.higher_order.associative_scan",
     1, "(combine_graph, xs, additional_inputs)"},
    {ControlFlow::map, "torch.ops.higher_order.map_impl", 1,
     "(body_graph, xs, args)"},
};
const Row& row_of(ControlFlow kind) { return kRows[static_cast<size_t>(kind)]; }

// The arguments of a call one after the other.
class Reader {
 public:
  Reader(ControlFlow kind, const ValueList& args, const Kwargs& kwargs)
      : row_(row_of(kind)), args_(args) {
    if (!kwargs.empty()) fail();
  }
  const Value& next() {
    if (at_ == args_.size()) fail();
    return args_[at_++];
  }
  nn::ModuleRef body() {
    nn::ModuleRef module = module_of(next());
    if (!module) fail();
    return module;
  }
  ValueList list() {
    const Value& value = next();
    if (!value.is_sequence()) fail();
    return value.as_sequence();
  }
  void finish() const {
    if (at_ != args_.size()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw RuntimeError(std::string("[") + row_.name + "] arguments: expected " +
                       row_.arguments + ", the graphs as modules");
  }

  const Row& row_;
  const ValueList& args_;
  size_t at_ = 0;
};

}  // namespace

const Function& control_function(ControlFlow kind) {
  return *find_defined_function(row_of(kind).name);
}

const ControlFlow* find_control_flow(const Function* function) {
  if (!function) return nullptr;
  for (const Row& row : kRows)
    if (function->name == row.name) return &row.kind;
  return nullptr;
}

ControlCall control_call(ControlFlow kind, const ValueList& args,
                         const Kwargs& kwargs) {
  Reader reader(kind, args, kwargs);
  ControlCall call;
  call.kind = kind;
  if (kind == ControlFlow::cond) call.pred = reader.next();
  for (size_t i = 0; i < row_of(kind).bodies; ++i)
    call.bodies.push_back(reader.body());
  if (kind == ControlFlow::while_loop || kind == ControlFlow::scan)
    call.carried = reader.list();
  if (kind != ControlFlow::cond && kind != ControlFlow::while_loop)
    call.xs = reader.list();
  call.operands = reader.list();
  reader.finish();
  return call;
}

void visit_control_functions(const DefineFunction& define) {
  for (const Row& row : kRows)
    define(
        row.name,
        [kind = row.kind](const ValueList& args, const Kwargs& kwargs) {
          return run_control(control_call(kind, args, kwargs));
        },
        ops::Purity::pure);
}

}  // namespace fxjit::fx
