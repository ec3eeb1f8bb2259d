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

bool has_texts(const imported::Input& input) { return !input.texts.empty(); }

bool has_labels(const imported::Output& output) {
  return !output.texts.empty() || !output.columns.empty();
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
  if (!program_) return;
  carries_ = carries(program_->inputs) || carries(program_->outputs) ||
             std::ranges::any_of(program_->inputs, has_texts) ||
             std::ranges::any_of(program_->outputs, has_labels);
}

// An argument; strings as their places in the list that the input has. What
// finds these is made at the first call: loading does without Python.
nb::object Model::taken(size_t i, nb::handle argument) const {
  if (!carries_ || i >= program_->inputs.size() ||
      !has_texts(program_->inputs[i]))
    return nb::borrow(argument);
  text_places_.resize(program_->inputs.size());
  nb::object& places = text_places_[i];
  const pt2::Input& input = program_->inputs[i];
  if (!places.is_valid())
    places = nb::module_::import_("fxjit.labels")
                 .attr("TextPlaces")(input.path, input.texts);
  return places(argument);
}

size_t Model::place_of(std::string_view path) const {
  size_t i = 0;
  if (carries_)
    while (i < program_->inputs.size() && program_->inputs[i].path != path) ++i;
  return i;
}

// Where a file declares such types, its inputs and results are no containers.
CarriedType Model::type_of_input(size_t i) const {
  return carries_ && i < program_->inputs.size() ? program_->inputs[i].carried
                                                 : CarriedType::none;
}

CarriedType Model::type_of_output(size_t i) const {
  return carries_ && i < program_->outputs.size() ? program_->outputs[i].carried
                                                  : CarriedType::none;
}

// One result; where the file declares strings or maps, what these are to
// Python.
nb::object Model::output_object(const Value& result, size_t i,
                                ArrayKind kind) const {
  nb::object made = object_of(result, kind, type_of_output(i));
  if (!carries_ || i >= program_->outputs.size()) return made;
  const pt2::Output& output = program_->outputs[i];
  if (output.texts.empty() && output.columns.empty()) return made;
  const nb::module_ labels = nb::module_::import_("fxjit.labels");
  if (!output.texts.empty())
    return labels.attr("texts_at")(made, nb::cast(output.texts));
  nb::list columns;
  for (const Value& column : output.columns)
    columns.append(object_of(column, kind));
  return labels.attr("maps_of")(made, columns);
}

nb::object Model::result_object(const Value& result, ArrayKind kind) const {
  if (!carries_ || program_->outputs.size() == 1)
    return output_object(result, 0, kind);
  nb::list items;
  for (const Value& item : result.as_sequence())
    items.append(output_object(item, items.size(), kind));
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
