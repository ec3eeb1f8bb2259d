#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/recurrence/layer_inputs.h"
#include "kernels/recurrence/layer_weights.h"
#include "kernels/recurrence/places.h"
#include "kernels/recurrence/task.h"
#include "kernels/routines.h"
#include "src/ops/table/recurrence.h"
#include "src/program/running/eager_code.h"

namespace fxjit::kernels {
namespace {

using ops::Cell;
using ops::Recurrence;
using ops::SequenceOrder;

// Sequences of one task: more have states that leave the caches.
constexpr int64_t kMostRows = 96;
// Work of one task that pays for a hand-over between threads.
constexpr double kLeastFlops = 1e6;

StepWork work_of(const Recurrence& form, int64_t direction) {
  if (form.cell == Cell::lstm) return StepWork::lstm;
  if (form.cell == Cell::gru) return StepWork::gru;
  return form.activation(direction, 0).kind == ops::Activation::Kind::relu
             ? StepWork::relu
             : StepWork::tanh;
}

StepNumbers numbers_of(const CallRequest& request) {
  const ops::OpCall call{request.op, request.args};
  const ValueList& weights = call[ops::kStateWeights].as_sequence();
  const DType type = weights[0].as_tensor().dtype();
  return type == DType::i8   ? StepNumbers::i8
         : type == DType::u8 ? StepNumbers::u8
                             : StepNumbers::f32;
}

// Operands: the tensors of the call, then its results. A task is one direction
// of some sequences.
class RecurrentRoutine : public program::ExternCode {
 public:
  RecurrentRoutine(Recurrence form, const CallRequest& request, int threads)
      : form_(std::move(form)),
        places_(ops::OpCall{request.op, request.args}),
        level_(request.level),
        numbers_(numbers_of(request)),
        inputs_(form_, work_of(form_, 0), places_, request, threads) {
    const ops::OpCall call{request.op, request.args};
    for (const Value& gates : call[ops::kGates].as_sequence()) {
      const Dims& strides = gates.as_tensor().strides();
      gates_.push_back({strides[0], form_.packed ? strides[0] : strides[1],
                        strides[strides.size() - 1]});
    }
    weights_ = packed(request, places_.weights, false);
    if (form_.projected)
      projections_ = packed(request, places_.projections, true);
    if (places_.counts >= 0)
      counts_ = call.tensor(form_.packed ? ops::kBatchSizes : ops::kLengths);
    cut(threads);
    lay_out();
  }

  int64_t tasks() const override { return form_.directions * blocks_; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(room_.size) * sizeof(float);
  }
  bool reads(size_t operand) const override {
    const auto place = static_cast<int64_t>(operand);
    return !weights_.holds(place) && !projections_.holds(place) &&
           !inputs_.holds(place);
  }
  std::string describe() const override { return "recurrent layer"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    const SequenceOrder order = program::refusing_values([&] {
      return ops::order_of(
          form_, counts_.defined()
                     ? program::borrow(call.operands[places_.counts], counts_)
                     : Tensor());
    });
    for (int64_t task = begin; task < end; ++task)
      run_task(call, order, task / blocks_, task % blocks_);
  }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  GateOrder gate_order() const { return {form_.place}; }
  StepWork work(int64_t direction) const { return work_of(form_, direction); }

  StepPacking packing(int64_t direction) const {
    return {work(direction), gate_order(), form_.hidden, form_.width,
            level_,          false,        numbers_};
  }

  LayerWeights packed(const CallRequest& request, int64_t place,
                      bool projection) const {
    std::vector<StepPacking> packings;
    for (int64_t d = 0; d < form_.directions; ++d)
      packings.push_back(projection
                             ? StepPacking{StepWork::project, gate_order(),
                                           form_.width, form_.hidden, level_}
                             : packing(d));
    return LayerWeights(request, place, std::move(packings));
  }

  // Blocks of sequences: of fitting size, and as many as there are threads for.
  void cut(int threads) {
    const double flops = 2.0 * static_cast<double>(form_.rows) *
                         static_cast<double>(form_.gates() * form_.hidden) *
                         static_cast<double>(form_.width + form_.features);
    const int64_t sides = form_.directions;
    const auto worth = static_cast<int64_t>(flops / kLeastFlops);
    const int64_t wanted =
        std::min<int64_t>((threads + sides - 1) / sides, worth);
    const int64_t least = (form_.batch + kMostRows - 1) / kMostRows;
    blocks_ = std::clamp<int64_t>(wanted, std::max<int64_t>(least, 1),
                                  std::max<int64_t>(form_.batch, 1));
    rows_ = (form_.batch + blocks_ - 1) / blocks_;
  }

  void lay_out() {
    const int64_t wide = std::max(form_.hidden, form_.width);
    // Rows of a power of two would share their places in the cache.
    row_ = padded_units(wide, level_) + 16;
    state_ = room_.add(2 * rows_ * row_);
    cell_ = room_.add(form_.cell == Cell::lstm ? rows_ * row_ : 0);
    made_ = room_.add(form_.projected ? rows_ * row_ : 0);
    bias_ = room_.add(packing(0).of_bias().floats());
    pointers_ = room_.add(2 * rows_ * 2);  // Each as long as two floats.
    if (form_.quantised) lay_out_integers();
    weights_.lay_out(room_);
    projections_.lay_out(room_);
    inputs_.lay_out(room_, rows_);
  }

  void lay_out_integers() {
    constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
    columns_ = room_.add(2 * packing(0).of_bias().floats());
    state_numbers_ =
        room_.add(rows_ * static_cast<int64_t>(sizeof(StateNumbers)) / kFloat);
    state_bytes_ =
        room_.add(2 * rows_ * padded_units(form_.width, level_) / kFloat);
    sums_ = room_.add(rows_ * sums_row());
  }

