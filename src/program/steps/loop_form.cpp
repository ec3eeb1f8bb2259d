#include "src/program/steps/loop_form.h"

#include <algorithm>

namespace fxjit::program {
namespace {

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

std::string text_of(const Extents& extents) {
  std::string text = " [";
  for (const Extent& extent : extents)
    text += (text.size() > 2 ? ", " : "") + extent.str();
  return text + "]";
}

std::string text_of(const AccessForm& access) {
  std::string text = "|" + std::string(dtype_name(access.dtype));
  text += text_of(access.outer) + text_of(access.reduce);
  text += " " + access.inner.str();
  if (access.gather_slot >= 0)
    text += " at " + std::to_string(access.gather_slot);
  return text;
}

std::string text_of(const std::vector<AccessForm>& accesses) {
  std::string text = " (";
  for (const AccessForm& access : accesses) text += text_of(access);
  return text + ")";
}

}  // namespace

std::string Extent::str() const {
  return is_argument_ ? "?" : std::to_string(number_);
}

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

std::string loops_key(const LoopForm& form) {
  return text_of(form.outer) + text_of(form.reduce) + " " + form.inner.str() +
         text_of(form.inputs) + text_of(form.outputs);
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
