// If, which becomes fx's cond where its condition is known only when the model
// runs, and what loops share with it.
#include "src/import/onnx/ops/control.h"

#include <algorithm>

namespace fxjit::onnx {

bool is_short(int64_t turns, const GraphInfo& body) {
  constexpr int64_t kMostNodes = 512;
  const auto nodes = static_cast<int64_t>(body.nodes.size());
  return turns <= kMostTurns &&
         turns * std::max<int64_t>(nodes, 1) <= kMostNodes;
}

Value flag_of(const Value& tensor) {
  const Value flat = reshape(tensor, Value::list({}));
  return function("torch.ops.aten.to.dtype", {flat, DType::boolean});
}

Recorder::Known known_stack(const Recorder::Known& slice, const Value& count) {
  if (!slice.example.is_tensor()) return {};
  const Value turns = Recorder::example(count);
  Dims sizes = slice.example.as_tensor().sizes();
  sizes.insert(0, turns.is_int() && turns.as_int() > 0 ? turns.as_int() : 1);
  return {Tensor::meta(sizes, slice.example.as_tensor().dtype()),
          slice.fixed_dims << 1 | (count.is_int() ? 1u : 0u), slice.guessed};
}

void check_carried(const Call& call, size_t i, const Recorder::Known& first,
                   const Recorder::Known& next) {
  if (!first.example.is_tensor() || !next.example.is_tensor()) return;
  const Tensor& a = first.example.as_tensor();
  const Tensor& b = next.example.as_tensor();
  // Sizes of a guess may be any.
  const bool same_sizes =
      next.guessed ? a.dim() == b.dim() : a.sizes() == b.sizes();
  if (a.dtype() == b.dtype() && same_sizes) return;
  call.fail("carried value " + std::to_string(i) +
            " becomes another: " + a.describe() + " and then " + b.describe());
}

namespace {

// A condition: known, or a proxy of it. One that follows from the inputs' sizes
// is known for the examples.
struct Condition {
  std::optional<bool> known, by_example;
  Value value;
};

Condition condition_of(const Call& call) {
  Condition condition;
  if (const auto numbers = call.known_ints(0)) {
    if (numbers->size() != 1) call.fail("the condition: expected one element");
    condition.known = (*numbers)[0] != 0;
    return condition;
  }
  const Operand& operand = call.operand(0);
  Value truth;
  if (operand.numbers && operand.numbers->items.size() == 1)
    truth = operand.numbers->items[0];
  else if (Recorder::follows_from_sizes(operand.value))
    truth = call.item_of(operand.value);
  if (truth.is_proxy() && Recorder::follows_from_sizes(truth)) {
    condition.value = truth != 0;
    condition.by_example = Recorder::example(truth).as_double() != 0;
  } else {
    condition.value = flag_of(call[0]);
  }
  return condition;
}

std::vector<Operand> read_branch(Call& call, bool chosen) {
  return call.reader().read_inside(
      call, call.graph(chosen ? "then_branch" : "else_branch"), {});
}

// What may be either of two. `first` where only the number of elements differs.
Recorder::Known either(const Call& call, const Recorder::Known& first,
                       const Recorder::Known& second) {
  if (!first.example.is_tensor()) return second;
  if (!second.example.is_tensor()) return first;
  const Tensor& a = first.example.as_tensor();
  const Tensor& b = second.example.as_tensor();
  if (a.dtype() != b.dtype() || a.dim() != b.dim())
    call.fail("its branches give " + a.describe() + " and " + b.describe());
  Recorder::Known both = first;
  both.fixed_dims &= second.fixed_dims;
  for (int d = 0; d < a.dim(); ++d) {
    if (a.size(d) == b.size(d)) continue;
    both.fixed_dims &= ~(1u << d);
    both.guessed = true;
  }
  return both;
}

// The tensors of a branch's outputs, those of sequences one by one.
ValueList leaves_of(const Call& call, const std::vector<Operand>& outputs) {
  ValueList leaves;
  for (const Operand& output : outputs) {
    if (output.absent())
      call.fail("one of its branches gives no value, which is not supported");
    const Value value = call.tensor_of(output);
    if (!value.is_sequence())
      leaves.push_back(value);
    else
      leaves.insert(leaves.end(), value.as_sequence().begin(),
                    value.as_sequence().end());
  }
  return leaves;
}

class BranchesReader {
 public:
  BranchesReader(Call& call, Condition condition)
      : call_(call), condition_(std::move(condition)) {}

