#include "src/ops/families/random/draws.h"

#include <cmath>
#include <numbers>

#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Fills with what `next` gives, a double or an integer, converted to the type.
template <typename Next>
void fill(const Tensor& out, const Next& next) {
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* const data = out.data_as<T>();
    for (int64_t i = 0, n = out.numel(); i < n; ++i)
      data[i] = convert<T>(next());
  });
}

template <typename Fn>
void visit_floating(const Tensor& out, Fn&& fn) {
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (is_half_type<T> || std::is_floating_point_v<T>)
      fn(out.data_as<T>());
    else
      throw InternalError("draws: a floating type is needed");
  });
}

// A number in [0, 1) of the type that `T` is computed in.
template <typename T>
ComputeOf<T> uniform(Generator::Draw& draw) {
  if constexpr (std::is_same_v<T, double>)
    return draw.uniform53();
  else
    return draw.uniform24();
}

// Normal numbers are made sixteen at a time: eight radii from the first half of
// the uniform numbers, eight angles from the second.
constexpr int64_t kGroup = 16;

template <typename C>
void normal_group(const C (&uniforms)[kGroup], C mean, C std, C* out) {
  constexpr int64_t kHalf = kGroup / 2;
  for (int64_t j = 0; j < kHalf; ++j) {
    const double radius =
        std::sqrt(-2 * std::log(1 - static_cast<double>(uniforms[j])));
    const double angle =
        2 * std::numbers::pi * static_cast<double>(uniforms[j + kHalf]);
    out[j] = static_cast<C>(radius * std::cos(angle) * std + mean);
    out[j + kHalf] = static_cast<C>(radius * std::sin(angle) * std + mean);
  }
}

template <typename T>
void normal_groups(T* data, int64_t n, double mean, double std,
                   Generator::Draw& draw) {
  using C = ComputeOf<T>;
  const C m = convert<C>(convert<T>(mean)), s = convert<C>(convert<T>(std));
  C uniforms[kGroup], normals[kGroup];
  const auto next_group = [&](T* to) {
    for (C& u : uniforms) u = uniform<T>(draw);
    normal_group(uniforms, m, s, normals);
    for (int64_t j = 0; j < kGroup; ++j) to[j] = convert<T>(normals[j]);
  };
  const int64_t rest = n % kGroup;
  for (int64_t i = 0; i + kGroup <= n; i += kGroup) next_group(data + i);
  if (rest == 0) return;
  // The last sixteen are drawn once more. Of the full types the rest has been
  // drawn before that.
  if constexpr (!is_half_type<T>)
    for (int64_t i = 0; i < rest; ++i) uniform<T>(draw);
  next_group(data + n - kGroup);
}

}  // namespace

Generator& generator_of(const OpCall& call) {
  const int i = call.op.index_of("generator");
  if (i < 0 || !call.has(static_cast<size_t>(i))) return default_generator();
  const Value& given = call[static_cast<size_t>(i)];
  Generator* const generator =
      given.is_opaque() ? dynamic_cast<Generator*>(given.as_opaque()) : nullptr;
  if (!generator)
    throw TypeError(std::string(call.op.name()) +
                    "(): argument 'generator' must be a Generator, not " +
                    std::string(given.kind_name()));
  return *generator;
}

void fill_uniform(const Tensor& out, double from, double to,
                  Generator::Draw& draw) {
  visit_floating(out, [&]<typename T>(T* data) {
    using C = ComputeOf<T>;
    const C low = convert<C>(convert<T>(from)),
            high = convert<C>(convert<T>(to));
    const C width = high - low;
    for (int64_t i = 0, n = out.numel(); i < n; ++i) {
      data[i] = convert<T>(uniform<T>(draw) * width + low);
      // Rounding to few bits may give the end, which is not included.
      if constexpr (is_half_type<T>)
        if (C(data[i]) == high) data[i] = convert<T>(low);
    }
  });
}

