#include "src/program/steps/step_form.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/ops/table/prims.h"
#include "src/program/rows/code.h"
#include "src/program/rows/rewrite.h"
#include "src/program/steps/kernel_plan.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

// Inputs below this stay in the caches that prefetching would fetch them to.
constexpr int64_t kStreamBytes = int64_t{256} << 10;
// The least cost of bodies that fetch ahead.
constexpr int kHeavyBody = 16;
// Up to so many points a reduction is that of a model's window, not of what a
// call brings.
constexpr int64_t kShortReduction = 8;
// Vectors of rows that have straight-line code.
constexpr int64_t kShortRow = 4;

void hide(Dims& strides) {
  for (int64_t& stride : strides)
    if (stride != 0) stride = kAny;
}

// What does not change from row to row stays in registers.
void hide_outer(Dims& strides) {
  for (int d = 0; d < strides.size(); ++d)
    if (strides[d] != 0 || d + 1 < strides.size()) strides[d] = kAny;
}

void hide_gather(Access& access) {
  if (access.gather_slot < 0) return;
  access.gather_stride = access.gather_limit = kAny;
}

int cost_of(const ScalarBody& body) {
  int cost = 0;
  for (const ScalarInstr& instr : body.instrs)
    cost += instr.prim == Prim::input ? 1 : prim_cost(instr.prim);
  return cost;
}

bool is_stream(const RowStep& step, const Access& access) {
  if (access.inner != 1 || gathers_elements(step, access)) return false;
  int64_t elements = step.inner;
  for (int d = 0; d < step.outer.size(); ++d)
    if (access.outer[d] != 0) elements *= step.outer[d];
  return elements * static_cast<int64_t>(dtype_size(access.dtype)) >=
         kStreamBytes;
}

bool has_index(const ScalarBody& body) {
  return std::any_of(
      body.instrs.begin(), body.instrs.end(),
      [](const ScalarInstr& instr) { return instr.prim == Prim::index; });
}

bool has_any_length(const RowStep& step, const RowCode& code, CpuLevel level) {
  if (step.inner <= 1 || !code.crosswise.empty()) return false;
  if (is_flat(step)) return true;
  const int64_t lanes = weights::tile_shape(level).lanes;
  if (step.inner % lanes == 0 && step.inner <= kShortRow * lanes) return false;
  return !has_reduction(step.body);
}

template <typename Step, typename Fn>
void for_each_access(Step& step, Fn fn) {
  for (size_t i = 0; i < step.inputs.size(); ++i) fn(i, step.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    fn(step.inputs.size() + i, step.outputs[i]);
}

// A batch of one has dropped a dim that others have.
template <typename Step>
Step with_outer_dims(Step step, int dims) {
  while (step.outer.size() < dims) {
    step.outer.insert(0, 1);
    for_each_access(step,
                    [](size_t, Access& access) { access.outer.insert(0, 0); });
  }
  return step;
}

RowStep padded(const RowStep& step) {
  if (is_flat(step) || has_index(step.body)) return step;
  return with_outer_dims(step, 2);
}

ColumnStep padded(const ColumnStep& step) {
  if (has_index(step.body)) return step;
  return with_outer_dims(step, 1);
}

// Numbers that code is made better for are kept in it.
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

// The step with numbers of its body as inputs behind the others; what they are
// goes to `numbers`.
ColumnStep with_number_inputs(ColumnStep step, std::vector<int64_t>& numbers) {
  for (size_t i = 0; i < step.body.instrs.size(); ++i) {
    if (!may_be_argument(step.body, static_cast<int32_t>(i))) continue;
    ScalarInstr& instr = step.body.instrs[i];
    numbers.push_back(bits_of(instr));
    Access access;
    access.dtype = instr.type;
    access.inner = 0;
    for (int d = 0; d < step.outer.size(); ++d) access.outer.push_back(0);
    for (int d = 0; d < step.reduce.size(); ++d) access.reduce.push_back(0);
    instr = {.prim = Prim::input,
             .type = instr.type,
             .slot = static_cast<int32_t>(step.inputs.size())};
    step.inputs.push_back(access);
  }
  return step;
}

void hide_columns(ColumnForm& form, CpuLevel level) {
  const int64_t columns = form.step.inner;
  if (columns <= 1) return;
  form.step.inner = kAny;
  const int64_t block = column_block(form.step, level);
  const int64_t lanes = weights::tile_shape(level).lanes;
  const int64_t rest = columns % block;
  form.whole_blocks = columns >= block;
  form.rest_vectors = static_cast<int>((rest + lanes - 1) / lanes);
  form.rest_partial = rest % lanes != 0;
}

void append(std::vector<int64_t>& numbers, const Dims& dims) {
  numbers.insert(numbers.end(), dims.begin(), dims.end());
}

// An access may lack strides of dims that its code does not ask for.
void append(std::vector<int64_t>& numbers, const Dims& strides, int dims) {
  append(numbers, strides);
  numbers.insert(numbers.end(), static_cast<size_t>(dims - strides.size()), 0);
}

template <typename Step>
void append_accesses(std::vector<int64_t>& numbers, const Step& step,
                     int reduced) {
  for_each_access(step, [&](size_t, const Access& access) {
    append(numbers, access.outer, step.outer.size());
    append(numbers, access.reduce, reduced);
    numbers.push_back(access.inner);
    numbers.push_back(access.gather_stride);
    numbers.push_back(access.gather_limit);
  });
}

}  // namespace

