// fxjit.recurrence: what a recurrent layer is behind the product with its
// inputs, as a loop over time. Layers and cells of recurrent.cpp call it;
// compiled programs have faster loops (kernels/recurrence).
#include "src/ops/table/recurrence.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "src/ops/eager/matmul.h"
#include "src/ops/families/recurrent/activations.h"
#include "src/ops/families/recurrent/quantised_states.h"
#include "src/ops/families/recurrent/recurrence_flops.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// y += a * b, element by element.
template <typename T>
void add_products(const T* a, const T* b, T* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += a[i] * b[i];
}

// c [rows, columns] = a [rows, depth] times b [columns, depth] transposed, and
// a bias.
template <typename T>
void multiply(const T* a, int64_t a_row, const T* b,
              std::type_identity_t<const T*> bias, T* c, int64_t c_row,
              int64_t rows, int64_t columns, int64_t depth) {
  MatmulArgs args;
  args.dtype = std::is_same_v<T, double> ? DType::f64 : DType::f32;
  args.rows = rows, args.columns = columns, args.depth = depth;
  args.a = a, args.a_row = a_row;
  args.b = b, args.b_depth = 1, args.b_column = depth;
  args.c = c, args.c_row = c_row;
  args.bias = bias;
  run_matmul(args);
}

// One direction. Tensors are contiguous and of type T, but for the gates, whose
// last dim is contiguous.
template <typename T>
struct Side {
  Tensor gates, weights, bias, projection, peepholes;
  const QuantisedWeights* quantised = nullptr;  // In place of weights.
  T *output = nullptr, *hidden = nullptr, *cell = nullptr;  // Results.
  int64_t output_row = 0;
};

template <typename T>
class SideLoop {
 public:
  SideLoop(const Recurrence& form, const SequenceOrder& order, int64_t index,
           const Side<T>& side)
      : form_(form),
        order_(order),
        index_(index),
        side_(side),
        sums_(count(form.gates() * form.hidden)),
        state_(count(form.width)),
        cell_(count(form.hidden)),
        made_(count(form.hidden)) {}

  // `hidden` and `cell` are the initial states of this direction.
  void run(const T* hidden, const T* cell) {
    load_state(hidden, form_.width, state_);
    if (form_.cell == Cell::lstm) load_state(cell, form_.hidden, cell_);
    const bool reversed = form_.reversed[static_cast<size_t>(index_)];
    const int64_t length = form_.length;
    for (int64_t i = 0; i < length; ++i) step(reversed ? length - 1 - i : i);
    store_state(state_, form_.width, side_.hidden);
    if (form_.cell == Cell::lstm) store_state(cell_, form_.hidden, side_.cell);
  }

 private:
  size_t count(int64_t width) const {
    return static_cast<size_t>(ExactInt(form_.batch) * width);
  }

  void load_state(const T* from, int64_t width, std::vector<T>& to) {
    for (int64_t n = 0; n < form_.batch; ++n)
      std::copy_n(from + sequence(n) * width, width, to.data() + n * width);
  }
  void store_state(const std::vector<T>& from, int64_t width, T* to) {
    for (int64_t n = 0; n < form_.batch; ++n)
      std::copy_n(from.data() + n * width, width, to + sequence(n) * width);
  }

  int64_t sequence(int64_t place) const {
    return order_.sequence[static_cast<size_t>(place)];
  }
  const T* gates_at(int64_t time, int64_t place) const {
    const Dims& strides = side_.gates.strides();
    const auto* first = side_.gates.template data_as<T>();
    if (form_.packed)
      return first +
             (order_.start[static_cast<size_t>(time)] + place) * strides[0];
    return first + time * strides[0] + sequence(place) * strides[1];
  }
  T* output_at(int64_t time, int64_t place) const {
    const int64_t row = form_.packed
                            ? order_.start[static_cast<size_t>(time)] + place
                            : time * int64_t{form_.batch} + sequence(place);
    return side_.output + row * side_.output_row;
  }

