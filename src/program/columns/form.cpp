#include "src/program/columns/form.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/ops/table/prims.h"
#include "src/program/columns/step.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

// A reduction over at most this many points has its length in the form: it is a
// window of the model. Longer ones depend on the sizes of a call.
constexpr int64_t kShortReduction = 8;
// Vectors of sums that a task keeps in registers.
constexpr int64_t kColumnSums = 8;

// Whether code for this constant is better than code for any: such constants
// stay in the form.
bool is_special(double number) {
  const double size = std::abs(number);
  return size == 0 || size == 0.5 || size == 1 || size == 2;
}

bool is_exponent(const ScalarBody& body, int32_t id) {
  return std::any_of(body.instrs.begin(), body.instrs.end(),
                     [&](const ScalarInstr& instr) {
                       return instr.prim == Prim::pow && instr.args[1] == id;
                     });
}

bool may_be_argument(const ScalarBody& body, int32_t id) {
  const ScalarInstr& instr = body.instrs[static_cast<size_t>(id)];
  const bool wide = instr.type == DType::f32 || instr.type == DType::f64;
  return instr.prim == Prim::constant && wide && !is_special(instr.imm) &&
         !is_exponent(body, id);
}

int64_t bits_of(const ScalarInstr& instr) {
  if (instr.type == DType::f64) return std::bit_cast<int64_t>(instr.imm);
  return std::bit_cast<int32_t>(static_cast<float>(instr.imm));
}

// A step with the constants of its body turned into inputs, which follow the
// step's own.
struct Opened {
  Loops loops;
  ScalarBody body;
  std::vector<int64_t> numbers;
};

Opened opened(const ColumnStep& step) {
  Opened made{step, step.body, {}};
  Loops& loops = made.loops;
  if (!has_index(step.body)) loops.pad_outer(1);
  for (size_t i = 0; i < made.body.instrs.size(); ++i) {
    if (!may_be_argument(made.body, static_cast<int32_t>(i))) continue;
    ScalarInstr& instr = made.body.instrs[i];
    made.numbers.push_back(bits_of(instr));
    Access access;
    access.dtype = instr.type;
    access.outer = Dims(loops.outer.size(), 0);
    access.reduce = Dims(loops.reduce.size(), 0);
    access.inner = 0;
    instr = {.prim = Prim::input,
             .type = instr.type,
             .slot = static_cast<int32_t>(loops.inputs.size())};
    loops.inputs.push_back(access);
  }
  return made;
}

void hide_columns(ColumnForm& form, const ColumnStep& step, int64_t lanes) {
  form.block = lanes;
  const int64_t columns = step.inner;
  if (columns <= 1) return;
  form.loops.inner = Extent::argument();
  form.block = step.block;
  const int64_t rest = columns % form.block;
  form.whole_blocks = columns >= form.block;
  form.rest_vectors = static_cast<int>(ceil_div(rest, lanes));
  form.rest_partial = rest % lanes != 0;
}

void hide_strides(AccessForm& access) {
  for (Extent& stride : access.outer) stride = Extent::argument();
  for (Extent& stride : access.reduce)
    if (stride != 0) stride = Extent::argument();
}

}  // namespace

ColumnForm column_form(const ColumnStep& step, CpuLevel level) {
  Opened made = opened(step);
  ColumnForm form;
  form.loops = form_of(made.loops);
  form.body = std::move(made.body);
  form.numbers = static_cast<int>(made.numbers.size());
  // Numbers of the body are the same everywhere.
  for (size_t i = 0; i < step.inputs.size(); ++i)
    hide_strides(form.loops.inputs[i]);
  for (AccessForm& output : form.loops.outputs) hide_strides(output);
  for (Extent& size : form.loops.outer) size = Extent::argument();
  for (Extent& size : form.loops.reduce)
    if (size.number() > kShortReduction) size = Extent::argument();
  hide_columns(form, step, support::vector_lanes(level));
  return form;
}

std::string form_key(const ColumnForm& form) {
  std::string key = "column" + loops_key(form.loops);
  for (int64_t number :
       {int64_t{form.numbers}, form.block, int64_t{form.whole_blocks},
        int64_t{form.rest_vectors}, int64_t{form.rest_partial}})
    key += " " + std::to_string(number);
  return key + "\n" + body_key(form.body);
}

std::vector<int64_t> step_arguments(const ColumnStep& step) {
  const Opened made = opened(step);
  std::vector<int64_t> numbers = loop_arguments(made.loops);
  numbers.insert(numbers.end(), made.numbers.begin(), made.numbers.end());
  return numbers;
}

// As wide as the sums of all reductions fit into registers, because a wide
// block reads long pieces of memory.
int64_t column_block(const ScalarBody& body, CpuLevel level) {
  int64_t sums = 0;
  for (const ScalarInstr& instr : body.instrs)
    if (is_reduction(instr.prim)) sums += dtype_size(instr.type) == 8 ? 2 : 1;
  return support::vector_lanes(level) *
         std::clamp<int64_t>(kColumnSums / std::max<int64_t>(1, sums), 2,
                             kColumnSums);
}

}  // namespace fxjit::program
