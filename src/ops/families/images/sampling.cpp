// grid_sample and affine_grid: images read at places that a tensor gives. The
// places are data, so grid_sample is a loop of C++.
#include <cmath>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

enum class Mode { bilinear, nearest, bicubic };
enum class Padding { zeros, border, reflection };

struct Sampling {
  Mode mode;
  Padding padding;
  bool align;
  bool planes;  // Of two dims, which torch computes in another way than three.
};

Sampling sampling_of(const OpCall& call) {
  const std::string_view mode = call[2].as_string();
  const std::string_view padding = call[3].as_string();
  Sampling s{};
  if (mode == "bilinear")
    s.mode = Mode::bilinear;
  else if (mode == "nearest")
    s.mode = Mode::nearest;
  else if (mode == "bicubic")
    s.mode = Mode::bicubic;
  else
    throw ValueError(
        "nn.functional.grid_sample(): expected mode to be 'bilinear', "
        "'nearest' or 'bicubic', but got: '" +
        std::string(mode) + "'");
  if (padding == "zeros")
    s.padding = Padding::zeros;
  else if (padding == "border")
    s.padding = Padding::border;
  else if (padding == "reflection")
    s.padding = Padding::reflection;
  else
    throw ValueError(
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
        "'border', or 'reflection', but got: '" +
        std::string(padding) + "'");
  s.align = call.has(4) && call.flag(4);
  s.planes = call.tensor(0).dim() == 4;
  return s;
}

Value infer_grid_sample(const OpCall& call) {
  const Tensor &input = call.tensor(0), &grid = call.tensor(1);
  const int spatial = input.dim() - 2;
  const Sampling s = sampling_of(call);
  if (spatial < 2 || spatial > 3 || grid.dim() != input.dim() ||
      grid.sizes().back() != spatial || grid.sizes()[0] != input.sizes()[0])
    runtime_error(
        "grid_sampler(): expected 4D or 5D input and grid with same number of "
        "dimensions, but got input with sizes ",
        input.sizes(), " and grid with sizes ", grid.sizes());
  if (s.mode == Mode::bicubic && spatial == 3)
    runtime_error(
        "grid_sampler(): bicubic interpolation only supports 4D input");
  if (input.dtype() != grid.dtype())
    runtime_error(
        "grid_sampler(): expected input and grid to have same dtype, but input "
        "has ",
        cpp_type_name(input.dtype()), " and grid has ",
        cpp_type_name(grid.dtype()));
  Dims sizes{input.sizes()[0], input.sizes()[1]};
  for (int d = 1; d <= spatial; ++d) sizes.push_back(grid.sizes()[d]);
  return Tensor::meta(sizes, input.dtype());
}

// x brought back between `low` and `high` (twice the true bounds) by mirrors.
template <typename C>
C mirrored(C x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return C(0);
  const C low = C(twice_low) / 2, span = C(twice_high - twice_low) / 2;
  const C away = std::fabs(x - low), rest = std::fmod(away, span);
  const bool back = std::fmod(std::floor(away / span), C(2)) != 0;
  return back ? span - rest + low : rest + low;
}

template <typename C>
C in_bounds(C x, int64_t size, const Sampling& s) {
  if (s.padding == Padding::zeros) return x;
  if (s.padding == Padding::reflection)
    x = s.align ? mirrored<C>(x, 0, 2 * (size - 1))
                : mirrored<C>(x, -1, 2 * size - 1);
  // As in torch, NaN becomes the first place of a plane, and the last one of
  // three dims. The order of the operands decides.
  const C low = s.planes ? std::max(C(0), x) : std::max(x, C(0));
  return std::min(C(size - 1), low);
}

template <typename C>
C place_of(C at, int64_t size, const Sampling& s) {
  return s.align ? (at + 1) / 2 * C(size - 1) : ((at + 1) * C(size) - 1) / 2;
}

// Taps of one dim: places (-1 outside) and their weights.
template <typename C>
struct Taps {
  int count = 0;
  int64_t at[4] = {};
  C weight[4] = {};

  void add(C place, C w, int64_t size) {
    const bool inside = place >= 0 && place <= C(size - 1);
    at[count] = inside ? static_cast<int64_t>(place) : -1;
    weight[count++] = w;
  }
};