  const T* optional(const Tensor& tensor) const {
    return tensor.defined() ? tensor.template data_as<T>() : nullptr;
  }

  void step(int64_t time) {
    const int64_t h = form_.hidden, p = form_.width;
    const int64_t running = order_.running(time, 0, form_.batch);
    if (!form_.packed) clear_behind(time, running);
    if (running == 0) return;
    multiply_states(running);
    for (int64_t n = 0; n < running; ++n) first_part(gates_at(time, n), n);
    if (form_.cell == Cell::gru && !form_.linear_before_reset) reset(running);
    for (int64_t n = 0; n < running; ++n) second_part(gates_at(time, n), n);
    if (form_.projected)
      multiply(made_.data(), h, optional(side_.projection), nullptr,
               state_.data(), p, running, p, h);
    else
      std::copy_n(made_.data(), running * h, state_.data());
    for (int64_t n = 0; n < running; ++n)
      std::copy_n(state_.data() + n * p, p, output_at(time, n));
  }

  void multiply_states(int64_t running) {
    const int64_t sums = form_.gates() * form_.hidden;
    if constexpr (std::is_same_v<T, float>)
      if (side_.quantised)
        return side_.quantised->multiply(state_.data(), optional(side_.bias),
                                         sums_.data(), running);
    multiply(state_.data(), form_.width, optional(side_.weights),
             optional(side_.bias), sums_.data(), sums, running, sums,
             form_.width);
  }

  // What sequences that have ended give.
  void clear_behind(int64_t time, int64_t running) {
    for (int64_t n = running; n < form_.batch; ++n)
      std::fill_n(output_at(time, n), form_.width, T(0));
  }

  void apply(int64_t activation, T* x) {
    const T bound = static_cast<T>(form_.clip);
    if (bound > 0)
      each_number(x, form_.hidden, [=](T v) {
        return v < -bound ? -bound : v > bound ? bound : v;
      });
    activate(form_.activation(index_, activation), x, form_.hidden);
  }

  // The gates that need no other one.
  void first_part(const T* from_input, int64_t n) {
    const int64_t h = form_.hidden;
    T* sums = sums_.data() + n * form_.gates() * h;
    const int64_t added = form_.cell == Cell::gru ? 2 * h : form_.gates() * h;
    for (int64_t i = 0; i < added; ++i) sums[i] += from_input[i];
    if (form_.cell == Cell::rnn) return apply(0, sums);
    if (form_.cell == Cell::gru) return apply(0, sums), apply(0, sums + h);
    const T* c = cell_.data() + n * h;
    if (const T* factors = optional(side_.peepholes)) {
      add_products(factors, c, sums, h);
      add_products(factors + h, c, sums + h, h);
    }
    apply(0, sums), apply(0, sums + h), apply(1, sums + 2 * h);
  }

  // GRU: the reset state times the new gate's weights, in place of the product.
  void reset(int64_t running) {
    const int64_t h = form_.hidden;
    for (int64_t n = 0; n < running; ++n)
      for (int64_t i = 0; i < h; ++i)
        made_[static_cast<size_t>(n * h + i)] =
            state_[static_cast<size_t>(n * h + i)] *
            sums_[static_cast<size_t>(n * 3 * h + i)];
    const T* bias = optional(side_.bias);
    multiply(made_.data(), h, optional(side_.weights) + 2 * h * h,
             bias ? bias + 2 * h : nullptr, sums_.data() + 2 * h, 3 * h,
             running, h, h);
  }

  void second_part(const T* from_input, int64_t n) {
    const int64_t h = form_.hidden;
    T* sums = sums_.data() + n * form_.gates() * h;
    T* made = made_.data() + n * h;
    if (form_.cell == Cell::rnn) std::copy_n(sums, h, made);
    if (form_.cell == Cell::gru) finish_gru(from_input, sums, n, made);
    if (form_.cell == Cell::lstm) finish_lstm(sums, n, made);
  }

