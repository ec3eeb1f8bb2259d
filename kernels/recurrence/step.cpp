#include "kernels/recurrence/step.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "src/support/machine/vector_lanes.h"
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

  explicit Panels(const StepPacking& packing)
      : vectors(vectors_of(packing.work)),
        lanes(support::vector_lanes(packing.level)) {
    const int64_t width = is_gated(packing.work) ? lanes : lanes * vectors;
    count = (packing.units + width - 1) / width;
  }
  int64_t line() const { return vectors * lanes; }
};

}  // namespace

int64_t padded_units(int64_t units, CpuLevel level) {
  const int64_t lanes = support::vector_lanes(level);
  return (units + lanes - 1) / lanes * lanes;
}

int64_t StepPacking::columns() const {
  return units * (is_gated(work) ? vectors_of(work) : 1);
}

int64_t StepPacking::floats() const {
  if (ahead) return padded_units(columns(), level) * depth;
  const Panels panels(*this);
  return panels.count * panels.line() * depth;
}

void StepPacking::pack(const float* from, float* to) const {
  ahead ? pack_columns(from, to) : pack_panels(from, to);
}

void StepPacking::pack_panels(const float* weights, float* packed) const {
  const Panels panels(*this);
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

// Vectors of columns.
void StepPacking::pack_columns(const float* weights, float* packed) const {
  const int64_t lanes = padded_units(1, level);
  for (int64_t c = 0; c < padded_units(columns(), level); ++c) {
    float* to = packed + c / lanes * lanes * depth + c % lanes;
    for (int64_t k = 0; k < depth; ++k)
      to[k * lanes] = c < columns() ? weights[c * depth + k] : 0.0f;
  }
}

std::vector<int64_t> StepPacking::key() const {
  if (ahead) return {columns(), depth, static_cast<int64_t>(level)};
  return {static_cast<int64_t>(work),
          units,
          depth,
          static_cast<int64_t>(level),
          order.place[0],
          order.place[1],
          order.place[2],
          order.place[3]};
}

void finish_ahead(InputsAhead& ahead) { avx512::make_rest(ahead); }

void recurrent_step(const RecurrentStep& step, CpuLevel level) {
  at_level(level, step);
}

}  // namespace fxjit::kernels
