#include "src/import/onnx/ops/loop_body.h"

#include <algorithm>

namespace fxjit::onnx {

LoopBody::LoopBody(Call& call) : call_(call), body_(call.graph("body")) {
  if (body_.inputs.size() < 2 || body_.outputs.empty())
    call.fail("body: expected a count and a condition among its inputs");
  if (call.has(0)) {
    const auto known = call.known_ints(0);
    if (known && known->size() != 1)
      call.fail("the number of iterations: expected one element");
    if (known) turns_ = (*known)[0];
  }
  // Absent trailing inputs are none at all.
  for (size_t i = 2; i < body_.inputs.size(); ++i)
    carried_.push_back(call.has(i) ? call.operand(i) : Operand());
  if (body_.outputs.size() < 1 + carried_.size())
    call.fail("body: it has fewer outputs than carried values");
  rows_ = body_.outputs.size() - 1 - carried_.size();
  for (const Operand& one : carried_)
    unsigned_bits_.push_back(one.unsigned_bits);
  unsigned_bits_.resize(carried_.size() + rows_);
  find_unchanged();
}

void LoopBody::find_unchanged() {
  std::map<std::string_view, std::string_view> same;  // Of each, what it was.
  for (const Bytes& bytes : body_.nodes) {
    const NodeInfo node = read_node_info(bytes);
    if (node.op == "Identity" && plain_domain(node.domain).empty() &&
        node.inputs.size() == 1 && node.outputs.size() == 1)
      same.emplace(node.outputs[0], node.inputs[0]);
  }
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (carried_[i].absent() || carried_[i].value.is_sequence() ||
        call_.recorder().is_list(carried_[i].value))
      continue;
    std::string_view name = read_value_info(body_.outputs[1 + i]).name;
    for (size_t steps = same.size() + 1; steps > 0 && same.contains(name);
         --steps)
      name = same[name];
    if (name == read_value_info(body_.inputs[2 + i]).name) unchanged_.insert(i);
  }
}

std::optional<bool> LoopBody::known_truth(const Operand& condition) const {
  if (condition.absent()) return true;
  if (condition.numbers && condition.numbers->items.size() == 1 &&
      condition.numbers->items[0].is_number())
    return condition.numbers->items[0].as_int() != 0;
  const Tensor* const known =
      condition.value.is_none() ? nullptr
                                : call_.recorder().constant_of(condition.value);
  if (!known || known->numel() != 1) return std::nullopt;
  return known->item() != 0;
}

Operand LoopBody::condition() const {
  if (going_) return *going_;
  if (call_.has(1)) return call_.operand(1);
  return call_.recorder().constant(Tensor::full({}, 1, DType::boolean));
}

// What the body gives behind its condition: carried values and rows.
void LoopBody::note_types(const std::vector<Operand>& results) {
  for (size_t i = 0; i < unsigned_bits_.size(); ++i)
    unsigned_bits_[i] =
        std::max(unsigned_bits_[i], results[1 + i].unsigned_bits);
}

LoopBody::Carried LoopBody::first_values() const {
  Carried first;
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (joined_.contains(i) || is_unchanged(i)) continue;
    if (is_grown(i)) {
      if (carried_[i].value.size() != 0)
        call_.fail("carried value " + std::to_string(i) +
                   ": a sequence that a loop makes longer begins empty");
      continue;
    }
    if (carried_[i].absent())
      call_.fail("carried value " + std::to_string(i) +
                 ": an optional value that is absent at first");
    if (call_.recorder().is_list(carried_[i].value))
      call_.fail("carried value " + std::to_string(i) +
                 ": a sequence that is an input of the model");
    first.values.push_back(call_.tensor_of(carried_[i]));
    first.known.push_back(Recorder::known(first.values.back()));
    first.places.push_back(i);
  }
  return first;
}

LoopBody::Iteration LoopBody::read_body(const Value& turn, const Operand& going,
                                        const ValueList& carried) {
  std::vector<Operand> inputs = {turn, going};
  size_t next = 0;
  for (size_t i = 0; i < carried_.size(); ++i) {
    if (is_unchanged(i)) {
      inputs.push_back(carried_[i]);
      continue;
    }
    Operand& input = inputs.emplace_back();
    input.unsigned_bits = carried_[i].unsigned_bits;
    if (is_grown(i))
      input.grown =
          std::make_shared<GrownSequence>(GrownSequence{i, {}, {}, {}});
    else
      input.value = carried[next++];
  }
  const auto results = call_.reader().read_inside(call_, body_, inputs);
  note_types(results);
  Iteration made;
  made.condition = results[0];
  for (size_t i = 0; i < carried_.size(); ++i)
    if (!is_grown(i) && !is_unchanged(i))
      made.carried.push_back(call_.tensor_of(results[1 + i]));
  for (size_t i = 0; i < rows_; ++i)
    if (is_wanted(i))
      made.rows.push_back(call_.tensor_of(results[1 + carried_.size() + i]));
  for (size_t i = 0; i < carried_.size(); ++i)
    if (is_grown(i)) made.rows.push_back(appended(i, results[1 + i]));
  return made;
}

Value LoopBody::appended(size_t state, const Operand& output) {
  const bool joined = joined_.contains(state);
  if (!output.grown || output.grown->state != state ||
      output.grown->appended.size() != 1 ||
      output.grown->axis.has_value() != joined)
    call_.fail("carried value " + std::to_string(state) + ": expected a " +
               std::string(joined ? "tensor" : "sequence") +
               " to which each iteration appends one tensor");
  if (joined) joined_[state] = *output.grown->axis;
  return output.grown->appended[0];
}

Operand LoopBody::grown_result(size_t i, const Value& stack) const {
  Operand result;
  if (!joined_.contains(i)) {
    result.grown =
        std::make_shared<GrownSequence>(GrownSequence{i, {}, stack, {}});
    return result;
  }
  const int64_t axis = joined_.at(i);
  const Value parts = flatten(movedim(stack, 0, axis), axis, axis + 1);
  result.value = cat(Value::list({call_.tensor_of(carried_[i]), parts}), axis);
  return result;
}

std::vector<Operand> LoopBody::read_turn(int64_t turn, const Operand& going,
                                         const std::vector<Operand>& carried) {
  std::vector<Operand> inputs = {Numbers{{Value(turn)}, true, DType::i64},
                                 going};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  auto results = call_.reader().read_inside(call_, body_, std::move(inputs));
  note_types(results);
  return results;
}

}  // namespace fxjit::onnx
