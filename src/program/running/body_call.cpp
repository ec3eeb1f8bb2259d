#include "src/program/running/body_call.h"

#include <cstring>

#include "src/program/planning/builder.h"
#include "src/program/running/eager_code.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::round_up;

// Some steps write wherever they are told to; others take results to begin at a
// cache line.
bool writes_anywhere(const Program& program, int32_t buffer) {
  for (const Step& step : program.steps) {
    const bool anywhere = std::visit(
        []<typename S>(const S&) { return S::kWritesAnywhere; }, *step.body);
    for (const OperandRef& ref : step.operands)
      if (ref.buffer == buffer && !anywhere) return false;
  }
  return true;
}

}  // namespace

BodyPlan::BodyPlan(const Executable& program, const ValueList& wanted)
    : program_(&program) {
  const Program& made = program.program();
  size_t tensors = 0;
  visit_leaves(made.result, [&](const Value& leaf) {
    if (leaf.is_tensor()) {
      add_output(made.outputs[tensors], wanted.at(tensors).as_tensor());
      ++tensors;
    } else {
      known_ = leaf;
    }
  });
}

void BodyPlan::add_output(const Program::Output& output, const Tensor& wanted) {
  const Program& program = program_->program();
  const Buffer& buffer = program.buffers[static_cast<size_t>(output.buffer)];
  const auto index = static_cast<int32_t>(outputs_.size());
  Output made;
  made.wanted = wanted;
  made.byte_offset = output.byte_offset;
  made.from = Tensor::meta(output.spec.sizes, output.spec.dtype,
                           output.spec.strides, 0);
  const bool alike = output.spec.strides == wanted.strides();
  const auto bytes = static_cast<size_t>(extent_bytes(wanted));
  if (alike) made.bytes = bytes;
  if (buffer.home == Home::output) {
    made.buffer = buffer.index;
    if (blocks_.size() <= static_cast<size_t>(buffer.index))
      blocks_.resize(static_cast<size_t>(buffer.index) + 1);
    Block& block = blocks_[static_cast<size_t>(buffer.index)];
    const bool aligned = bytes % kScratchAlignment == 0;
    made.straight = alike && output.byte_offset == 0 && block.straight < 0 &&
                    static_cast<size_t>(buffer.bytes) == bytes &&
                    (aligned || writes_anywhere(program, output.buffer));
    if (made.straight) {
      block.straight = index;
    } else if (block.straight < 0) {
      block.scratch = scratch_bytes_;
      scratch_bytes_ +=
          round_up(static_cast<size_t>(buffer.bytes), kScratchAlignment);
    }
  } else if (buffer.home == Home::input) {
    made.input = buffer.index;
    if (alike && output.byte_offset == 0) made.same_input = buffer.index;
  } else {
    made.constant =
        program_->constants()[static_cast<size_t>(buffer.index)].data();
  }
  copies_ = copies_ || !made.straight;
  outputs_.push_back(std::move(made));
}

BodyCall::BodyCall(const BodyPlan& plan, std::byte* scratch)
    : plan_(plan),
      scratch_(scratch),
      session_(plan.program()),
      inputs_(plan.program().program().inputs.size()),
      results_(plan.outputs_.size()),
      blocks_(plan.blocks_.size()) {
  for (size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i] = scratch_ + plan_.blocks_[i].scratch;
}

void BodyCall::run(StepTimes* times) {
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (const int32_t straight = plan_.blocks_[i].straight; straight >= 0)
      blocks_[i] = results_[static_cast<size_t>(straight)];
  session_.run({inputs_.data(), inputs_.size()},
               {blocks_.data(), blocks_.size()}, times);
  if (!plan_.copies_) return;
  for (size_t i = 0; i < results_.size(); ++i)
    if (!plan_.outputs_[i].straight) copy(plan_.outputs_[i], results_[i]);
}

void BodyCall::copy(const BodyPlan::Output& output, void* to) const {
  const void* base = output.constant;
  if (output.buffer >= 0) base = blocks_[static_cast<size_t>(output.buffer)];
  if (output.input >= 0) base = inputs_[static_cast<size_t>(output.input)];
  auto* const from = const_cast<std::byte*>(
      static_cast<const std::byte*>(base) + output.byte_offset);
  if (output.wanted.numel() == 0 || from == to) return;
  if (output.bytes > 0) {
    std::memcpy(to, from, output.bytes);
  } else {
    borrow(to, output.wanted).copy_from(borrow(from, output.from));
  }
}

}  // namespace fxjit::program
