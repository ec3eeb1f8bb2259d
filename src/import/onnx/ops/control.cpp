// Control flow whose course is known when the model is loaded: a branch that is
// chosen, and loops of a known number of turns, which are unrolled.
#include "src/import/onnx/graph_reader.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// Larger graphs than this are no gain.
constexpr int64_t kMostTurns = 1024;

// The truth of a condition, known when the model is loaded. One that follows
// from the inputs' sizes is what it is for the examples; calls for which it is
// another are refused when they run.
bool chosen(const Call& call) {
  if (const auto condition = call.known_ints(0)) {
    if (condition->size() != 1) call.fail("the condition: expected one element");
    return (*condition)[0] != 0;
  }
  const Operand& operand = call.operand(0);
  Value truth;
  if (operand.numbers && operand.numbers->items.size() == 1)
    truth = operand.numbers->items[0];
  else if (Recorder::follows_from_sizes(operand.value))
    truth = call.item_of(operand.value);
  if (!truth.is_proxy() || !Recorder::follows_from_sizes(truth))
    call.fail("the condition depends on an input");
  const bool is_true = Recorder::example(truth).as_double() != 0;
  function("torch.ops.aten._assert_scalar.default",
           {is_true ? truth != 0 : truth == 0,
            "the condition of an If is another one for these sizes"});
  return is_true;
}

Results if_of(Call& call) {
  const GraphInfo graph =
      call.graph(chosen(call) ? "then_branch" : "else_branch");
  return call.reader().read_inside(call, graph, {});
}

bool is_true(const Call& call, const Operand& condition) {
  if (condition.absent()) return true;
  if (condition.numbers && condition.numbers->items.size() == 1 &&
      condition.numbers->items[0].is_number())
    return condition.numbers->items[0].as_int() != 0;
  const Tensor* const known =
      condition.value.is_none() ? nullptr
                                : call.recorder().constant_of(condition.value);
  if (!known || known->numel() != 1)
    call.fail("the number of turns depends on an input");
  return known->item() != 0;
}

// Turns: count, condition and carried values in; condition, carried values and
// rows of the collected results out.
Results loop(Call& call) {
  int64_t turns = kMostTurns + 1;
  if (call.has(0)) {
    const auto known = call.known_ints(0);
    if (!known || known->size() != 1)
      call.fail("the number of turns depends on an input");
    turns = (*known)[0];
  }
  const GraphInfo body = call.graph("body");
  Operand condition = call.has(1) ? call.operand(1) : Operand();
  std::vector<Operand> carried;
  for (size_t i = 2; i < call.inputs(); ++i)
    carried.push_back(call.has(i) ? call.operand(i) : Operand());
  // Absent trailing inputs are none at all.
  if (body.inputs.size() < 2 || body.outputs.size() < 1)
    call.fail("body: expected a count and a condition among its inputs");
  carried.resize(body.inputs.size() - 2);
  if (body.outputs.size() < 1 + carried.size())
    call.fail("body: it has fewer outputs than carried values");
  std::vector<ValueList> rows(body.outputs.size() - 1 - carried.size());
  for (int64_t turn = 0; turn < turns && is_true(call, condition); ++turn) {
    if (turn == kMostTurns)
      call.fail("loops of more than " + std::to_string(kMostTurns) +
                " turns are not supported");
    std::vector<Operand> inputs = {Numbers{{Value(turn)}, true, DType::i64},
                                   condition};
    if (condition.absent())
      inputs[1] = call.recorder().constant(Tensor::full({}, 1, DType::boolean));
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Operand> results =
        call.reader().read_inside(call, body, std::move(inputs));
    condition = results[0];
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[1 + i];
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i].push_back(call.tensor_of(results[1 + carried.size() + i]));
  }
  for (ValueList& collected : rows) {
    if (collected.empty()) call.fail("a loop of no turns collects nothing");
    carried.emplace_back(stack(Value::list(std::move(collected)), 0));
  }
  return carried;
}

struct ScanAxes {
  std::vector<int64_t> inputs, outputs;
  std::vector<int64_t> input_turned, output_turned;
};

std::vector<int64_t> list_or(const Call& call, std::string_view name,
                             size_t count) {
  return per_dim(call, name, count, 0);
}

// One step along the scanned dims for each turn. `batch` is the dim that the
// first version has in front.
std::vector<Operand> scan_steps(Call& call, const GraphInfo& body,
                                std::vector<Operand> states,
                                const ValueList& scanned,
                                const ScanAxes& axes) {
  if (scanned.empty()) call.fail("there is nothing to scan");
  const Value length =
      call.sizes_of(scanned[0])[static_cast<size_t>(
          call.wrap(axes.inputs[0], call.rank_of(scanned[0])))];
  if (!length.is_int() || length.as_int() > kMostTurns)
    call.fail("the number of turns varies or is above " +
              std::to_string(kMostTurns));
  const int64_t turns = length.as_int();
  if (turns == 0) call.fail("a scan of no turns gives nothing");
  if (body.outputs.size() < states.size())
    call.fail("body: it has fewer outputs than states");
  std::vector<ValueList> rows(body.outputs.size() - states.size());
  for (int64_t turn = 0; turn < turns; ++turn) {
    std::vector<Operand> inputs = states;
    for (size_t i = 0; i < scanned.size(); ++i)
      inputs.emplace_back(
          select(scanned[i], axes.inputs[i],
                 axes.input_turned[i] != 0 ? turns - 1 - turn : turn));
    const auto results = call.reader().read_inside(call, body, inputs);
    for (size_t i = 0; i < states.size(); ++i) states[i] = results[i];
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i].push_back(call.tensor_of(results[states.size() + i]));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (axes.output_turned[i] != 0)
      std::reverse(rows[i].begin(), rows[i].end());
    states.emplace_back(
        stack(Value::list(std::move(rows[i])), axes.outputs[i]));
  }
  return states;
}

