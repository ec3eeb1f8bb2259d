// Steps in time of one sequence that, beside their own gates, make the products
// with the inputs for gates of later times. They use the time in which the
// multipliers would wait for state weights from the second-level cache.
// Included by step.cpp for the levels that have registers for all these sums.

// The sums of one vector of gates for kAheadTimes times ([kAheadTimes][row] in
// memory), and how far their product with the inputs has come.
struct LaterSums {
  Vector of[kAheadTimes];
  const float *weights, *inputs;
  float* const gates;
  const int64_t row;

  FXJIT_INLINE explicit LaterSums(const InputsAhead& ahead)
      : weights(ahead.packed +
                (ahead.vector * ahead.depth + ahead.done) * FXJIT_LANES),
        inputs(ahead.inputs + ahead.done * kAheadTimes),
        gates(ahead.gates + ahead.vector * FXJIT_LANES),
        row(ahead.gates_row) {
    const Vector bias = ahead.bias
                            ? load(ahead.bias + ahead.vector * FXJIT_LANES)
                            : Vector{};
    const bool first = ahead.done == 0;
#pragma GCC unroll 16
    for (int t = 0; t < kAheadTimes; ++t)
      of[t] = first ? bias : load(gates + t * row);
  }

  // Adds the products of the next element of the inputs.
  FXJIT_INLINE void add() {
    const Vector w = load(weights);
#pragma GCC unroll 16
    for (int t = 0; t < kAheadTimes; ++t)
      of[t] += (inputs[t] - Vector{}) * w;
    weights += FXJIT_LANES;
    inputs += kAheadTimes;
  }

  FXJIT_INLINE void store_after(InputsAhead& ahead, int64_t added) {
#pragma GCC unroll 16
    for (int t = 0; t < kAheadTimes; ++t) store(of[t], gates + t * row);
    ahead.done += added;
    if (ahead.done < ahead.depth) return;
    ahead.done = 0;
    ++ahead.vector;
  }
};

// Computes one panel of a step of one sequence. For every kAheadStates elements
// of the states it adds kEach elements of the inputs of later times.
template <StepWork kWork, int kEach>
[[gnu::noinline]] void tile_ahead(const RecurrentStep& s, int64_t panel) {
  const Units<kWork> units(panel);
  Sums<kWork, 1, 1> sums;
#pragma GCC unroll 4
  for (int v = 0; v < sums.kVectors; ++v)
    sums.of[0][v] = first_sum<kWork>(s, units, 0, v);
  Vector fresh_input{};
  sums.between(s, units, 0, fresh_input);
  InputsAhead& ahead = *s.ahead;
  LaterSums later(ahead);
  const int64_t left = ahead.depth - ahead.done;
  const int64_t count = std::min(s.depth / kAheadStates, left / kEach);
  const int64_t towards = s.backward ? -1 : 1;
  const int64_t first = s.backward ? s.depth - 1 : 0;
  const float* w = s.packed + (panel * s.depth + first) * sums.kLine;
  const float* x = s.state + first;
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < kAheadStates; ++k) {
      sums.add(w, x, 0, 0);
      w += towards * sums.kLine;
      x += towards;
      if (k % (kAheadStates / kEach) == 0) later.add();
    }
  }
  int64_t added = count * kEach;
  if (left - added < kEach)
    for (; added < left; ++added) later.add();
  later.store_after(ahead, added);
  const int64_t done = count * kAheadStates;
  const int64_t rest = s.backward ? 0 : done;
  sums.add_all(s.packed + (panel * s.depth + rest) * sums.kLine,
               s.state + rest, 0, s.depth - done, s.backward);
  finish<kWork>(s, units, 0, sums.of[0], fresh_input);
}

// Computes the panel if such loops can; returns whether it did.
template <StepWork kWork>
inline bool panel_ahead(const RecurrentStep& s, int64_t panel) {
  if constexpr (kWork == StepWork::project) return false;
  if (!s.ahead || s.ahead->vector == s.ahead->vectors || s.rows != 1)
    return false;
  if (s.ahead->each == 1)
    tile_ahead<kWork, 1>(s, panel);
  else
    tile_ahead<kWork, 2>(s, panel);
  return true;
}

inline void make_rest(InputsAhead& ahead) {
  while (ahead.vector < ahead.vectors) {
    LaterSums later(ahead);
    const int64_t left = ahead.depth - ahead.done;
    for (int64_t k = 0; k < left; ++k) later.add();
    later.store_after(ahead, left);
  }
}