RowForm row_form(const RowStep& step, CpuLevel level) {
  const RowCode code = row_code(step, level);
  RowForm form{padded(step), {}};
  if (!has_reduction(step.body) && cost_of(step.body) > kHeavyBody)
    for (const Access& access : step.inputs)
      form.streams.push_back(is_stream(step, access));
  const auto is_crosswise = [&](size_t operand) {
    return std::any_of(code.crosswise.operands.begin(),
                       code.crosswise.operands.end(),
                       [&](const auto& c) { return c.operand == operand; });
  };
  for_each_access(form.step, [&](size_t operand, Access& access) {
    const bool together = code.lanes > 0 && access.outer.back() == 1;
    hide_outer(access.outer);
    hide_gather(access);
    if (together) {
      access.outer[access.outer.size() - 1] = 1;
      if (access.inner > 1) access.inner = kAny;
    }
    if (!is_crosswise(operand)) return;
    access.outer[access.outer.size() - 1] = 1;
    access.inner = kAny;
  });
  if (has_any_length(step, code, level)) form.step.inner = kAny;
  for (int64_t& size : form.step.outer) size = kAny;
  return form;
}

ColumnForm column_form(const ColumnStep& step, CpuLevel level) {
  std::vector<int64_t> numbers;
  ColumnForm form{.step = with_number_inputs(padded(step), numbers)};
  form.numbers = static_cast<int>(numbers.size());
  for_each_access(form.step, [&](size_t operand, Access& access) {
    // Numbers of the body are the same everywhere.
    const size_t inputs = form.step.inputs.size();
    const auto first = inputs - static_cast<size_t>(form.numbers);
    if (operand >= first && operand < inputs) return;
    for (int64_t& stride : access.outer) stride = kAny;
    hide(access.reduce);
    hide_gather(access);
  });
  for (int64_t& size : form.step.outer) size = kAny;
  for (int64_t& size : form.step.reduce)
    if (size > kShortReduction) size = kAny;
  hide_columns(form, level);
  return form;
}

std::string form_key(const RowForm& form) {
  std::string key = step_key(form.step);
  for (bool stream : form.streams) key += stream ? " ahead" : " -";
  return key;
}

std::string form_key(const ColumnForm& form) {
  std::string key = step_key(form.step);
  for (int number : {form.numbers, int{form.whole_blocks}, form.rest_vectors,
                     int{form.rest_partial}})
    key += " " + std::to_string(number);
  return key;
}

ArgumentPlaces::ArgumentPlaces(const RowStep& step)
    : operands_(step.inputs.size() + step.outputs.size()),
      outer_(static_cast<size_t>(padded(step).outer.size())) {}

ArgumentPlaces::ArgumentPlaces(const ColumnStep& step)
    : operands_(step.inputs.size() + step.outputs.size()),
      outer_(static_cast<size_t>(padded(step).outer.size())),
      reduce_(static_cast<size_t>(step.reduce.size())) {}

std::vector<int64_t> step_arguments(const RowStep& given) {
  const RowStep step = padded(given);
  std::vector<int64_t> numbers{step.inner};
  append(numbers, step.outer);
  append_accesses(numbers, step, 0);
  return numbers;
}

std::vector<int64_t> step_arguments(const ColumnStep& given) {
  std::vector<int64_t> body;
  const ColumnStep step = with_number_inputs(padded(given), body);
  std::vector<int64_t> numbers{step.inner};
  append(numbers, step.outer);
  append(numbers, step.reduce);
  append_accesses(numbers, step, step.reduce.size());
  numbers.insert(numbers.end(), body.begin(), body.end());
  return numbers;
}

}  // namespace fxjit::program
