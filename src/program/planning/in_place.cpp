// Lets a step write its result where an operand lies that it reads for the last
// time.
#include <algorithm>
#include <numeric>

#include "src/program/planning/builder.h"

namespace fxjit::program {
namespace {

class InPlace {
 public:
  explicit InPlace(Program& program)
      : program_(program),
        first_(program.buffers.size(), INT32_MAX),
        last_(program.buffers.size(), -1),
        target_(program.buffers.size()) {
    std::iota(target_.begin(), target_.end(), 0);
    for (size_t s = 0; s < program_.steps.size(); ++s)
      for (const OperandRef& ref : program_.steps[s].operands) {
        const auto b = static_cast<size_t>(ref.buffer);
        first_[b] = std::min(first_[b], static_cast<int32_t>(s));
        last_[b] = std::max(last_[b], static_cast<int32_t>(s));
      }
    // Neither gives its place to another nor takes one.
    for (int32_t kept : program_.kept) first_[static_cast<size_t>(kept)] = -1;
    for (int32_t kept : program_.kept)
      last_[static_cast<size_t>(kept)] = INT32_MAX;
  }

  void run() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      for (OperandRef& ref : step.operands)
        ref.buffer = target_[static_cast<size_t>(ref.buffer)];
      merge(static_cast<int32_t>(s), step);
    }
  }

 private:
  // A step is asked only where there is something to gain.
  void merge(int32_t s, const Step& step) {
    if (!may_share_any(s, step)) return;
    const std::vector<InPlacePair> pairs = std::visit(
        [](const auto& body) { return body.in_place(); }, *step.body);
    for (const auto& [read, written] : pairs)
      if (may_share(s, read, written)) share(s, read, written);
  }

  bool may_share_any(int32_t s, const Step& step) const {
    const size_t count = step.operands.size();
    const size_t first =
        count -
        std::visit([](const auto& body) { return body.written(); }, *step.body);
    for (size_t read = 0; read < first; ++read)
      for (size_t written = first; written < count; ++written)
        if (may_share(s, read, written)) return true;
    return false;
  }

  // Both whole buffers of the arena, one ending and one beginning here, of
  // which the step knows no other part.
  bool may_share(int32_t s, size_t in, size_t out) const {
    const std::vector<OperandRef>& operands =
        program_.steps[static_cast<size_t>(s)].operands;
    const OperandRef &from = operands[in], &to = operands[out];
    const auto a = static_cast<size_t>(from.buffer);
    const auto b = static_cast<size_t>(to.buffer);
    if (a == b || from.byte_offset != 0 || to.byte_offset != 0) return false;
    const Buffer &ending = program_.buffers[a], &fresh = program_.buffers[b];
    if (ending.home != Home::arena || fresh.home != Home::arena ||
        ending.bytes != fresh.bytes || last_[a] != s || first_[b] != s)
      return false;
    return std::count_if(
               operands.begin(), operands.end(), [&](const OperandRef& ref) {
                 return ref.buffer == from.buffer || ref.buffer == to.buffer;
               }) == 2;
  }

  void share(int32_t s, size_t in, size_t out) {
    std::vector<OperandRef>& operands =
        program_.steps[static_cast<size_t>(s)].operands;
    const auto fresh = static_cast<size_t>(operands[out].buffer);
    const auto kept = static_cast<size_t>(operands[in].buffer);
    target_[fresh] = operands[in].buffer;
    operands[out].buffer = operands[in].buffer;
    last_[kept] = last_[fresh];
  }

  Program& program_;
  std::vector<int32_t> first_, last_;  // Steps that use a buffer.
  std::vector<int32_t> target_;        // The buffer that stands in for each.
};

}  // namespace

void work_in_place(Program& program) { InPlace(program).run(); }

}  // namespace fxjit::program
