// Sequences of tensors and optional values. A sequence that the graph itself
// makes is a list while the model is loaded; one that is an input is a list
// when it runs.
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Results construct(Call& call) { return Value::list(call.all()); }

Results empty(Call&) { return Value::list({}); }

// A place of a sequence, known when the model is loaded, counted from the
// front.
size_t known_place(const Call& call, size_t input, size_t count) {
  const auto known = call.known_ints(input);
  if (!known || known->size() != 1)
    call.fail("position: it depends on an input");
  int64_t place = (*known)[0];
  if (place < 0) place += static_cast<int64_t>(count);
  if (place < 0 || place > static_cast<int64_t>(count))
    call.fail("position: " + std::to_string((*known)[0]) + " of " +
              std::to_string(count));
  return static_cast<size_t>(place);
}

// The stack behind a sequence that a loop has made; null for others.
const Value* stack_of(const Call& call) {
  const auto& grown = call.operand(0).grown;
  return grown && !grown->stack.is_none() ? &grown->stack : nullptr;
}

Results at(Call& call) {
  if (const Value* const stack = stack_of(call))
    return select(*stack, 0, call.scalar_int(1));
  const Value sequence = call[0];
  if (!sequence.is_sequence()) return getitem(sequence, call.scalar_int(1));
  const size_t place = known_place(call, 1, sequence.size());
  if (place >= sequence.size()) call.fail("position: behind the last one");
  return sequence.at(place);
}

Value part(const Value& sequence, const Value& begin, const Value& end) {
  return getitem(sequence, Value::slice(begin, end));
}

// One more tensor behind the others, in each iteration of a loop.
Results append(const Call& call) {
  auto grown = std::make_shared<GrownSequence>(*call.operand(0).grown);
  if (call.has(2) || !grown->stack.is_none())
    call.fail("a sequence that a loop makes longer is only appended to");
  grown->appended.push_back(call[1]);
  Operand result;
  result.grown = std::move(grown);
  return result;
}

Results insert(Call& call) {
  if (call.operand(0).grown) return append(call);
  const Value sequence = call[0];
  if (!sequence.is_sequence()) {
    const Value one = Value::list({call[1]});
    if (!call.has(2)) return sequence + one;
    const Value place = call.scalar_int(2);
    return part(sequence, {}, place) + one + part(sequence, place, {});
  }
  ValueList items = sequence.as_sequence();
  const size_t place =
      call.has(2) ? known_place(call, 2, items.size()) : items.size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), call[1]);
  return Value::list(std::move(items));
}

Results erase(Call& call) {
  const Value sequence = call[0];
  if (!sequence.is_sequence()) call.fail("the length of the sequence varies");
  ValueList items = sequence.as_sequence();
  if (items.empty()) call.fail("the sequence is empty");
  const size_t place =
      call.has(1) ? known_place(call, 1, items.size()) : items.size() - 1;
  if (place >= items.size()) call.fail("position: behind the last one");
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  return Value::list(std::move(items));
}

Results length(Call& call) {
  if (const Value* const stack = stack_of(call))
    return Numbers{{call.sizes_of(*stack)[0]}, true, DType::i64};
  const Value sequence = call[0];
  if (!sequence.is_sequence()) call.fail("the length of the sequence varies");
  return Numbers{{Value(sequence.size())}, true, DType::i64};
}

// `split` is absent, one size for all, or all sizes.
Results split_to_sequence(Call& call) {
  const int64_t axis = call.wrap(call.integer("axis", 0), call.rank(0));
  const bool keeps = call.flag("keepdims", true);
  const Value size = call.size(0, axis);
  std::vector<int64_t> sizes;
  if (call.has(1) && call.rank(1) == 1) {
    const auto known = call.known_ints(1);
    if (!known) call.fail("split: it depends on an input");
    sizes = *known;
  } else {
    if (!size.is_int()) call.fail("the size that is split varies");
    const auto known = call.has(1) ? call.known_int(1) : 1;
    if (!known || *known < 1) call.fail("split: expected 1 or more");
    const int64_t each = std::min(*known, size.as_int());
    for (int64_t at = 0; at < size.as_int(); at += each)
      sizes.push_back(std::min(each, size.as_int() - at));
  }
  ValueList parts;
  int64_t at = 0;
  for (const int64_t length : sizes) {
    Value piece = narrow(call[0], axis, at, length);
    if (!call.has(1) && !keeps) piece = squeeze(piece, axis);
    parts.push_back(std::move(piece));
    at += length;
  }
  return Value::list(std::move(parts));
}

// Joins the rows of a stack: their dim comes to where it belongs.
Value concat_rows(const Call& call, const Value& stack) {
  const bool new_axis = call.flag("new_axis", false);
  const int64_t rank = call.rank_of(stack) - (new_axis ? 0 : 1);
  const int64_t axis = call.wrap(call.integer("axis"), rank);
  const Value moved = movedim(stack, 0, axis);
  return new_axis ? moved : flatten(moved, axis, axis + 1);
}

Results concat_from_sequence(Call& call) {
  if (const Value* const stack = stack_of(call))
    return concat_rows(call, *stack);
  const int64_t axis = call.integer("axis");
  return call.flag("new_axis", false) ? stack(call[0], axis)
                                      : cat(call[0], axis);
}

// An optional without an input holds nothing.
Results optional(Call& call) {
  if (call.has(0)) return call.operand(0);
  return Operand();
}

Results has_element(Call& call) {
  return call.recorder().constant(
      Tensor::full({}, call.has(0) ? 1 : 0, DType::boolean));
}

Results get_element(Call& call) { return call.operand(0); }

constexpr OpRow kSequencesOps[] = {
    {.op = "ConcatFromSequence", .since = 11, .run = concat_from_sequence},
    {.op = "Optional", .since = 15, .run = optional},
    {.op = "OptionalGetElement", .since = 15, .run = get_element},
    {.op = "OptionalHasElement", .since = 15, .run = has_element},
    {.op = "SequenceAt", .since = 11, .run = at},
    {.op = "SequenceConstruct", .since = 11, .run = construct},
    {.op = "SequenceEmpty", .since = 11, .run = empty},
    {.op = "SequenceErase", .since = 11, .run = erase},
    {.op = "SequenceInsert", .since = 11, .run = insert},
    {.op = "SequenceLength", .since = 11, .run = length},
    {.op = "SplitToSequence", .since = 11, .run = split_to_sequence},
};

}  // namespace

std::span<const OpRow> sequence_rows() { return kSequencesOps; }

}  // namespace fxjit::onnx
