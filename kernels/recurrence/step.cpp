#include "kernels/recurrence/step.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "src/ops/eager/post_ops.h"
#include "src/weights/panels.h"

#define FXJIT_LEVEL_CODE "kernels/recurrence/loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

bool is_gated(StepWork work) {
  return work == StepWork::lstm || work == StepWork::gru;
}

// How the columns of the weights lie in panels.
struct Panels {
  int64_t vectors, lanes, count;

  Panels(StepWork work, int64_t units, CpuLevel level)
      : vectors(vectors_of(work)), lanes(weights::tile_shape(level).lanes) {
    const int64_t width = is_gated(work) ? lanes : lanes * vectors;
    count = (units + width - 1) / width;
  }
  int64_t line() const { return vectors * lanes; }
};

}  // namespace

int64_t padded_units(int64_t units, CpuLevel level) {
  const int64_t lanes = weights::tile_shape(level).lanes;
  return (units + lanes - 1) / lanes * lanes;
}

int64_t packed_step_floats(StepWork work, int64_t units, int64_t depth,
                           CpuLevel level) {
  const Panels panels(work, units, level);
  return panels.count * panels.line() * depth;
}

void pack_step_weights(StepWork work, GateOrder order, int64_t units,
                       int64_t depth, CpuLevel level, const float* weights,
                       float* packed) {
  const Panels panels(work, units, level);
  for (int64_t p = 0; p < panels.count; ++p)
    for (int64_t v = 0; v < panels.vectors; ++v)
      for (int64_t lane = 0; lane < panels.lanes; ++lane) {
        const bool gated = is_gated(work);
        const int64_t unit =
            (gated ? p : p * panels.vectors + v) * panels.lanes + lane;
        const int64_t gate = gated ? order.place[static_cast<size_t>(v)] : 0;
        const float* from = weights + (gate * units + unit) * depth;
        float* to =
            packed + p * depth * panels.line() + v * panels.lanes + lane;
        for (int64_t k = 0; k < depth; ++k)
          to[k * panels.line()] = unit < units ? from[k] : 0.0f;
      }
}

void pack_step_bias(StepWork work, GateOrder order, int64_t units,
                    CpuLevel level, const float* bias, float* packed) {
  if (bias)
    return pack_step_weights(work, order, units, 1, level, bias, packed);
  std::fill_n(packed, packed_step_floats(work, units, 1, level), 0.0f);
}

int64_t packed_input_floats(int64_t columns, int64_t depth, CpuLevel level) {
  return padded_units(columns, level) * depth;
}

void pack_input_weights(int64_t columns, int64_t depth, CpuLevel level,
                        const float* weights, float* packed) {
  const int64_t lanes = padded_units(1, level);
  for (int64_t c = 0; c < padded_units(columns, level); ++c) {
    float* to = packed + c / lanes * lanes * depth + c % lanes;
    for (int64_t k = 0; k < depth; ++k)
      to[k * lanes] = c < columns ? weights[c * depth + k] : 0.0f;
  }
}

void finish_ahead(InputsAhead& ahead) { avx512::make_rest(ahead); }

void recurrent_step(const RecurrentStep& step, CpuLevel level) {
  at_level(level, step);
}

}  // namespace fxjit::kernels