  int64_t sums_row() const {
    const int64_t columns = packing(0).of_bias().floats();
    return form_.cell == Cell::gru ? columns / 3 * 4 : columns;
  }

  RecurrentStep step_of(const program::StepCall& call, int64_t direction) const;
  StateIntegers integers_of(const program::StepCall& call,
                            int64_t direction) const;
  RecurrentStep projection_of(const program::StepCall& call,
                              int64_t direction) const;
  void run_task(const program::StepCall& call, const SequenceOrder& order,
                int64_t direction, int64_t block) const;

  const Recurrence form_;
  const Places places_;
  const CpuLevel level_;
  const StepNumbers numbers_;       // Of the states' weights.
  std::vector<GateStrides> gates_;  // Of each direction.
  LayerWeights weights_, projections_;
  LayerInputs inputs_;
  Tensor counts_;  // Meta: batch sizes or lengths.
  int64_t blocks_ = 1, rows_ = 0;
  Room room_;
  int64_t row_ = 0, state_ = 0, cell_ = 0, made_ = 0, bias_ = 0, pointers_ = 0;
  int64_t columns_ = 0, state_numbers_ = 0, state_bytes_ = 0, sums_ = 0;
};

// What steps of one direction do, on the operands and working memory of a call.
RecurrentStep RecurrentRoutine::step_of(const program::StepCall& call,
                                        int64_t direction) const {
  auto* scratch = reinterpret_cast<float*>(call.scratch);
  RecurrentStep step;
  step.work = work(direction);
  step.strict = form_.strict;
  step.depth = form_.width, step.units = form_.hidden;
  step.state = scratch + state_, step.state_row = row_;
  step.next = scratch + state_ + rows_ * row_, step.next_row = row_;
  step.cell = scratch + cell_, step.cell_row = row_;
  step.order = gate_order();
  step.packed = weights_.of(call, direction);
  if (form_.quantised) step.integers = integers_of(call, direction);
  if (!form_.biased) return step;
  packing(direction).of_bias().pack(
      static_cast<const float*>(call.operands[places_.biases + direction]),
      scratch + bias_);
  step.bias = scratch + bias_;
  return step;
}

// Zero points of unsigned weights follow the weights, which are packed less
// 128.
StateIntegers RecurrentRoutine::integers_of(const program::StepCall& call,
                                            int64_t direction) const {
  auto* scratch = reinterpret_cast<float*>(call.scratch);
  const StepPacking columns = packing(direction).of_bias();
  float* const scales = scratch + columns_;
  float* const zeros = scales + columns.floats();
  columns.pack(call.operands[places_.scales + direction], scales);
  columns.pack(call.operands[places_.zeros + direction], zeros);
  if (numbers_ == StepNumbers::u8)
    for (int64_t i = 0; i < columns.floats(); ++i) zeros[i] -= 128;
  return {scales,
          zeros,
          reinterpret_cast<StateNumbers*>(scratch + state_numbers_),
          reinterpret_cast<uint8_t*>(scratch + state_bytes_),
          padded_units(form_.width, level_),
          scratch + sums_,
          sums_row()};
}

RecurrentStep RecurrentRoutine::projection_of(const program::StepCall& call,
                                              int64_t direction) const {
  auto* scratch = reinterpret_cast<float*>(call.scratch);
  RecurrentStep step;
  step.work = StepWork::project;
  step.strict = form_.strict;
  step.depth = form_.hidden, step.units = form_.width;
  step.state = scratch + made_, step.state_row = row_, step.next_row = row_;
  step.packed = projections_.of(call, direction);
  return step;
}

void RecurrentRoutine::run_task(const program::StepCall& call,
                                const SequenceOrder& order, int64_t direction,
                                int64_t block) const {
  auto* scratch = reinterpret_cast<float*>(call.scratch);
  std::fill_n(scratch, bias_, 0.0f);  // States and what is behind them.
  const auto operand = [&](int64_t place) {
    return static_cast<float*>(call.operands[place]);
  };
  const bool lstm = form_.cell == Cell::lstm;
  const int64_t first = std::min<int64_t>(block * rows_, form_.batch);
  float** pointers = reinterpret_cast<float**>(scratch + pointers_);
  RecurrentTask task{
      .form = form_,
      .order = order,
      .direction = direction,
      .first = first,
      .count = std::min<int64_t>(rows_, form_.batch - first),
      .gates_strides = gates_[at(direction)],
      .gates = operand(places_.gates + direction),
      .hidden = operand(places_.hidden),
      .cell_state = lstm ? operand(places_.cell) : nullptr,
      .output = operand(places_.output) + direction * form_.width,
      .last_hidden = operand(places_.output + 1),
      .last_cell = lstm ? operand(places_.output + 2) : nullptr,
      .cells = lstm ? scratch + cell_ : nullptr,
      .made = scratch + made_,
      .row = row_,
      .gate_rows = const_cast<const float**>(pointers),
      .output_rows = pointers + rows_,
      .step = step_of(call, direction),
      .project =
          form_.projected ? projection_of(call, direction) : RecurrentStep(),
      .inputs = {},
      .level = level_};
  inputs_.set(call, task);
  (form_.projected ? task.project : task.step).output = task.output_rows;
  task.run();
}

}  // namespace

std::shared_ptr<const program::ExternCode> make_recurrent_routine(
    const CallRequest& request, int threads) {
  const ops::OpCall call{request.op, request.args};
  return std::make_shared<RecurrentRoutine>(Recurrence::read(call), request,
                                            threads);
}

}  // namespace fxjit::kernels
