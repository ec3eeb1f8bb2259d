// Scan: fx's scan along the first dims, or copies of its body where it is
// short.
#include <algorithm>

#include "src/import/onnx/ops/control.h"

namespace fxjit::onnx {
namespace {

struct ScanAxes {
  std::vector<int64_t> inputs, outputs;
  std::vector<int64_t> input_turned, output_turned;
};

std::vector<int64_t> list_or(const Call& call, std::string_view name,
                             size_t count) {
  return per_dim(call, name, count, 0);
}

Value scan_length(const Call& call, const ValueList& scanned,
                  const ScanAxes& axes) {
  const int64_t axis = call.wrap(axes.inputs[0], call.rank_of(scanned[0]));
  return call.sizes_of(scanned[0])[static_cast<size_t>(axis)];
}

// One copy of the body for each place along the scanned dims.
std::vector<Operand> unrolled(Call& call, const GraphInfo& body,
                              std::vector<Operand> states,
                              const ValueList& scanned, const ScanAxes& axes) {
  const Value length = scan_length(call, scanned, axes);
  if (!length.is_int() || length.as_int() > kMostTurns)
    call.fail("the number of iterations varies or is above " +
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

// fx's scan goes along the first dims from the first place on.
std::vector<Operand> recorded(Call& call, const GraphInfo& body,
                              const std::vector<Operand>& states,
                              const ValueList& scanned, const ScanAxes& axes) {
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
    Value xs = movedim(scanned[i], axes.inputs[i], 0);
    if (axes.input_turned[i] != 0) xs = flip(xs, Value::list({0}));
    inputs.push_back(Recorder::known(select(xs, 0, 0)));
    made.xs.push_back(std::move(xs));
  }
  const Value length = scan_length(call, scanned, axes);
  made.bodies.push_back(recorder.record_body(inputs, [&](const ValueList& in) {
    ValueList outputs;
    std::vector<Operand> given(in.begin(), in.end());
    for (const Operand& one :
         call.reader().read_inside(call, body, std::move(given))) {
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
  return {all.begin(), all.end()};
}

std::vector<Operand> scan_steps(Call& call, const GraphInfo& body,
                                const std::vector<Operand>& states,
                                const ValueList& scanned,
                                const ScanAxes& axes) {
  if (scanned.empty()) call.fail("there is nothing to scan");
  const Value length = scan_length(call, scanned, axes);
  const bool may_unroll = length.is_int() && length.as_int() <= kMostTurns;
  if (may_unroll && is_short(length.as_int(), body))
    return unrolled(call, body, states, scanned, axes);
  try {
    return recorded(call, body, states, scanned, axes);
  } catch (const UserError&) {
    // What iterations differ in may be known for each of them.
    if (!may_unroll) throw;
    return unrolled(call, body, states, scanned, axes);
  }
}

ScanAxes scan_axes(const Call& call, size_t inputs, size_t outputs) {
  return {list_or(call, "scan_input_axes", inputs),
          list_or(call, "scan_output_axes", outputs),
          list_or(call, "scan_input_directions", inputs),
          list_or(call, "scan_output_directions", outputs)};
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
  std::vector<Operand> carried;
  for (size_t i = 0; i < states; ++i) carried.push_back(call.operand(i));
  ValueList scanned;
  for (size_t i = states; i < call.inputs(); ++i) scanned.push_back(call[i]);
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
    const auto made = scan_steps(call, body, std::move(carried), scanned, axes);
    for (size_t i = 0; i < made.size(); ++i)
      results[i].push_back(call.tensor_of(made[i]));
  }
  std::vector<Operand> whole;
  for (ValueList& parts : results)
    whole.emplace_back(stack(Value::list(std::move(parts)), 0));
  return whole;
}

}  // namespace fxjit::onnx
