#include "src/program/planning/twin_steps.h"

#include <algorithm>

namespace fxjit::program {
namespace {

// Steps that follow from the shapes and the layout of their operands alone.
// Others look at the numbers of constants or hold what is the region's own.
bool follows_from_shapes(const StepBody& body) {
  if (const auto* const step = std::get_if<ExternStep>(&body))
    return std::holds_alternative<RunTimePack>(step->what) ||
           std::holds_alternative<LibraryProduct>(step->what);
  return !std::holds_alternative<ResampleStep>(body);
}

}  // namespace

TwinSteps::Ends TwinSteps::ends_of(const RegionCall& call) {
  Ends ends;
  ends.reserve(call.inputs.size() + call.results.size());
  for (const auto& [input, place] : call.inputs) ends.push_back(&place);
  for (const Placed& result : call.results) ends.push_back(&result);
  return ends;
}

TwinSteps::Place TwinSteps::place_of(const Ends& ends, size_t number) {
  const Placed& end = *ends[number];
  const auto first = std::ranges::find(
      ends, end.buffer, [](const Placed* each) { return each->buffer; });
  return {static_cast<size_t>(first - ends.begin()),
          end.byte_offset - (*first)->byte_offset, end.constant.defined(),
          spec_of(end.val)};
}

std::optional<TwinSteps> TwinSteps::of(const Ends& ends, const Mark& before,
                                       const Program& program) {
  if (program.constants.size() != before.constants ||
      program.bodies.size() != before.bodies)
    return std::nullopt;
  TwinSteps twin;
  twin.first_step_ = before.steps;
  twin.places_.reserve(ends.size());
  for (size_t i = 0; i < ends.size(); ++i)
    twin.places_.push_back(place_of(ends, i));
  for (size_t i = before.buffers; i < program.buffers.size(); ++i) {
    std::optional<Made> made = made_of(program.buffers[i], ends, program);
    if (!made) return std::nullopt;
    twin.made_.push_back(std::move(*made));
  }
  for (size_t i = before.steps; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!follows_from_shapes(*step.body)) return std::nullopt;
    std::vector<Operand>& operands = twin.operands_.emplace_back();
    for (const OperandRef& ref : step.operands) {
      const auto operand = twin.operand_of(ref, ends, before, program);
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
  }
  return twin;
}

std::optional<TwinSteps::Made> TwinSteps::made_of(const Buffer& buffer,
                                                  const Ends& ends,
                                                  const Program& program) {
  if (buffer.home == Home::arena) return Made{buffer.bytes, {}};
  if (buffer.home != Home::packed) return std::nullopt;
  weights::PackSpec packed = program.packed[static_cast<size_t>(buffer.index)];
  for (weights::PackPiece& piece : packed.pieces) {
    const auto place = std::ranges::find_if(ends, [&](const Placed* each) {
      const Buffer& of = program.buffers[static_cast<size_t>(each->buffer)];
      return of.home == Home::constant && of.index == piece.constant &&
             each->constant.defined();
    });
    if (place == ends.end()) return std::nullopt;
    piece.constant = static_cast<int32_t>(place - ends.begin());
  }
  return Made{0, std::move(packed)};
}

std::optional<TwinSteps::Operand> TwinSteps::operand_of(
    const OperandRef& ref, const Ends& ends, const Mark& before,
    const Program& program) {
  const auto number = static_cast<size_t>(ref.buffer);
  if (number >= before.buffers)
    return Operand{true, number - before.buffers, ref.byte_offset};
  const auto place = std::ranges::find(
      ends, ref.buffer, [](const Placed* each) { return each->buffer; });
  if (place != ends.end())
    return Operand{false, static_cast<size_t>(place - ends.begin()),
                   ref.byte_offset - (*place)->byte_offset};
  // A weight that another region has packed before.
  std::optional<Made> made = made_of(program.buffers[number], ends, program);
  if (!made || !made->packed) return std::nullopt;
  made_.push_back(std::move(*made));
  return Operand{true, made_.size() - 1, ref.byte_offset};
}

bool TwinSteps::fit(const Ends& ends) const {
  for (size_t i = 0; i < ends.size(); ++i)
    if (place_of(ends, i) != places_[i]) return false;
  return true;
}

void TwinSteps::add_to(PlanBuilder& builder, const RegionCall& call,
                       const Ends& ends) const {
  std::vector<int32_t> made;
  made.reserve(made_.size());
  for (const auto& [bytes, weight] : made_) {
    if (!weight) {
      made.push_back(builder.add_buffer(Home::arena, bytes));
      continue;
    }
    weights::PackSpec packed = *weight;
    for (weights::PackPiece& piece : packed.pieces) {
      const Placed& place = *ends[static_cast<size_t>(piece.constant)];
      piece.constant =
          builder.program().buffers[static_cast<size_t>(place.buffer)].index;
    }
    made.push_back(builder.place_packed(std::move(packed)).buffer);
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    std::vector<OperandRef> refs;
    refs.reserve(operands_[i].size());
    for (const auto& [is_made, index, offset] : operands_[i])
      refs.push_back(is_made ? OperandRef{made[index], offset}
                             : OperandRef{ends[index]->buffer,
                                          ends[index]->byte_offset + offset});
    builder.add_analysed(builder.program().steps[first_step_ + i].body,
                         std::move(refs), call);
  }
}

}  // namespace fxjit::program