  // Both branches, one of which a call takes.
  Results run() {
    Recorder::ControlCall made{
        fx::ControlFlow::cond, {}, condition_.value, {}, {}};
    for (const bool chosen : {true, false})
      made.bodies.push_back(call_.recorder().record_body(
          {}, [&](const ValueList&) { return read(chosen); }));
    check_structure();
    const bool first = condition_.by_example.value_or(true);
    std::vector<Recorder::Known> results;
    for (size_t i = 0; i < known_[0].size(); ++i)
      results.push_back(
          either(call_, known_[first ? 0 : 1][i], known_[first ? 1 : 0][i]));
    return outputs(call_.recorder().record_control(std::move(made), results));
  }

 private:
  ValueList read(bool chosen) {
    const size_t which = chosen ? 0 : 1;
    outputs_[which] = read_branch(call_, chosen);
    ValueList leaves = leaves_of(call_, outputs_[which]);
    for (const Value& leaf : leaves)
      known_[which].push_back(Recorder::known(leaf));
    return leaves;
  }

  static size_t length_of(const Operand& output) {
    return output.value.is_sequence() ? output.value.size() : 1;
  }

  void check_structure() const {
    bool same = outputs_[0].size() == outputs_[1].size();
    for (size_t i = 0; same && i < outputs_[0].size(); ++i)
      same = outputs_[0][i].value.is_sequence() ==
                 outputs_[1][i].value.is_sequence() &&
             length_of(outputs_[0][i]) == length_of(outputs_[1][i]);
    if (!same) call_.fail("its branches give results of different structure");
  }

  std::vector<Operand> outputs(const ValueList& leaves) const {
    std::vector<Operand> made;
    size_t next = 0;
    for (size_t i = 0; i < outputs_[0].size(); ++i) {
      const Operand& output = outputs_[0][i];
      const auto begin = leaves.begin() + static_cast<std::ptrdiff_t>(next);
      const size_t length = length_of(output);
      next += length;
      Operand& one = made.emplace_back(
          output.value.is_sequence()
              ? Value::list(ValueList(
                    begin, begin + static_cast<std::ptrdiff_t>(length)))
              : *begin);
      one.unsigned_bits =
          std::max(output.unsigned_bits, outputs_[1][i].unsigned_bits);
    }
    return made;
  }

  Call& call_;
  const Condition condition_;
  std::vector<Operand> outputs_[2];
  std::vector<Recorder::Known> known_[2];
};

// The branch for the examples' sizes; calls of others are refused when they
// run.
Results decided(Call& call, const Condition& condition) {
  const bool chosen = *condition.by_example;
  call.recorder().set_guessed();
  function("torch.ops.aten._assert_scalar.default",
           {chosen ? condition.value : condition.value == false,
            "the condition of an If is another one for these sizes"});
  return read_branch(call, chosen);
}

Results if_of(Call& call) {
  const Condition condition = condition_of(call);
  if (condition.known) return read_branch(call, *condition.known);
  if (!condition.by_example) return BranchesReader(call, condition).run();
  try {
    return BranchesReader(call, condition).run();
  } catch (const UserError&) {
    // Branches may differ in rank or hold for their own sizes alone.
    return decided(call, condition);
  }
}

// The body for each element of the first sequence, beside those of the others.
Results sequence_map(Call& call) {
  const Value first = call[0];
  if (!first.is_sequence()) call.fail("the length of the sequence varies");
  const GraphInfo body = call.graph("body");
  std::vector<ValueList> results(body.outputs.size());
  std::vector<UnsignedBits> bits(results.size());
  for (size_t k = 0; k < first.size(); ++k) {
    std::vector<Operand> inputs;
    for (size_t i = 0; i < call.inputs(); ++i) {
      const Value value = call[i];
      if (value.is_sequence() && k >= value.size())
        call.fail("the sequences have different lengths");
      inputs.emplace_back(value.is_sequence() ? value.at(k) : value);
      inputs.back().unsigned_bits = call.unsigned_bits(i);
    }
    const auto made = call.reader().read_inside(call, body, inputs);
    for (size_t i = 0; i < made.size(); ++i) {
      results[i].push_back(call.tensor_of(made[i]));
      bits[i] = made[i].unsigned_bits;
    }
  }
  std::vector<Operand> lists;
  for (size_t i = 0; i < results.size(); ++i) {
    Operand& list = lists.emplace_back(Value::list(std::move(results[i])));
    list.unsigned_bits = bits[i];
  }
  return lists;
}

constexpr OpRow kControlOps[] = {
    {.op = "If", .run = if_of},
    {.op = "Loop", .run = loop},
    {.op = "Scan", .since = 8, .run = scan_8},
    {.op = "Scan", .since = 9, .run = scan},
    {.op = "SequenceMap", .since = 17, .run = sequence_map},
};

}  // namespace

std::span<const OpRow> control_rows() { return kControlOps; }

}  // namespace fxjit::onnx
