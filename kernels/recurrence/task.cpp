#include "kernels/recurrence/task.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

size_t place(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

int64_t RecurrentTask::sequence(int64_t n) const {
  return order.sequence[place(first + n)];
}

int64_t RecurrentTask::time_of(int64_t step) const {
  const int64_t last = form.length - 1;
  return form.reversed[place(direction)] ? last - step : step;
}

const float* RecurrentTask::gates_at(int64_t time, int64_t n) const {
  if (form.packed)
    return gates + (order.start[place(time)] + first + n) * gates_strides.time;
  return gates + time * gates_strides.time +
         sequence(n) * gates_strides.sequence;
}

float* RecurrentTask::output_at(int64_t time, int64_t n) const {
  const int64_t line = form.packed ? order.start[place(time)] + first + n
                                   : time * int64_t{form.batch} + sequence(n);
  return output + line * form.directions * form.width;
}

// Loads the first states into both buffers, because a sequence that has not
// begun must find its state in either.
void RecurrentTask::load_states() {
  for (int64_t n = 0; n < count; ++n) {
    const int64_t from = direction * form.batch + sequence(n);
    const float* state = hidden + from * form.width;
    std::copy_n(state, form.width, step.next + n * row);
    std::copy_n(state, form.width, const_cast<float*>(step.state) + n * row);
    if (cells)
      std::copy_n(cell_state + from * form.hidden, form.hidden,
                  cells + n * row);
  }
}

void RecurrentTask::store_hidden(int64_t begin, int64_t end) const {
  for (int64_t n = begin; n < end; ++n) {
    const int64_t to = direction * form.batch + sequence(n);
    std::copy_n(step.state + n * row, form.width,
                last_hidden + to * form.width);
  }
}

void RecurrentTask::store_cells() const {
  if (!cells) return;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t to = direction * form.batch + sequence(n);
    std::copy_n(cells + n * row, form.hidden, last_cell + to * form.hidden);
  }
}

// Sets the output of the sequences that do not run at `time` to zero. Packed
// sequences have no such output.
void RecurrentTask::clear_behind(int64_t time, int64_t running) const {
  if (form.packed) return;
  for (int64_t n = running; n < count; ++n)
    std::fill_n(output_at(time, n), form.width, 0.0f);
}

// Runs all steps. The sequences that run at a time are the first ones. States
// are stored when a sequence ends, since later steps do not carry them from
// buffer to buffer.
void RecurrentTask::run() {
  load_states();
  store_hidden(0, count);
  if (inputs.way == ops::InputProduct::ahead) begin_block(0);
  int64_t before = 0;
  for (int64_t i = 0; i < form.length; ++i) {
    const int64_t time = time_of(i);
    const int64_t running = order.running(time, first, first + count);
    if (running < before) store_hidden(running, before);
    before = running;
    clear_behind(time, running);
    set_inputs(i, running);
    if (running > 0) run_step(time, running);
  }
  store_hidden(0, before);
  store_cells();
}

// Starts to make the gates of the steps from `first` on ahead.
void RecurrentTask::begin_block(int64_t first) {
  const float* from[kAheadTimes] = {};
  for (int64_t t = 0; t < kAheadTimes && first + t < form.length; ++t)
    from[t] = gates_at(time_of(first + t), 0);
  inputs.begin_block(from);
}

void RecurrentTask::set_inputs(int64_t index, int64_t running) {
  for (int64_t n = 0; n < running; ++n)
    gate_rows[n] = gates_at(time_of(index), n);
  if (inputs.way == ops::InputProduct::within) inputs.load(gate_rows, running);
  if (inputs.way != ops::InputProduct::ahead) return;
  if (index % kAheadTimes == 0) begin_block(index + kAheadTimes);
  gate_rows[0] = inputs.gates_of(index);
}

void RecurrentTask::run_step(int64_t time, int64_t running) {
  for (int64_t n = 0; n < running; ++n) output_rows[n] = output_at(time, n);
  step.rows = project.rows = running;
  float* const next = step.next;
  if (form.projected) {
    step.next = made;
    recurrent_step(step, level);
    project.next = next;
    recurrent_step(project, level);
  } else {
    recurrent_step(step, level);
  }
  step.next = const_cast<float*>(step.state);
  step.state = next;
  step.backward = project.backward = !step.backward && !step.strict;
}

}  // namespace fxjit::kernels