  void finish_gru(const T* from_input, T* sums, int64_t n, T* made) {
    const int64_t h = form_.hidden;
    T* fresh = sums + 2 * h;
    for (int64_t i = 0; i < h; ++i)
      fresh[i] = from_input[2 * h + i] +
                 (form_.linear_before_reset ? sums[i] * fresh[i] : fresh[i]);
    apply(1, fresh);
    const T *old = state_.data() + n * h, *update = sums + h;
    for (int64_t i = 0; i < h; ++i)
      made[i] = (old[i] - fresh[i]) * update[i] + fresh[i];
  }

  void finish_lstm(T* sums, int64_t n, T* made) {
    const int64_t h = form_.hidden;
    const T *in = sums, *fresh = sums + 2 * h;
    T *forget = sums + h, *out = sums + 3 * h, *c = cell_.data() + n * h;
    if (form_.coupled)
      for (int64_t i = 0; i < h; ++i) forget[i] = 1 - in[i];
    for (int64_t i = 0; i < h; ++i) c[i] = forget[i] * c[i] + in[i] * fresh[i];
    if (const T* factors = optional(side_.peepholes))
      add_products(factors + 2 * h, c, out, h);
    apply(0, out);
    std::copy_n(c, h, made);
    apply(2, made);
    for (int64_t i = 0; i < h; ++i) made[i] *= out[i];
  }

  const Recurrence& form_;
  const SequenceOrder& order_;
  const int64_t index_;
  const Side<T>& side_;
  // Gates, states and what a step makes, for all sequences in their order.
  std::vector<T> sums_, state_, cell_, made_;
};

// The half types are computed in float and rounded once.
Tensor ready(const Tensor& tensor) {
  return tensor.to(compute_dtype(tensor.dtype())).contiguous();
}

// The same with the parts of a dim in torch's order.
Tensor in_order(const Tensor& tensor, int dim,
                const std::vector<int64_t>& places) {
  if (!tensor.defined() || std::is_sorted(places.begin(), places.end()))
    return tensor;
  const Tensor made = Tensor::empty(tensor.sizes(), tensor.dtype());
  Dims part = tensor.sizes();
  part[dim] /= static_cast<int64_t>(places.size());
  for (size_t g = 0; g < places.size(); ++g) {
    const auto view = [&](const Tensor& t, int64_t place) {
      return t.as_strided(part, t.strides(),
                          t.offset() + place * part[dim] * t.strides()[dim]);
    };
    view(made, static_cast<int64_t>(g)).copy_from(view(tensor, places[g]));
  }
  return made;
}

std::vector<int64_t> places_of_gates(const Recurrence& form) {
  return {form.place.begin(), form.place.begin() + form.gates()};
}

// Where input, forget and output stand: in the order of the gates without the
// cell's.
std::vector<int64_t> places_of_peepholes(const Recurrence& form) {
  const int64_t cell = form.place[2];
  std::vector<int64_t> places;
  for (size_t gate : {0, 1, 3})
    places.push_back(form.place[gate] - (form.place[gate] > cell ? 1 : 0));
  return places;
}

// The gates of one direction: given, or the product of its inputs and weights.
template <typename T>
Tensor gates_of(const Recurrence& form, const Tensor& given,
                const Tensor& weights, const Tensor& bias) {
  if (!form.has_inputs) return given;
  Dims sizes = given.sizes();
  const int64_t sums = form.gates() * form.hidden;
  sizes[sizes.size() - 1] = sums;
  const Tensor gates = Tensor::empty(sizes, given.dtype());
  multiply(given.data_as<T>(), form.features, weights.data_as<T>(),
           bias.defined() ? bias.data_as<T>() : nullptr, gates.data_as<T>(),
           sums, form.rows, sums, form.features);
  return gates;
}

