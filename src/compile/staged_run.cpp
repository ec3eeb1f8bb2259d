#include "src/compile/staged_run.h"

#include <chrono>

namespace fxjit {

StagedRun::StagedRun(std::shared_ptr<const GraphSource> source, Find find,
                     support::BlockPool& blocks, const fx::LoopLimits* limits)
    : Interpreter(*source->module, source->module->graph(),
                  &source->parts.plan()),
      source_(std::move(source)),
      parts_(source_->parts),
      find_(std::move(find)),
      blocks_(blocks),
      limits_(limits) {
  extra_traceback = false;  // As the interpreter of the module.
}

Value StagedRun::run(std::span<const Value> inputs, Shape first,
                     std::vector<StageTime>* times) {
  using Clock = std::chrono::steady_clock;
  const std::vector<fx::NodePtr> placeholders = graph().placeholders();
  FXJIT_CHECK(inputs.size() == placeholders.size(),
              "a program is found by the inputs that it was made for");
  for (size_t i = 0; i < inputs.size(); ++i)
    env.set(*placeholders[i], inputs[i]);
  const auto value_of = [this](const fx::Node& node) -> const Value& {
    return known(node);
  };
  const fx::Node* begin = nullptr;
  for (Shape shape = std::move(first);; shape = find_(*begin, value_of)) {
    const bool compiled = shape && shape->compiled();
    const fx::Node* stop =
        compiled ? shape->part().stop : parts_.stop_of(begin);
    if (compiled && shape->native()) {
      if (times) times->push_back({shape, {}, nullptr, false, 0});
      std::optional<Value> result =
          run_part(*shape, times ? &times->back() : nullptr);
      if (!result) return interpret_from(begin);
      if (!stop) return *std::move(result);
    }
    if (!stop) return interpret_from(begin);
    if (compiled)
      for (const fx::Node* dead : shape->part().dead) env.erase(*dead);
    else
      for (const fx::Node* node = begin; node != stop; node = node->next())
        run_here(*node);
    const auto start = Clock::now();
    run_here(*stop);
    if (times) {
      const std::chrono::duration<double, std::nano> took = Clock::now() - start;
      const bool native = compiled && shape->native_stop();
      times->push_back({nullptr, {}, stop, native, took.count()});
    }
    begin = stop->next();
    if (begin->is(fx::Opcode::output)) return interpret_from(begin);
  }
}

const Value& StagedRun::known(const fx::Node& node) const {
  const Value* value = env.find(node);
  FXJIT_CHECK(value, "a part reads what was computed before it");
  return *value;
}

// Runs one part. Gives the graph's result, None if the graph goes on after the
// part, or nothing if a step refuses the values: the interpreter then finds the
// error again and tells its node and line.
std::optional<Value> StagedRun::run_part(const CompiledShape& shape,
                                         StageTime* time) {
  const CompiledShape::Parts& part = shape.part();
  ValueList inputs;
  inputs.reserve(part.inputs.size());
  for (const fx::Node* node : part.inputs)
    inputs.push_back(node->is(fx::Opcode::get_attr)
                         ? get_attr(node->target(), {}, {})
                         : known(*node));
  if (time)
    time->steps.nanoseconds.resize(shape.executable().program().steps.size());
  Value result;
  try {
    result = shape.run(inputs, blocks_, time ? &time->steps : nullptr);
  } catch (const program::ValueFailure&) {
    return std::nullopt;
  }
  if (!part.stop) return result;
  for (size_t i = 0; i < part.outputs.size(); ++i)
    env.set(*part.outputs[i], result.at(i));
  return None;
}

void StagedRun::run_here(const fx::Node& node) {
  if (node.is(fx::Opcode::placeholder)) return;
  for (const fx::Node* input : node.all_input_nodes())
    if (input->is(fx::Opcode::get_attr) && !env.contains(*input))
      env.set(*input, get_attr(input->target(), {}, {}));
  execute(node);
  for (const fx::Node* dead : parts_.plan().dead_after(node)) env.erase(*dead);
}

Value StagedRun::interpret_from(const fx::Node* node) {
  if (!node) node = *graph().nodes().begin();
  for (; !node->is(fx::Opcode::root); node = node->next()) {
    run_here(*node);
    if (node->is(fx::Opcode::output)) return known(*node);
  }
  return None;
}

}  // namespace fxjit
