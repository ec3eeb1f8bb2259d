// Scan: fx's scan along the first dims, or copies of its body where it is
// short.
#include <algorithm>

#include "src/import/onnx/ops/control.h"

namespace fxjit::onnx {
namespace {

using Operands = std::vector<Operand>;

struct ScanAxes {
  std::vector<int64_t> inputs, outputs;
  std::vector<int64_t> input_turned, output_turned;
};

// A slice or stack of what the operand is, of the same type.
Operand with_value(const Operand& operand, const Value& value) {
  Operand other(value);
  other.unsigned_bits = operand.unsigned_bits;
  return other;
}

Value scan_length(const Call& call, const Operands& scanned,
                  const ScanAxes& axes) {
  const Value& first = scanned[0].value;
  const int64_t axis = call.wrap(axes.inputs[0], call.rank_of(first));
  return call.sizes_of(first)[static_cast<size_t>(axis)];
}

// One copy of the body for each place along the scanned dims.
Operands unrolled(Call& call, const GraphInfo& body, Operands states,
                  const Operands& scanned, const ScanAxes& axes,
                  int64_t turns) {
  if (turns == 0) call.fail("a scan of no turns gives nothing");
  std::vector<ValueList> rows(body.outputs.size() - states.size());
  Operands last;
  for (int64_t turn = 0; turn < turns; ++turn) {
    Operands inputs = states;
    for (size_t i = 0; i < scanned.size(); ++i)
      inputs.push_back(with_value(
          scanned[i],
          select(scanned[i].value, axes.inputs[i],
                 axes.input_turned[i] != 0 ? turns - 1 - turn : turn)));
    last = call.reader().read_inside(call, body, inputs);
    for (size_t i = 0; i < states.size(); ++i) states[i] = last[i];
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i].push_back(call.tensor_of(last[states.size() + i]));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (axes.output_turned[i] != 0)
      std::reverse(rows[i].begin(), rows[i].end());
    states.push_back(
        with_value(last[states.size()],
                   stack(Value::list(std::move(rows[i])), axes.outputs[i])));
  }
  return states;
}

// fx's scan goes along the first dims from the first place on.
Operands recorded(Call& call, const GraphInfo& body, const Operands& states,
                  const Operands& scanned, const ScanAxes& axes) {
  Recorder& recorder = call.recorder();
  Recorder::ControlCall made{
      states.empty() ? fx::ControlFlow::map : fx::ControlFlow::scan,
      {},
      {},
      {},
      {}};
  std::vector<Recorder::Known> inputs;
  for (const Operand& state : states) {
    made.carried.push_back(call.tensor_of(state));
    inputs.push_back(Recorder::known(made.carried.back()));
  }
  std::vector<Recorder::Known> results = inputs;
  for (size_t i = 0; i < scanned.size(); ++i) {
    Value xs = movedim(scanned[i].value, axes.inputs[i], 0);
    if (axes.input_turned[i] != 0) xs = flip(xs, Value::list({0}));
    inputs.push_back(Recorder::known(select(xs, 0, 0)));
    made.xs.push_back(std::move(xs));
  }
  const Value length = scan_length(call, scanned, axes);
  Operands last;
  made.bodies.push_back(recorder.record_body(inputs, [&](const ValueList& in) {
    ValueList outputs;
    Operands given;
    for (size_t i = 0; i < in.size(); ++i)
      given.push_back(with_value(
          i < states.size() ? states[i] : scanned[i - states.size()], in[i]));
    last = call.reader().read_inside(call, body, std::move(given));
    for (const Operand& one : last) {
      outputs.push_back(call.tensor_of(one));
      const size_t i = outputs.size() - 1;
      const Recorder::Known known = Recorder::known(outputs.back());
      if (i < states.size())
        check_carried(call, i, inputs[i], known);
      else
        results.push_back(known_stack(known, length));
    }
    return outputs;
  }));
  ValueList all = recorder.record_control(std::move(made), results);
  for (size_t i = states.size(); i < all.size(); ++i) {
    const size_t row = i - states.size();
    if (axes.output_turned[row] != 0) all[i] = flip(all[i], Value::list({0}));
    all[i] = movedim(all[i], 0, axes.outputs[row]);
  }
  Operands typed;
  for (size_t i = 0; i < all.size(); ++i)
    typed.push_back(with_value(last[i], all[i]));
  return typed;
}

Operands scan_steps(Call& call, const GraphInfo& body, const Operands& states,
                    const Operands& scanned, const ScanAxes& axes) {
  if (scanned.empty()) call.fail("there is nothing to scan");
  const Value length = scan_length(call, scanned, axes);
  const bool may_unroll = length.is_int() && length.as_int() <= kMostTurns;
  if (may_unroll && is_short(length.as_int(), body))
    return unrolled(call, body, states, scanned, axes, length.as_int());
  try {
    return recorded(call, body, states, scanned, axes);
  } catch (const UserError&) {
    // What iterations differ in may be known for each of them.
    if (!may_unroll) throw;
    return unrolled(call, body, states, scanned, axes, length.as_int());
  }
}

ScanAxes scan_axes(const Call& call, size_t inputs, size_t outputs) {
  return {per_dim(call, "scan_input_axes", inputs, 0),
          per_dim(call, "scan_output_axes", outputs, 0),
          per_dim(call, "scan_input_directions", inputs, 0),
          per_dim(call, "scan_output_directions", outputs, 0)};
}

}  // namespace

Results scan(Call& call) {
  const GraphInfo body = call.graph("body");
  const int64_t count = call.integer("num_scan_inputs");
  const auto inputs = static_cast<int64_t>(call.inputs());
  if (count < 1 || count > inputs)
    call.fail("num_scan_inputs: " + std::to_string(count));
  const auto states = static_cast<size_t>(inputs - count);
  if (body.outputs.size() < states)
    call.fail("body: it has fewer outputs than states");
  Operands carried;
  for (size_t i = 0; i < states; ++i) carried.push_back(call.operand(i));
  Operands scanned;
  for (size_t i = states; i < call.inputs(); ++i)
    scanned.push_back(with_value(call.operand(i), call[i]));
  return scan_steps(
      call, body, std::move(carried), scanned,
      scan_axes(call, scanned.size(), body.outputs.size() - states));
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
  axes.input_turned = per_dim(call, "directions", count, 0);
  std::vector<ValueList> results(body.outputs.size());
  Operands last;
  for (int64_t b = 0; b < batch.as_int(); ++b) {
    Operands carried;
    Operands scanned;
    for (size_t i = 1; i < call.inputs(); ++i)
      (i <= states ? carried : scanned)
          .push_back(with_value(call.operand(i), select(call[i], 0, b)));
    last = scan_steps(call, body, std::move(carried), scanned, axes);
    for (size_t i = 0; i < last.size(); ++i)
      results[i].push_back(call.tensor_of(last[i]));
  }
  Operands whole;
  for (size_t i = 0; i < results.size(); ++i)
    whole.push_back(
        with_value(last[i], stack(Value::list(std::move(results[i])), 0)));
  return whole;
}

}  // namespace fxjit::onnx