template <typename T>
void run_as(const OpCall& call, const Recurrence& form,
            std::span<const Tensor> results) {
  const SequenceOrder order =
      order_of(form, form.packed        ? call.tensor(kBatchSizes)
                     : form.has_lengths ? call.tensor(kLengths)
                                        : Tensor());
  const bool lstm = form.cell == Cell::lstm;
  const Tensor hidden = ready(call.tensor(kHidden));
  const Tensor cell = lstm ? ready(call.tensor(kCellState)) : Tensor();
  for (int64_t d = 0; d < form.directions; ++d) {
    const auto of = [&](size_t argument) {
      const std::vector<Tensor> all = tensors_arg(call, argument);
      return all.empty() ? Tensor() : ready(all[static_cast<size_t>(d)]);
    };
    const std::vector<int64_t> places = places_of_gates(form);
    const Tensor gates =
        gates_of<T>(form, of(kGates), of(kInputWeights), of(kInputBiases));
    const auto ordered = [&](size_t argument) {
      return in_order(of(argument), 0, places);
    };
    Side<T> side{in_order(gates, gates.dim() - 1, places),
                 ordered(kStateWeights), ordered(kStateBiases),
                 of(kProjections),
                 in_order(of(kPeepholes), 0, places_of_peepholes(form))};
    std::optional<QuantisedWeights> quantised;
    if (form.quantised)
      side.quantised = &quantised.emplace(side.weights, ordered(kStateScales),
                                          ordered(kStateZeros));
    const int64_t state = d * form.batch * form.width;
    const int64_t cells = d * form.batch * form.hidden;
    side.output = results[0].data_as<T>() + d * form.width;
    side.output_row = form.directions * form.width;
    side.hidden = results[1].data_as<T>() + state;
    if (lstm) side.cell = results[2].data_as<T>() + cells;
    SideLoop<T>(form, order, d, side)
        .run(hidden.data_as<T>() + state,
             lstm ? cell.data_as<T>() + cells : nullptr);
  }
}

void run_recurrence(const OpCall& call, std::span<const Tensor> results) {
  const Recurrence form = Recurrence::read(call);
  if (compute_dtype(form.dtype) == form.dtype)
    return form.dtype == DType::f64 ? run_as<double>(call, form, results)
                                    : run_as<float>(call, form, results);
  std::vector<Tensor> wide;
  for (const Tensor& result : results)
    wide.push_back(Tensor::empty(result.sizes(), DType::f32));
  run_as<float>(call, form, wide);
  for (size_t i = 0; i < results.size(); ++i) results[i].copy_from(wide[i]);
}

// The output [L, N, directions * P] or [rows, directions * P], and the final
// states.
Value infer_recurrence(const OpCall& call) {
  const Recurrence form = Recurrence::read(call);
  const int64_t width = ExactInt(form.directions) * form.width;
  ValueList results;
  results.push_back(Tensor::meta(form.packed
                                     ? Dims{form.rows, width}
                                     : Dims{form.length, form.batch, width},
                                 form.dtype));
  results.push_back(
      Tensor::meta({form.directions, form.batch, form.width}, form.dtype));
  if (form.cell == Cell::lstm)
    results.push_back(
        Tensor::meta({form.directions, form.batch, form.hidden}, form.dtype));
  return Value::tuple(std::move(results));
}

constexpr OpRow kRecurrenceRows[] = {
    direct_row("fxjit.recurrence",
               "gates, weights, biases, hx, cx=None, projections=(), "
               "peepholes=(), batch_sizes=None, lengths=None, cell='lstm', "
               "direction='forward', activations=(), alphas=(), betas=(), "
               "clip=None, coupled=False, linear_before_reset=True, "
               "gate_order=(), strict=False, input_weights=(), "
               "input_biases=(), state_scales=(), state_zeros=()",
               "fxjit.recurrence", infer_recurrence, run_recurrence)
        .stating(
            {.routine = RoutineKind::recurrence, .flops = recurrence_flops}),
};

}  // namespace

std::span<const OpRow> recurrence_rows() { return kRecurrenceRows; }

}  // namespace fxjit::ops