template <typename C>
Taps<C> cubic_taps(C x, int64_t size, const Sampling& s) {
  constexpr C kA = C(-0.75);
  const C base = std::floor(x), t = x - base;
  const auto near = [&](C d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [&](C d) {
    return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
  };
  const C weights[4] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  Taps<C> taps;
  for (int i = 0; i < 4; ++i)
    taps.add(in_bounds<C>(base + C(i - 1), size, s), weights[i], size);
  return taps;
}

template <typename C>
Taps<C> taps_of(C at, int64_t size, const Sampling& s) {
  const C x = place_of(at, size, s);
  if (s.mode == Mode::bicubic) return cubic_taps(x, size, s);
  const C place = in_bounds(x, size, s);
  Taps<C> taps;
  if (s.mode == Mode::nearest) {
    taps.add(std::nearbyint(place), C(1), size);
    return taps;
  }
  const C base = std::floor(place);
  taps.add(base, base + 1 - place, size);
  taps.add(base + 1, place - base, size);
  return taps;
}

// All taps of one place that lie inside of the image: offsets and weights, the
// same for all channels.
template <typename C>
struct Sample {
  int count = 0;
  int64_t offset[16];
  C weight[16];
  // Taps outside of a plane count as zeros, so that a weight of NaN shows.
  C outside = 0;

  Sample(const Taps<C>* taps, const Dims& strides, int spatial) {
    const Taps<C>&z = taps[0], &y = taps[1], &x = taps[2];
    const int rank = strides.size();
    for (int k = 0; k < (spatial == 3 ? z.count : 1); ++k)
      for (int j = 0; j < y.count; ++j)
        for (int i = 0; i < x.count; ++i) {
          if (y.at[j] < 0 || x.at[i] < 0) {
            if (spatial == 2) outside += y.weight[j] * x.weight[i] * C(0);
            continue;
          }
          if (spatial == 3 && z.at[k] < 0) continue;
          const int64_t depth =
              spatial == 3 ? int64_t(z.at[k] * strides[2]) : 0;
          offset[count] =
              depth + y.at[j] * strides[rank - 2] + x.at[i] * strides[rank - 1];
          const C plane = y.weight[j] * x.weight[i];
          weight[count++] = spatial == 3 ? plane * z.weight[k] : plane;
        }
  }
  template <typename T>
  C of(const T* from) const {
    C sum = outside;
    for (int i = 0; i < count; ++i)
      sum += static_cast<C>(from[offset[i]]) * weight[i];
    return sum;
  }
};

void direct_grid_sample(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& input = call.tensor(0);
  const Tensor grid = call.tensor(1).contiguous();
  const Tensor out = Tensor::empty(results[0].sizes(), results[0].dtype());
  const Sampling s = sampling_of(call);
  const int spatial = input.dim() - 2;
  const Dims &sizes = input.sizes(), &strides = input.strides();
  const int64_t places =
      sizes[0] == 0 ? Size(0) : grid.numel() / (sizes[0] * spatial);
  visit_dtype(input.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T* at = grid.data_as<T>();
    for (int64_t n = 0; n < sizes[0]; ++n)
      for (int64_t p = 0; p < places; ++p, at += spatial) {
        Taps<C> taps[3];
        for (int d = 0; d < spatial; ++d)
          taps[2 - d] =
              taps_of<C>(static_cast<C>(at[d]), sizes[input.dim() - 1 - d], s);
        const Sample<C> sample(taps, strides, spatial);
        const T* from = input.data_as<T>() + n * strides[0];
        T* to = out.data_as<T>() + n * sizes[1] * places + p;
        for (int64_t c = 0; c < sizes[1]; ++c, from += strides[1], to += places)
          *to = convert<T>(sample.of(from));
      }
  });
  results[0].copy_from(out);
}

Tensor base_line(int64_t size, bool align) {
  const Tensor line = Tensor::empty({size}, DType::f64);
  for (int64_t i = 0; i < size; ++i) {
    const double at = size > 1 ? -1 + 2 * double(i) / double(size - 1) : 0;
    line.data_as<double>()[i] =
        align || size <= 1 ? at : at * double(size - 1) / double(size);
  }
  return line;
}

// [N, places..., d] = base [places, d + 1] times theta transposed.
Value affine_grid(const OpCall& call) {
  const Tensor theta = meta_of(call[0]);
  const Dims size = flat_dims(call[1]);
  const int spatial = size.size() - 2;
  const bool align = call.has(2) && call.flag(2);
  if (spatial < 2 || spatial > 3 || theta.dim() != 3 ||
      theta.sizes()[1] != spatial || theta.sizes()[2] != spatial + 1)
    throw ValueError("Expected a batch of 2D or 3D affine matrices for size " +
                     size.str() + ". Got " + theta.sizes().str() + ".");
  Dims places;
  for (int d = 0; d < spatial; ++d) places.push_back(size[2 + d]);
  Dims shape = places;
  shape.push_back(spatial + 1);
  const Tensor base = Tensor::full(shape, 1, DType::f64);
  for (int d = 0; d < spatial; ++d) {
    Dims line(spatial, 1);
    line[spatial - 1 - d] = places[spatial - 1 - d];
    const Tensor at = base_line(places[spatial - 1 - d], align);
    Tensor column = base.as_strided(
        places, Dims(base.strides().span().subspan(0, size_t(spatial))), d);
    Dims strides(spatial, 0);
    strides[spatial - 1 - d] = 1;
    column.copy_from(at.as_strided(places, strides, 0));
  }
  const Value flat =
      Tensor(base.to(theta.dtype()))
          .as_strided({numel(places), spatial + 1}, {spatial + 1, 1}, 0);
  const Value grid = fxjit::matmul(flat, fxjit::transpose(call[0], 1, 2));
  Dims result{size[0]};
  for (int64_t place : places) result.push_back(place);
  result.push_back(spatial);
  return fxjit::reshape(grid, result);
}

constexpr OpRow kSamplingRows[] = {
    direct_row("grid_sample",
               "input, grid, mode='bilinear', padding_mode='zeros', "
               "align_corners=None",
               "F.grid_sample!", infer_grid_sample, direct_grid_sample),
    composed_row("affine_grid", "theta, size, align_corners=None",
                 "F.affine_grid!", affine_grid)
        .stating({.native = NativeCalls::products}),
};

}  // namespace

std::span<const OpRow> sampling_rows() { return kSamplingRows; }

}  // namespace fxjit::ops
