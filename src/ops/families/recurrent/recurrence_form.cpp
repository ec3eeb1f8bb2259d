#include "src/ops/table/recurrence.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <utility>

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {
namespace {

using Kind = Activation::Kind;

struct Named {
  const char* name;
  Activation usual;
};

constexpr Named kActivationNames[] = {
    {"sigmoid", {Kind::sigmoid}},
    {"tanh", {Kind::tanh}},
    {"relu", {Kind::relu}},
    {"affine", {Kind::affine, 1, 0}},
    {"leakyrelu", {Kind::leaky_relu, 0.01}},
    {"thresholdedrelu", {Kind::thresholded_relu, 1}},
    {"scaledtanh", {Kind::scaled_tanh, 1, 1}},
    {"hardsigmoid", {Kind::hard_sigmoid, 0.2, 0.5}},
    {"elu", {Kind::elu, 1}},
    {"softsign", {Kind::softsign}},
    {"softplus", {Kind::softplus}},
};

// ONNX does not tell capitals apart.
Activation activation_named(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const Named& known : kActivationNames)
    if (name == known.name) return known.usual;
  throw ValueError("recurrence: unknown activation '" + name + "'");
}

std::vector<Activation> usual_activations(Cell cell) {
  const Activation sigmoid{Kind::sigmoid}, tanh{Kind::tanh};
  switch (cell) {
    case Cell::lstm:
      return {sigmoid, tanh, tanh};
    case Cell::gru:
      return {sigmoid, tanh};
    case Cell::rnn:
      return {tanh};
  }
  throw InternalError("usual_activations: not a cell");
}

void set_factors(std::vector<Activation>& activations, const Value& given,
                 double Activation::* factor) {
  const ValueList& factors = given.as_sequence();
  if (factors.size() > activations.size())
    throw ValueError(concat("recurrence: ", factors.size(), " factors for ",
                            activations.size(), " activations"));
  for (size_t i = 0; i < factors.size(); ++i)
    if (!factors[i].is_none()) activations[i].*factor = factors[i].as_double();
}

std::vector<Activation> read_activations(const OpCall& call,
                                         const Recurrence& form) {
  const std::vector<Activation> usual = usual_activations(form.cell);
  const size_t count = usual.size() * static_cast<size_t>(form.directions);
  std::vector<Activation> activations;
  for (const Value& name : call[kActivations].as_sequence())
    activations.push_back(activation_named(std::string(name.as_string())));
  if (activations.empty())
    while (activations.size() < count)
      activations.insert(activations.end(), usual.begin(), usual.end());
  if (activations.size() != count)
    throw ValueError("recurrence: expected " + std::to_string(count) +
                     " activations, got " + std::to_string(activations.size()));
  set_factors(activations, call[kAlphas], &Activation::alpha);
  set_factors(activations, call[kBetas], &Activation::beta);
  return activations;
}

void read_order(Recurrence& form, const Value& given) {
  const Dims order = given.as_dims();
  if (order.size() == 0) return;
  const auto count = static_cast<int>(form.gates());
  std::array<bool, 4> seen{};
  bool fits = order.size() == count;
  for (int g = 0; fits && g < count; ++g) {
    fits = order[g] >= 0 && order[g] < count &&
           !std::exchange(seen[static_cast<size_t>(order[g])], true);
    form.place[static_cast<size_t>(g)] = order[g];
  }
  if (!fits)
    throw ValueError("recurrence: expected an order of " +
                     std::to_string(count) + " gates, got " + order.str());
}

Cell cell_named(std::string_view name) {
  if (name == "lstm") return Cell::lstm;
  if (name == "gru") return Cell::gru;
  if (name == "rnn") return Cell::rnn;
  throw ValueError("recurrence: unknown cell '" + std::string(name) + "'");
}

void read_direction(Recurrence& form, std::string_view name) {
  if (name != "forward" && name != "reverse" && name != "bidirectional")
    throw ValueError(concat("recurrence: unknown direction '", name, "'"));
  form.directions = name == "bidirectional" ? 2 : 1;
  form.reversed = {name == "reverse", true};
}

void check_as(DType dtype, const Tensor& tensor, const Dims& sizes,
              const char* what) {
  if (tensor.sizes() != sizes)
    runtime_error("recurrence: expected ", what, " of size ", sizes, ", got ",
                  tensor.sizes());
  if (tensor.dtype() != dtype)
    runtime_error("recurrence: expected ", what, " of ", dtype_name(dtype),
                  ", got ", dtype_name(tensor.dtype()));
}

void check(const Recurrence& form, const Tensor& tensor, const Dims& sizes,
           const char* what) {
  check_as(form.dtype, tensor, sizes, what);
}

// One tensor of these sizes per direction, or none at all.
bool check_list(const Recurrence& form, const OpCall& call, size_t argument,
                const Dims& sizes, const char* what, bool needed) {
  const std::vector<Tensor> tensors = tensors_arg(call, argument);
  const auto count = static_cast<int64_t>(tensors.size());
  if (count == 0 && !needed) return false;
  if (count != form.directions)
    runtime_error("recurrence: expected ", form.directions, " ", what, ", got ",
                  count);
  for (const Tensor& tensor : tensors) check(form, tensor, sizes, what);
  return true;
}

void read_sizes(Recurrence& form, const OpCall& call) {
  const std::vector<Tensor> gates = tensors_arg(call, kGates);
  const Tensor& hidden = call.tensor(kHidden);
  if (gates.empty() || gates[0].dim() != (form.packed ? 2 : 3) ||
      hidden.dim() != 3)
    runtime_error("recurrence: expected gates and states of 3 dimensions");
  form.dtype = gates[0].dtype();
  if (!is_floating(form.dtype)) no_kernel("recurrence", form.dtype);
  const std::vector<Tensor> inputs = tensors_arg(call, kInputWeights);
  form.has_inputs = !inputs.empty();
  if (form.has_inputs) {
    if (inputs[0].dim() != 2)
      runtime_error("recurrence: expected input weights of 2 dimensions");
    form.features = gates[0].size(-1);
  }
  const int64_t sums = form.has_inputs ? inputs[0].size(0) : gates[0].size(-1);
  form.hidden = sums / form.gates();
  form.batch = hidden.sizes()[1];
  form.width = hidden.sizes()[2];
  form.length =
      form.packed ? call.tensor(kBatchSizes).numel() : gates[0].sizes()[0];
  form.rows = form.length * form.batch;
  if (form.packed) form.rows = gates[0].sizes()[0];
}

// Weights of the layer's type or, with scales, of i8 or u8.
void check_state_weights(Recurrence& form, const OpCall& call, int64_t sums) {
  form.quantised =
      check_list(form, call, kStateScales, {sums}, "scales of weights", false);
  const bool zeros = check_list(form, call, kStateZeros, {sums},
                                "zero points of weights", form.quantised);
  const Dims sizes{sums, form.width};
  if (!form.quantised && !zeros)
    return void(check_list(form, call, kStateWeights, sizes, "weights", true));
  if (form.dtype != DType::f32) no_kernel("quantised recurrence", form.dtype);
  const std::vector<Tensor> weights = tensors_arg(call, kStateWeights);
  const DType kind = weights.empty() ? DType::i8 : weights[0].dtype();
  if (static_cast<int64_t>(weights.size()) != form.directions ||
      (kind != DType::i8 && kind != DType::u8))
    runtime_error("recurrence: expected ", form.directions,
                  " weights of 8 bits beside scales, got ", weights.size(),
                  " of ", dtype_name(kind));
  for (const Tensor& each : weights) check_as(kind, each, sizes, "weights");
}

void check_tensors(Recurrence& form, const OpCall& call) {
  const int64_t sums = form.gates() * form.hidden;
  const int64_t each = form.has_inputs ? form.features : sums;
  check_list(
      form, call, kGates,
      form.packed ? Dims{form.rows, each} : Dims{form.length, form.batch, each},
      form.has_inputs ? "inputs" : "gates", true);
  check_list(form, call, kInputWeights, {sums, form.features}, "input weights",
             form.has_inputs);
  form.input_biased =
      check_list(form, call, kInputBiases, {sums}, "input biases", false);
  if (form.input_biased && !form.has_inputs)
    runtime_error("recurrence: input biases are of a product with inputs");
  check_state_weights(form, call, sums);
  form.biased = check_list(form, call, kStateBiases, {sums}, "biases", false);
  check(form, call.tensor(kHidden), {form.directions, form.batch, form.width},
        "hidden states");
  if (form.cell == Cell::lstm)
    check(form, call.tensor(kCellState),
          {form.directions, form.batch, form.hidden}, "cell states");
  form.projected =
      check_list(form, call, kProjections, {form.width, form.hidden},
                 "projections", form.width != form.hidden);
  form.peepholed =
      check_list(form, call, kPeepholes, {3 * form.hidden}, "peepholes", false);
  if (form.cell != Cell::lstm && (form.projected || form.peepholed))
    runtime_error("recurrence: projections and peepholes are of an LSTM");
}

void check_counts(const Recurrence& form, const OpCall& call, size_t argument,
                  Size size) {
  if (!call.has(argument)) return;
  const Tensor& counts = call.tensor(argument);
  if (counts.dtype() != DType::i64 && counts.dtype() != DType::i32)
    runtime_error("expected scalar type Long but found ",
                  torch_type_name(counts.dtype()));
  if (counts.sizes() != Dims{size} || form.packed == form.has_lengths)
    runtime_error("recurrence: expected lengths of ", size,
                  " sequences or batch sizes, got ", counts.sizes());
}

// Batch sizes fall, as those of packed sequences do.
void add_starts(SequenceOrder& order, const Recurrence& form,
                const int64_t* sizes) {
  int64_t sum = 0;
  for (int64_t t = 0; t < form.length; ++t) {
    const int64_t size = sizes[t],
                  most = t == 0 ? int64_t{form.batch} : sizes[t - 1];
    if (size < 0 || size > most || (t == 0 && size != form.batch))
      runtime_error("recurrence: expected batch sizes that fall from ",
                    form.batch, ", got ", size, " at ", t);
    order.start.push_back(sum);
    sum += size;
    for (int64_t n = 0; n < size; ++n)
      order.length[static_cast<size_t>(n)] = t + 1;
  }
  if (sum != form.rows)
    runtime_error("recurrence: batch sizes have the sum ", sum,
                  ", the data has ", form.rows, " rows");
}

void sort_lengths(SequenceOrder& order, const Recurrence& form,
                  const int64_t* lengths) {
  for (int64_t n = 0; n < form.batch; ++n)
    if (lengths[n] < 0 || lengths[n] > form.length)
      runtime_error("recurrence: expected lengths from 0 to ", form.length,
                    ", got ", lengths[n]);
  std::stable_sort(
      order.sequence.begin(), order.sequence.end(),
      [&](int64_t a, int64_t b) { return lengths[a] > lengths[b]; });
  for (size_t i = 0; i < order.length.size(); ++i)
    order.length[i] = lengths[order.sequence[i]];
}

}  // namespace

