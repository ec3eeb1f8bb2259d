#include "tools/fxjit/page/flow.h"

#include <algorithm>
#include <map>
#include <set>

namespace fxjit::command {
namespace {

using Home = BufferInspection::Home;

void add_once(std::vector<int32_t>& list, int32_t number) {
  if (std::find(list.begin(), list.end(), number) == list.end())
    list.push_back(number);
}

// What a buffer holds as steps run: several values where each of some steps
// wrote a part.
struct Held {
  std::vector<int32_t> values;
  bool read = false;
};

class FlowMaker {
 public:
  FlowMaker(const Inspection& inspection, const fx::Graph& captured,
            const std::vector<std::string>& output_names)
      : inspection_(inspection),
        captured_(captured),
        output_names_(output_names) {}

  Flow run() {
    for (size_t p = 0; p < inspection_.programs.size(); ++p)
      add_program(static_cast<int32_t>(p));
    return std::move(flow_);
  }

 private:
  const ProgramInspection& program() const {
    return inspection_.programs[static_cast<size_t>(program_)];
  }
  const BufferInspection& buffer(int32_t number) const {
    return program().buffers[static_cast<size_t>(number)];
  }

  void add_program(int32_t number) {
    program_ = number;
    held_.assign(program().buffers.size(), {});
    for (size_t b = 0; b < held_.size(); ++b)
      if (program().buffers[b].home == Home::input)
        add_input(static_cast<int32_t>(b));
    for (const StepInspection& step : program().steps)
      if (!is_between(step)) add_step(step);
    const auto last = static_cast<int32_t>(inspection_.programs.size()) - 1;
    const auto& steps = program().steps;
    const bool ends = steps.empty() || !is_between(steps.back());
    for (size_t i = 0; i < program().outputs.size(); ++i)
      add_output(program().outputs[i],
                 program_ == last && ends ? i : SIZE_MAX);
    for (const StepInspection& step : steps)
      if (is_between(step)) add_between(step);
    if (program_ == last && !ends) add_results();
  }

  // Nodes behind a program.
  static bool is_between(const StepInspection& step) {
    return step.skeleton == "interpreter" || step.skeleton == "between";
  }

  int32_t start(const StepInspection& step) {
    flow_.steps.push_back({&step, program_, {}, {}});
    return static_cast<int32_t>(flow_.steps.size()) - 1;
  }

  int32_t add_value(const std::string& name, const Tensor& val,
                    int32_t step, int32_t at) {
    std::string unique = name.empty() ? "value" : name;
    for (int i = 1; !names_.insert(unique).second; ++i)
      unique = name + "." + std::to_string(i);
    flow_.values.push_back({unique, val, step, program_, at});
    return static_cast<int32_t>(flow_.values.size()) - 1;
  }

  // An input of the call or, in a later part, what was computed before.
  void add_input(int32_t number) {
    const BufferInspection& seen = buffer(number);
    const auto known = computed_.find(seen.name);
    Held& held = held_[static_cast<size_t>(number)];
    if (known != computed_.end()) {
      held.values = known->second;
      return;
    }
    held.values = {add_value(seen.name, seen.val, -1, number)};
    if (seen.first < 0 && !is_output(number)) return;
    flow_.inputs.push_back(held.values[0]);
    if (!seen.name.empty()) computed_[seen.name] = held.values;
  }

  bool is_output(int32_t number) const {
    return std::any_of(
        program().outputs.begin(), program().outputs.end(),
        [&](const auto& output) { return output.buffer == number; });
  }

  void add_step(const StepInspection& step) {
    const int32_t index = start(step);
    for (const OperandInspection& operand : step.operands)
      if (operand.buffer >= 0 &&
          (!operand.written || buffer(operand.buffer).home == Home::input))
        read(operand.buffer, index);
    for (const OperandInspection& operand : step.operands)
      if (operand.buffer >= 0 && operand.written)
        write(operand.buffer, index, step);
  }

  void read(int32_t number, int32_t step) {
    Held& held = held_[static_cast<size_t>(number)];
    held.read = true;
    for (const int32_t value : held.values)
      add_once(flow_.steps[static_cast<size_t>(step)].reads, value);
  }

  void write(int32_t number, int32_t index, const StepInspection& step) {
    Held& held = held_[static_cast<size_t>(number)];
    const std::string name =
        step.report.nodes.empty() ? step.report.label
                                  : step.report.nodes.back().name;
    const int32_t value = add_value(name, {}, index, number);
    if (held.read) held.values.clear();
    held.values.push_back(value);
    held.read = false;
    flow_.steps[static_cast<size_t>(index)].writes.push_back(value);
  }

  void add_between(const StepInspection& step) {
    const int32_t index = start(step);
    const std::string& name = step.report.nodes.at(0).name;
    FlowStep& made = flow_.steps.back();
    if (const fx::Node* node = captured_.find_node(name))
      for (const fx::Node* input : node->all_input_nodes()) {
        const auto known = computed_.find(std::string(input->name()));
        if (known == computed_.end()) continue;
        for (const int32_t value : known->second) add_once(made.reads, value);
      }
    made.writes = {add_value(name, {}, index, -1)};
    computed_[name] = made.writes;
  }

  void add_output(const ProgramInspection::Output& output, size_t result) {
    if (output.buffer < 0) return;
    const std::vector<int32_t>& values =
        held_[static_cast<size_t>(output.buffer)].values;
    if (!output.name.empty()) computed_[output.name] = values;
    if (result == SIZE_MAX) return;
    const std::string name = result < output_names_.size()
                                 ? output_names_[result]
                                 : "output_" + std::to_string(result);
    flow_.outputs.push_back({name, output.val, values});
  }

  // Results of a graph that an interpreted node ends.
  void add_results() {
    for (const fx::Node* node : captured_.output_node()->all_input_nodes()) {
      const auto known = computed_.find(std::string(node->name()));
      if (known == computed_.end()) continue;
      const size_t index = flow_.outputs.size();
      const Tensor val =
          node->val().is_tensor() ? node->val_tensor() : Tensor();
      flow_.outputs.push_back({index < output_names_.size()
                                   ? output_names_[index]
                                   : "output_" + std::to_string(index),
                               val, known->second});
    }
  }

  const Inspection& inspection_;
  const fx::Graph& captured_;
  const std::vector<std::string>& output_names_;
  Flow flow_;
  int32_t program_ = 0;
  std::vector<Held> held_;  // By buffer of the program.
  std::set<std::string> names_;
  std::map<std::string, std::vector<int32_t>> computed_;  // By node.
};

}  // namespace

Flow flow_of(const Inspection& inspection, const fx::Graph& captured,
             const std::vector<std::string>& output_names) {
  return FlowMaker(inspection, captured, output_names).run();
}

}  // namespace fxjit::command
