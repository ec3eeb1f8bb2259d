// Lets a step write its result where an operand lies that it reads for the last
// time: elementwise rows, and epilogues of contractions.
#include <algorithm>
#include <numeric>

#include "src/program/planning/builder.h"
#include "src/program/rows/code.h"

namespace fxjit::program {
namespace {

bool contains(const std::vector<int32_t>& positions, size_t position) {
  return std::find(positions.begin(), positions.end(),
                   static_cast<int32_t>(position)) != positions.end();
}

bool is_index(const RowStep& step, size_t input) {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const Access& access) {
                       return access.gather_slot == static_cast<int32_t>(input);
                     });
}

// An input and an output that may be one.
using Pair = std::pair<size_t, size_t>;

// Pairs that lie alike; every element of the input is read in its place.
std::vector<Pair> alike_pairs(const RowStep& step) {
  std::vector<Pair> pairs;
  for (size_t out = 0; out < step.outputs.size(); ++out)
    for (size_t in = 0; in < step.inputs.size(); ++in)
      if (step.inputs[in] == step.outputs[out] &&
          step.inputs[in].gather_slot < 0 && !is_index(step, in))
        pairs.emplace_back(in, out);
  return pairs;
}

// Those of which every element of the input is read for the last time just
// before the same element of the output is written.
std::vector<Pair> in_place_pairs(const RowStep& step, CpuLevel level) {
  std::vector<Pair> pairs = alike_pairs(step);
  if (pairs.empty()) return pairs;
  const RowCode code = row_code(step, level);
  if (!code.crosswise.empty() || code.schedule.passes.empty()) return {};
  const std::vector<int32_t>& last = code.schedule.passes.back().stores;
  std::erase_if(pairs, [&](Pair pair) { return !contains(last, pair.second); });
  return pairs;
}

class InPlace {
 public:
  InPlace(Program& program, CpuLevel level)
      : program_(program),
        level_(level),
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
      if (const auto* row = std::get_if<RowStep>(&step.body))
        merge_rows(static_cast<int32_t>(s), *row);
      else if (const auto* tile = std::get_if<TileStep>(&step.body))
        merge_tiles(static_cast<int32_t>(s), *tile);
      else if (const auto* winograd = std::get_if<WinogradStep>(&step.body))
        merge_tiles(static_cast<int32_t>(s), *winograd);
    }
  }

 private:
  void merge_rows(int32_t s, const RowStep& row) {
    for (const auto& [in, out] : in_place_pairs(row, level_))
      if (may_share(s, in, row.inputs.size() + out))
        share(s, in, row.inputs.size() + out);
  }

  template <typename Tiles>
  void merge_tiles(int32_t s, const Tiles& tile) {
    constexpr size_t kFirstExtra = 2;
    const size_t first_output = kFirstExtra + tile.extras.size();
    for (size_t out = 0; out < tile.outputs.size(); ++out)
      for (size_t i = 0; i < tile.extras.size(); ++i)
        if (tile.extras[i] == tile.outputs[out] && tile.extras[i].row != 0 &&
            tile.extras[i].column == 1 &&
            may_share(s, kFirstExtra + i, first_output + out)) {
          share(s, kFirstExtra + i, first_output + out);
          break;
        }
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
  CpuLevel level_;
  std::vector<int32_t> first_, last_;  // Steps that use a buffer.
  std::vector<int32_t> target_;        // The buffer that stands in for each.
};

}  // namespace

void work_in_place(Program& program, CpuLevel level) {
  InPlace(program, level).run();
}

}  // namespace fxjit::program
