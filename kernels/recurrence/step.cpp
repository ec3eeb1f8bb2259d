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

int64_t quads_of(int64_t depth) { return (depth + 3) / 4; }

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
  return panels.count * panels.line() *
         (numbers == StepNumbers::f32 ? depth : quads_of(depth) + 1);
}

void StepPacking::pack(const void* from, float* to) const {
  if (numbers != StepNumbers::f32)
    return pack_quads(static_cast<const int8_t*>(from), to);
  const auto* weights = static_cast<const float*>(from);
  ahead ? pack_columns(weights, to) : pack_panels(weights, to);
}

// Calls `column(from, p, i)` for each column i of each panel p: it is number
// `from` of the weights, or -1.
template <typename Fn>
void StepPacking::each_column(Fn&& column) const {
  const Panels panels(*this);
  for (int64_t p = 0; p < panels.count; ++p)
    for (int64_t i = 0; i < panels.line(); ++i) {
      const int64_t v = i / panels.lanes, lane = i % panels.lanes;
      const bool gated = is_gated(work);
      const int64_t unit =
          (gated ? p : p * panels.vectors + v) * panels.lanes + lane;
      const int64_t gate = gated ? order.place[static_cast<size_t>(v)] : 0;
      column(unit < units ? gate * units + unit : -1, p, i);
    }
}

void StepPacking::pack_panels(const float* weights, float* packed) const {
  const int64_t line = Panels(*this).line();
  each_column([&](int64_t column, int64_t p, int64_t i) {
    float* to = packed + p * depth * line + i;
    for (int64_t k = 0; k < depth; ++k)
      to[k * line] = column < 0 ? 0.0f : weights[column * depth + k];
  });
}

void StepPacking::pack_quads(const int8_t* weights, float* packed) const {
  const int64_t line = Panels(*this).line(), quads = quads_of(depth);
  const int turned = numbers == StepNumbers::u8 ? 0x80 : 0;
  each_column([&](int64_t column, int64_t p, int64_t i) {
    float* to = packed + p * (quads + 1) * line + i;
    int32_t sum = 0;
    for (int64_t q = 0; q < quads; ++q) {
      int8_t quad[4] = {};
      for (int64_t k = 4 * q; k < std::min(4 * q + 4, depth) && column >= 0;
           ++k) {
        const int8_t weight = weights[column * depth + k];
        sum += quad[k % 4] = static_cast<int8_t>(weight ^ turned);
      }
      std::memcpy(to + q * line, quad, sizeof(quad));
    }
    std::memcpy(to + quads * line, &sum, sizeof(sum));
  });
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
          order.place[3],
          static_cast<int64_t>(numbers)};
}

void finish_ahead(InputsAhead& ahead) { avx512::make_rest(ahead); }

void recurrent_step(const RecurrentStep& step, CpuLevel level) {
  at_level(level, step);
}

}  // namespace fxjit::kernels