Recurrence Recurrence::read(const OpCall& call) {
  Recurrence form;
  form.cell = cell_named(call[kCell].as_string());
  read_direction(form, call[kDirection].as_string());
  form.packed = call.has(kBatchSizes);
  form.has_lengths = call.has(kLengths);
  read_sizes(form, call);
  check_tensors(form, call);
  check_counts(form, call, kBatchSizes, form.length);
  check_counts(form, call, kLengths, form.batch);
  form.activations = read_activations(call, form);
  if (call.has(kClip)) form.clip = call.number(kClip);
  form.coupled = call.flag(kCoupled);
  form.linear_before_reset = call.flag(kLinearBeforeReset);
  if (form.quantised && (form.projected || form.has_inputs ||
                         (form.cell == Cell::gru && !form.linear_before_reset)))
    runtime_error(
        "recurrence: quantised states are multiplied once a time, by "
        "themselves");
  read_order(form, call[kGateOrder]);
  form.strict = call.flag(kStrict);
  return form;
}

int64_t Recurrence::gates() const {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

bool Recurrence::is_plain() const {
  const std::vector<Activation> usual = usual_activations(cell);
  for (size_t i = 0; i < activations.size(); ++i)
    if (activations[i] != usual[i % usual.size()] &&
        !(cell == Cell::rnn && activations[i].kind == Kind::relu))
      return false;
  return !peepholed && clip == 0 && !coupled &&
         (cell != Cell::gru || linear_before_reset);
}

const Activation& Recurrence::activation(int64_t direction,
                                         int64_t index) const {
  const size_t each = activations.size() / static_cast<size_t>(directions);
  return activations[static_cast<size_t>(direction) * each +
                     static_cast<size_t>(index)];
}

int64_t SequenceOrder::running(int64_t time, int64_t begin, int64_t end) const {
  while (end > begin && length[static_cast<size_t>(end - 1)] <= time) --end;
  return end - begin;
}

SequenceOrder order_of(const Recurrence& form, const Tensor& numbers) {
  SequenceOrder order;
  const auto batch = static_cast<size_t>(form.batch);
  order.sequence.resize(batch);
  std::iota(order.sequence.begin(), order.sequence.end(), int64_t{0});
  order.length.assign(batch, form.packed ? 0 : int64_t{form.length});
  if (!numbers.defined()) return order;
  const Tensor counts = numbers.to(DType::i64).contiguous();
  if (form.packed)
    add_starts(order, form, counts.data_as<int64_t>());
  else
    sort_lengths(order, form, counts.data_as<int64_t>());
  return order;
}

}  // namespace fxjit::ops
