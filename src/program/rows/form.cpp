#include "src/program/rows/form.h"

#include <algorithm>

#include "fxjit/error.h"
#include "src/ops/table/prims.h"
#include "src/program/rows/step.h"
#include "src/support/machine/vector_lanes.h"

namespace fxjit::program {
namespace {

// Inputs below this stay in the caches that prefetching would fetch them to.
constexpr int64_t kStreamBytes = int64_t{256} << 10;
// The least cost of bodies that fetch ahead.
constexpr int kHeavyBody = 16;
// Vectors of rows that have straight-line code.
constexpr int64_t kShortRow = 4;

Loops loops_of(const RowStep& step) {
  Loops loops = step;
  if (!is_flat(step) && !has_index(step.body)) loops.pad_outer(2);
  return loops;
}

int cost_of(const ScalarBody& body) {
  int cost = 0;
  for (const ScalarInstr& instr : body.instrs)
    cost += instr.prim == Prim::input ? 1 : prim_cost(instr.prim);
  return cost;
}

bool is_stream(const RowStep& step, const Access& access) {
  if (access.inner != 1 || gathers_elements(step.inputs, access)) return false;
  int64_t elements = step.inner;
  for (int d = 0; d < step.outer.size(); ++d)
    if (access.outer[d] != 0) elements *= step.outer[d];
  return elements * static_cast<int64_t>(dtype_size(access.dtype)) >=
         kStreamBytes;
}

std::vector<bool> streams_of(const RowStep& step) {
  std::vector<bool> streams;
  if (has_reduction(step.body) || cost_of(step.body) <= kHeavyBody)
    return streams;
  for (const Access& access : step.inputs)
    streams.push_back(is_stream(step, access));
  return streams;
}

bool has_any_length(const RowStep& step, CpuLevel level) {
  if (step.inner <= 1 || !step.code.crosswise.empty()) return false;
  if (step.code.flat) return true;
  const int64_t lanes = support::vector_lanes(level);
  if (step.inner % lanes == 0 && step.inner <= kShortRow * lanes) return false;
  return !has_reduction(step.body);
}

// The stride along a row of one element is arbitrary.
void join_single(const RowStep& step, RowForm& form) {
  if (step.inner != 1) return;
  for (size_t r = 0; r < form.loops.outputs.size(); ++r)
    if (form.code.schedule.varies[static_cast<size_t>(form.body.results[r])])
      form.loops.outputs[r].inner = 1;
}

// What does not change from row to row stays in registers.
void hide_outer(Extents& strides) {
  for (size_t d = 0; d < strides.size(); ++d)
    if (strides[d] != 0 || d + 1 < strides.size())
      strides[d] = Extent::argument();
}

void hide(AccessForm& access, const RowCode& code, bool is_crosswise) {
  const bool together = !code.lanes.empty() && access.outer.back() == 1;
  hide_outer(access.outer);
  if (!together && !is_crosswise) return;
  access.outer.back() = 1;
  if (is_crosswise || access.inner.number() > 1)
    access.inner = Extent::argument();
}

}  // namespace

RowForm row_form(const RowStep& step, CpuLevel level) {
  RowForm form{form_of(loops_of(step)), step.body, step.code, streams_of(step)};
  const RowCode& code = step.code;
  FXJIT_CHECK(code.schedule.varies.size() == step.body.instrs.size(),
              "rows: the step was not analysed");
  join_single(step, form);
  for (size_t i = 0; i < form.loops.operands(); ++i)
    hide(form.loops.access(i), code, code.crosswise.holds(i));
  if (has_any_length(step, level)) form.loops.inner = Extent::argument();
  for (Extent& size : form.loops.outer) size = Extent::argument();
  return form;
}

std::string form_key(const RowForm& form) {
  std::string key = "row" + loops_key(form.loops);
  const LaneGroup& lanes = form.code.lanes;
  key += " " + std::to_string(lanes.rows) + " " +
         std::to_string(lanes.elements) + " " +
         std::to_string(lanes.positions) + (lanes.asks_ahead ? " ahead" : "") +
         (lanes.turns ? " turns" : "");
  for (const RowSchedule::Buffer& buffer : form.code.schedule.buffers)
    if (buffer.result >= 0)
      key += " " + std::to_string(buffer.id) + " in result " +
             std::to_string(buffer.result);
  for (const Crosswise::Operand& operand : form.code.crosswise.operands)
    key += " crosswise " + std::to_string(operand.operand);
  if (form.code.crosswise.span > 1)
    key += " over " + std::to_string(form.code.crosswise.span);
  const std::vector<bool>& softmax = form.code.schedule.softmax;
  for (size_t i = 0; i < softmax.size(); ++i)
    if (softmax[i]) key += " softmax " + std::to_string(i);
  for (bool stream : form.streams) key += stream ? " ahead" : " -";
  return key + "\n" + body_key(form.body);
}

std::vector<int64_t> step_arguments(const RowStep& step) {
  return loop_arguments(loops_of(step));
}

}  // namespace fxjit::program