void fill_normal(const Tensor& out, double mean, double std,
                 Generator::Draw& draw) {
  const int64_t n = out.numel();
  if (n < kGroup) return fill(out, [&] { return draw.normal() * std + mean; });
  visit_floating(out, [&]<typename T>(T* data) {
    normal_groups(data, n, mean, std, draw);
  });
}

void fill_exponential(const Tensor& out, double lambda, Generator::Draw& draw) {
  fill(out, [&] { return -1 / lambda * std::log1p(-draw.uniform53()); });
}

void fill_cauchy(const Tensor& out, double median, double sigma,
                 Generator::Draw& draw) {
  fill(out, [&] {
    return median +
           sigma * std::tan(std::numbers::pi * (draw.uniform53() - 0.5));
  });
}

void fill_log_normal(const Tensor& out, double mean, double std,
                     Generator::Draw& draw) {
  fill(out, [&] { return std::exp(draw.normal() * std + mean); });
}

void fill_geometric(const Tensor& out, double p, Generator::Draw& draw) {
  fill(out,
       [&] { return std::ceil(std::log(draw.uniform53()) / std::log1p(-p)); });
}

void fill_bernoulli(const Tensor& out, double p, Generator::Draw& draw) {
  fill(out, [&] { return draw.uniform53() < p; });
}

void fill_bernoulli(const Tensor& out, const Tensor& p, Generator::Draw& draw) {
  visit_floating(p, [&]<typename T>(const T* chance) {
    fill(out,
         [&] { return uniform<T>(draw) < convert<ComputeOf<T>>(*chance++); });
  });
}

void fill_integers(const Tensor& out, uint64_t range, int64_t base,
                   Generator::Draw& draw) {
  constexpr uint64_t kNarrow = uint64_t{1} << 28;
  const bool narrow = range != 0 && range < kNarrow;
  fill(out, [&] {
    uint64_t bits = narrow ? draw.bits32() : draw.bits64();
    if (range != 0) bits %= range;
    return static_cast<int64_t>(bits + static_cast<uint64_t>(base));
  });
}

uint64_t greatest_integer(DType dtype) {
  uint64_t most = 1;
  visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_same_v<T, Half>)
      most = uint64_t{1} << 11;
    else if constexpr (std::is_same_v<T, BFloat16>)
      most = uint64_t{1} << 8;
    else if constexpr (std::is_same_v<T, Float8E4M3>)
      most = uint64_t{1} << 4;
    else if constexpr (std::is_same_v<T, Float8E5M2>)
      most = uint64_t{1} << 3;
    else if constexpr (std::is_floating_point_v<T>)
      most = uint64_t{1} << std::numeric_limits<T>::digits;
    else if constexpr (!std::is_same_v<T, bool>)
      most = static_cast<uint64_t>(std::numeric_limits<T>::max());
  });
  return most;
}

void fill_whole_range(const Tensor& out, Generator::Draw& draw) {
  const uint64_t range = greatest_integer(out.dtype()) + 1;
  const bool wide = out.item_size() == sizeof(uint64_t);
  fill(out, [&] {
    return static_cast<int64_t>((wide ? draw.bits64() : draw.bits32()) % range);
  });
}

void fill_permutation(const Tensor& out, Generator::Draw& draw) {
  constexpr int64_t kNarrow = std::numeric_limits<uint32_t>::max() / 20;
  const int64_t n = out.numel();
  visit_dtype(out.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T* const data = out.data_as<T>();
    for (int64_t i = 0; i < n; ++i) data[i] = convert<T>(i);
    for (int64_t i = 0; i + 1 < n; ++i) {
      const uint64_t bits = n < kNarrow ? draw.bits32() : draw.bits64();
      std::swap(
          data[i],
          data[i + static_cast<int64_t>(bits % static_cast<uint64_t>(n - i))]);
    }
  });
}

}  // namespace fxjit::ops
