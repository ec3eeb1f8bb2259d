#include "src/program/steps/loop_form.h"

#include <algorithm>
#include <bit>

#include "src/support/words.h"

namespace fxjit::program {
namespace {

using support::append_word;

Extents extents_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

AccessForm form_of(const Loops& loops, const Access& access) {
  AccessForm form;
  form.dtype = access.dtype;
  form.outer = extents_of(access.outer);
  form.reduce = extents_of(access.reduce);
  form.inner = access.inner;
  form.gather_slot = access.gather_slot;
  form.gathers_elements = gathers_elements(loops.inputs, access);
  return form;
}

// No size or stride is this.
constexpr int64_t kArgument = INT64_MIN;

void append(std::string& key, const Extent& extent) {
  append_word(key, extent.is_argument() ? kArgument : extent.number());
}

void append(std::string& key, const Extents& extents) {
  append_word(key, std::ssize(extents));
  for (const Extent& extent : extents) append(key, extent);
}

void append(std::string& key, const std::vector<AccessForm>& accesses) {
  append_word(key, std::ssize(accesses));
  for (const AccessForm& access : accesses) {
    append_word(key, static_cast<int64_t>(access.dtype));
    append(key, access.outer);
    append(key, access.reduce);
    append(key, access.inner);
    append_word(key, access.gather_slot);
  }
}

}  // namespace

void Loops::pad_outer(int dims) {
  while (outer.size() < dims) {
    outer.insert(0, 1);
    for (auto* accesses : {&inputs, &outputs})
      for (Access& access : *accesses) access.outer.insert(0, 0);
  }
}

LoopForm form_of(const Loops& loops) {
  LoopForm form;
  form.outer = extents_of(loops.outer);
  form.reduce = extents_of(loops.reduce);
  form.inner = loops.inner;
  for (const Access& access : loops.inputs)
    form.inputs.push_back(form_of(loops, access));
  for (const Access& access : loops.outputs)
    form.outputs.push_back(form_of(loops, access));
  return form;
}

LoopForm form_of_any_size(const Loops& loops) {
  LoopForm form = form_of(loops);
  for (Extent& size : form.outer) size = Extent::argument();
  form.inner = Extent::argument();
  for (size_t i = 0; i < form.operands(); ++i)
    for (Extent& stride : form.access(i).outer)
      if (stride != 0) stride = Extent::argument();
  return form;
}

std::string loops_key(const LoopForm& form) {
  std::string key;
  append(key, form.outer);
  append(key, form.reduce);
  append(key, form.inner);
  append(key, form.inputs);
  append(key, form.outputs);
  return key;
}

std::string body_key(const ScalarBody& body) {
  std::string key;
  append_word(key, std::ssize(body.instrs));
  for (const ScalarInstr& instr : body.instrs) {
    append_word(key, static_cast<int64_t>(instr.prim));
    append_word(key, static_cast<int64_t>(instr.type));
    append_word(key, instr.slot);
    for (const int32_t arg : instr.args) append_word(key, arg);
    append_word(key, std::bit_cast<int64_t>(instr.imm));
    append_word(key, instr.bits);
  }
  for (const int32_t result : body.results) append_word(key, result);
  return key;
}

std::vector<int64_t> loop_arguments(const Loops& loops) {
  std::vector<int64_t> numbers{loops.inner};
  // An access may lack strides of dims that its code does not ask for.
  const auto append = [&](const Dims& dims, int count) {
    for (int d = 0; d < count; ++d)
      numbers.push_back(d < dims.size() ? dims[d] : Size(0));
  };
  append(loops.outer, loops.outer.size());
  append(loops.reduce, loops.reduce.size());
  for (const auto* accesses : {&loops.inputs, &loops.outputs})
    for (const Access& access : *accesses) {
      append(access.outer, loops.outer.size());
      append(access.reduce, loops.reduce.size());
      numbers.push_back(access.inner);
      numbers.push_back(access.gather_stride);
      numbers.push_back(access.gather_limit);
    }
  return numbers;
}

bool has_index(const ScalarBody& body) {
  return std::any_of(
      body.instrs.begin(), body.instrs.end(),
      [](const ScalarInstr& instr) { return instr.prim == Prim::index; });
}

}  // namespace fxjit::program
