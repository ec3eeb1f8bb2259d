// What inspect() says of one compiled program, times aside.
#include <algorithm>

#include "fxjit/inspection.h"
#include "src/compile/compiled_shape.h"
#include "src/compile/graph_parts.h"

namespace fxjit {
namespace {

using program::Buffer;
using program::ExternStep;
using program::Home;
using program::Program;
using program::Step;

std::string name_of(const weights::PackSpec& weight, const Program& program) {
  std::string text;
  for (const weights::PackPiece& piece : weight.pieces) {
    const std::string& name =
        program.constants[static_cast<size_t>(piece.constant)].source;
    if (name.empty() || text.ends_with(name)) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// A name for each input of the program: the node's, numbered where the value is
// a container of tensors.
std::vector<std::string> input_names(const CompiledShape::Parts& parts) {
  std::vector<std::string> names;
  const size_t skipped = parts.begin ? 1 : 0;
  for (size_t i = 0; i < parts.inputs.size(); ++i) {
    if (i + skipped >= parts.signature.size()) break;
    const Value& value = parts.signature[i + skipped];
    const std::string name(parts.inputs[i]->name());
    int next = 0;
    visit_leaves(value, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      names.push_back(value.is_tensor() ? name
                                        : name + "." + std::to_string(next++));
    });
  }
  return names;
}

BufferInspection inspect_buffer(const Program& program, const Buffer& buffer,
                                const std::vector<std::string>& inputs) {
  BufferInspection seen;
  seen.bytes = buffer.bytes;
  const auto index = static_cast<size_t>(buffer.index);
  switch (buffer.home) {
    case Home::arena:
      seen.offset = buffer.offset;
      break;
    case Home::constant:
      seen.home = BufferInspection::Home::constant;
      seen.name = program.constants[index].source;
      seen.val = Tensor::meta(program.constants[index].spec.sizes,
                              program.constants[index].spec.dtype);
      break;
    case Home::packed:
      seen.home = BufferInspection::Home::packed;
      seen.name = name_of(program.packed[index], program);
      for (const weights::PackPiece& piece : program.packed[index].pieces)
        seen.bytes += numel(piece.view.sizes) *
                      static_cast<int64_t>(dtype_size(piece.view.dtype));
      break;
    case Home::input:
      seen.home = BufferInspection::Home::input;
      if (index < inputs.size()) seen.name = inputs[index];
      seen.val = meta_of(program.inputs[index]);
      break;
    case Home::output:
      seen.home = BufferInspection::Home::output;
      break;
  }
  return seen;
}

// Updates of an input write their first operand, beside a place for old values.
bool updates_first(const Step& step) {
  const auto* external = std::get_if<ExternStep>(step.body.get());
  return external &&
         std::holds_alternative<program::UpdateSpec>(external->what);
}

std::vector<OperandInspection> inspect_operands(const Step& step) {
  std::vector<OperandInspection> seen;
  const size_t count = step.operands.size();
  const size_t written = std::min(
      std::visit([](const auto& body) { return body.written(); }, *step.body),
      count);
  for (size_t i = 0; i < count; ++i) {
    OperandInspection& operand = seen.emplace_back();
    operand.buffer = step.operands[i].buffer;
    operand.written = i >= count - written || (i == 0 && updates_first(step));
    if (i < step.apart.size())
      operand.apart = passes::apart_text(step.apart[i]);
  }
  return seen;
}

void note_uses(ProgramInspection& seen) {
  for (size_t s = 0; s < seen.steps.size(); ++s)
    for (const OperandInspection& operand : seen.steps[s].operands) {
      if (operand.buffer < 0) continue;
      BufferInspection& buffer =
          seen.buffers[static_cast<size_t>(operand.buffer)];
      if (buffer.first < 0) buffer.first = static_cast<int32_t>(s);
      buffer.last = static_cast<int32_t>(s);
    }
}

}  // namespace

ProgramInspection CompiledShape::inspection() const {
  const Program& program = executable().program();
  ProgramReport report = this->report();
  // Steps of branches and bodies are parts of those that call them.
  std::erase_if(report.steps,
                [](const StepReport& step) { return !step.body.empty(); });
  ProgramInspection seen;
  seen.inputs = report.inputs;
  seen.begin = report.begin;
  seen.arena_bytes = program.arena_bytes;
  const std::vector<std::string> inputs = input_names(parts_);
  for (const Buffer& buffer : program.buffers)
    seen.buffers.push_back(inspect_buffer(program, buffer, inputs));
  for (size_t s = 0; s < program.steps.size(); ++s) {
    StepInspection& step = seen.steps.emplace_back();
    step.report = report.steps[s];
    const int64_t tasks = executable().plans()[s].tasks;
    std::visit(
        [&]<typename S>(const S& body) {
          step.skeleton = S::kName;
          if constexpr (program::Skeleton<S>)
            step.sizes = body.facts();
          else
            step.sizes = {{"tasks", std::to_string(tasks)}};
        },
        *program.steps[s].body);
    step.operands = inspect_operands(program.steps[s]);
  }
  note_uses(seen);
  for (const Program::Output& output : program.outputs)
    seen.outputs.push_back({output.buffer, meta_of(output.spec), ""});
  if (parts_.outputs.size() == seen.outputs.size())
    for (size_t i = 0; i < seen.outputs.size(); ++i)
      seen.outputs[i].name = std::string(parts_.outputs[i]->name());
  return seen;
}

}  // namespace fxjit
