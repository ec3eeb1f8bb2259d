// Arguments and results whose types the file declares and tensors lack.
#include <algorithm>

#include "python/model.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

bool carries(const auto& described) {
  return std::ranges::any_of(described, [](const auto& one) {
    return one.carried != CarriedType::none;
  });
}

void collect_tensors(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.as_tensor());
  if (value.is_sequence())
    for (const Value& item : value.as_sequence())
      collect_tensors(item, tensors);
  if (value.is_dict())
    for (const auto& [key, item] : value.as_dict())
      collect_tensors(item, tensors);
}

}  // namespace

void Model::find_carried_types() {
  if (program_)
    carries_ = carries(program_->inputs) || carries(program_->outputs);
}

// Where a file declares such types, its inputs and results are no containers.
CarriedType Model::type_of_input(size_t i) const {
  return carries_ && i < program_->inputs.size() ? program_->inputs[i].carried
                                                 : CarriedType::none;
}

CarriedType Model::type_of_input(std::string_view path) const {
  if (carries_)
    for (const pt2::Input& input : program_->inputs)
      if (input.path == path) return input.carried;
  return CarriedType::none;
}

CarriedType Model::type_of_output(size_t i) const {
  return carries_ && i < program_->outputs.size() ? program_->outputs[i].carried
                                                  : CarriedType::none;
}

nb::object Model::result_object(const Value& result, ArrayKind kind) const {
  if (!carries_ || program_->outputs.size() == 1)
    return object_of(result, kind, type_of_output(0));
  nb::list items;
  for (const Value& item : result.as_sequence())
    items.append(object_of(item, kind, type_of_output(items.size())));
  return nb::tuple(items);
}

// A call writes to tensors of the types that it computes; those of other arrays
// are made here, and copied when it is done.
void Model::take_outputs(Call& call, nb::handle out, Arrays& arrays) const {
  call.out = nb::borrow(out);
  arrays.as_bits = true;
  if (!carries_ || program_->outputs.size() == 1) {
    arrays.type = type_of_output(0);
    collect_tensors(value_of(out, "out", arrays), call.outputs);
  } else {
    for (const nb::handle item : out) {
      arrays.type = type_of_output(call.outputs.size());
      collect_tensors(value_of(item, "out", arrays), call.outputs);
    }
  }
  arrays.as_bits = false;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const CarriedType type = type_of_output(i);
    if (type == CarriedType::none) continue;
    const Tensor bits = call.outputs[i];
    call.outputs[i] = Tensor::empty(bits.sizes(), carrier_of(type));
    call.later.push_back({i, bits, type});
  }
}

void Model::copy_later(const Call& call) {
  for (const Later& one : call.later)
    Tensor(one.bits).copy_from(bits_of(call.outputs[one.output], one.type));
}

}  // namespace fxjit::python