ScanAxes scan_axes(const Call& call, size_t inputs, size_t outputs) {
  return {list_or(call, "scan_input_axes", inputs),
          list_or(call, "scan_output_axes", outputs),
          list_or(call, "scan_input_directions", inputs),
          list_or(call, "scan_output_directions", outputs)};
}

Results scan(Call& call) {
  const GraphInfo body = call.graph("body");
  const int64_t count = call.integer("num_scan_inputs");
  const auto inputs = static_cast<int64_t>(call.inputs());
  if (count < 1 || count > inputs)
    call.fail("num_scan_inputs: " + std::to_string(count));
  const auto states = static_cast<size_t>(inputs - count);
  if (body.outputs.size() < states)
    call.fail("body: it has fewer outputs than states");
  std::vector<Operand> carried;
  for (size_t i = 0; i < states; ++i) carried.push_back(call.operand(i));
  ValueList scanned;
  for (size_t i = states; i < call.inputs(); ++i) scanned.push_back(call[i]);
  return scan_steps(call, body, std::move(carried), scanned,
                    scan_axes(call, scanned.size(),
                              body.outputs.size() - states));
}

// Opset 8: the first input tells lengths, and all others have a batch in front,
// whose elements are scanned each by itself.
Results scan_8(Call& call) {
  if (call.has(0)) call.fail("sequence_lens is not supported");
  const GraphInfo body = call.graph("body");
  const auto count = static_cast<size_t>(call.integer("num_scan_inputs"));
  if (count < 1 || count + 1 > call.inputs())
    call.fail("num_scan_inputs: " + std::to_string(count));
  const size_t states = call.inputs() - 1 - count;
  const Value batch = call.size(1, 0);
  if (!batch.is_int() || batch.as_int() > kMostTurns || batch.as_int() < 1)
    call.fail("the batch varies or is above " + std::to_string(kMostTurns));
  if (body.outputs.size() < states)
    call.fail("body: it has fewer outputs than states");
  ScanAxes axes = scan_axes(call, count, body.outputs.size() - states);
  axes.input_turned = list_or(call, "directions", count);
  std::vector<ValueList> results(body.outputs.size());
  for (int64_t b = 0; b < batch.as_int(); ++b) {
    std::vector<Operand> carried;
    ValueList scanned;
    for (size_t i = 1; i < call.inputs(); ++i) {
      const Value one = select(call[i], 0, b);
      if (i <= states)
        carried.emplace_back(one);
      else
        scanned.push_back(one);
    }
    const auto made =
        scan_steps(call, body, std::move(carried), scanned, axes);
    for (size_t i = 0; i < made.size(); ++i)
      results[i].push_back(call.tensor_of(made[i]));
  }
  std::vector<Operand> whole;
  for (ValueList& parts : results)
    whole.emplace_back(stack(Value::list(std::move(parts)), 0));
  return whole;
}

// The body for each element of the first sequence, beside those of the others.
Results sequence_map(Call& call) {
  const Value first = call[0];
  if (!first.is_sequence()) call.fail("the length of the sequence varies");
  const GraphInfo body = call.graph("body");
  std::vector<ValueList> results(body.outputs.size());
  for (size_t k = 0; k < first.size(); ++k) {
    std::vector<Operand> inputs;
    for (size_t i = 0; i < call.inputs(); ++i) {
      const Value value = call[i];
      if (value.is_sequence() && k >= value.size())
        call.fail("the sequences have different lengths");
      inputs.emplace_back(value.is_sequence() ? value.at(k) : value);
    }
    const auto made = call.reader().read_inside(call, body, inputs);
    for (size_t i = 0; i < made.size(); ++i)
      results[i].push_back(call.tensor_of(made[i]));
  }
  std::vector<Operand> lists;
  for (ValueList& items : results)
    lists.emplace_back(Value::list(std::move(items)));
  return lists;
}

constexpr OpRow kRows[] = {
    {.op = "If", .run = if_of},
    {.op = "Loop", .run = loop},
    {.op = "Scan", .since = 8, .run = scan_8},
    {.op = "Scan", .since = 9, .run = scan},
    {.op = "SequenceMap", .since = 17, .run = sequence_map},
};

}  // namespace

std::span<const OpRow> control_rows() { return kRows; }

}  // namespace fxjit::onnx
