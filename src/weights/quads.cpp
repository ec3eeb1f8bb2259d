#include "src/weights/quads.h"

#include <algorithm>
#include <array>
#include <vector>

#include "src/support/rounding.h"

namespace fxjit::weights {
namespace {

using support::ceil_div;
using support::round_up;

constexpr int kMostOfSign = 128;
constexpr int kMostGroup = 4;
constexpr int64_t kQuadAlignment = 64;

using Quad = std::array<int, kQuadRows>;

int32_t packed_quad(const Quad& quad) {
  uint32_t bits = 0;
  for (size_t i = 0; i < quad.size(); ++i)
    bits |= (static_cast<uint32_t>(quad[i]) & 0xff) << (8 * i);
  return static_cast<int32_t>(bits);
}

// The quads of a column whose products are added in 16 bits, and what clipping
// has taken from them.
struct QuadGroup {
  std::array<Quad, kMostGroup> kept{}, cut{};
  int count = 0;

  // How much the numbers of one sign in a lane add up to.
  int of_sign(int quad, size_t lane, int sign) const {
    const Quad& q = kept[static_cast<size_t>(quad)];
    return std::max(0, sign * q[lane]) + std::max(0, sign * q[lane + 1]);
  }

  void clip() {
    for (const size_t lane : {size_t{0}, size_t{2}})
      for (const int sign : {1, -1}) clip(lane, sign);
  }

 private:
  bool is_cut(int quad) const {
    const Quad& q = cut[static_cast<size_t>(quad)];
    return std::ranges::any_of(q, [](int x) { return x != 0; });
  }

  // The quad that gives most; rather one that has a fix anyway.
  int giver(size_t lane, int sign) const {
    const auto worth = [&](int quad) {
      const int sum = of_sign(quad, lane, sign);
      return sum > 0 && is_cut(quad) ? sum + 2 * kMostOfSign : sum;
    };
    int best = 0;
    for (int quad = 1; quad < count; ++quad)
      if (worth(quad) > worth(best)) best = quad;
    return best;
  }

  void clip(size_t lane, int sign) {
    int over = -kMostOfSign;
    for (int quad = 0; quad < count; ++quad) over += of_sign(quad, lane, sign);
    while (over > 0) {
      const auto from = static_cast<size_t>(giver(lane, sign));
      Quad& numbers = kept[from];
      const size_t at =
          sign * numbers[lane] > sign * numbers[lane + 1] ? lane : lane + 1;
      const int part = std::min(over, sign * numbers[at]);
      numbers[at] -= sign * part;
      cut[from][at] += sign * part;
      over -= part;
    }
  }
};

// The part of what was cut off that one more quad takes, exact as the rest is.
Quad take_fix(Quad& cut) {
  Quad taken{};
  for (size_t lane = 0; lane < taken.size(); lane += 2) {
    const int a = std::clamp(cut[lane], -kMostOfSign, kMostOfSign - 1);
    int b = std::clamp(cut[lane + 1], -kMostOfSign, kMostOfSign - 1);
    if (a > 0) b = std::min(b, kMostOfSign - a);
    if (a < 0) b = std::max(b, -kMostOfSign - a);
    taken[lane] = a, taken[lane + 1] = b;
  }
  for (size_t i = 0; i < cut.size(); ++i) cut[i] -= taken[i];
  return taken;
}

bool is_zero(const Quad& quad) {
  return std::ranges::all_of(quad, [](int x) { return x == 0; });
}

// One more quad of a column.
struct Fix {
  int32_t place = 0, bytes = 0;
};

// One column on its way: calls put(quad, kept) for its quads.
template <typename Put>
std::vector<Fix> clip_column(const ByteMatrix& matrix, int64_t column,
                             int group, Put put) {
  std::vector<Fix> fixes;
  const int64_t quads = QuadLayout(matrix.depth, 1).quads;
  const int together = std::max(1, group);
  for (int64_t first = 0; first < quads; first += together) {
    QuadGroup numbers;
    numbers.count = together;
    for (int64_t i = 0; i < together * kQuadRows; ++i) {
      const int64_t k = first * kQuadRows + i;
      if (k < matrix.depth)
        numbers.kept[static_cast<size_t>(i / kQuadRows)]
                    [static_cast<size_t>(i % kQuadRows)] = matrix.at(k, column);
    }
    if (group > 0) numbers.clip();
    for (int i = 0; i < together; ++i) {
      const auto at = static_cast<size_t>(i);
      put(first + i, numbers.kept[at]);
      while (!is_zero(numbers.cut[at]))
        fixes.push_back({static_cast<int32_t>((first + i) * kFixPlace),
                         packed_quad(take_fix(numbers.cut[at]))});
    }
  }
  return fixes;
}

// Calls column(n, place) for the columns of a group.
template <typename Fn>
void for_group(const ByteMatrix& matrix, int64_t group, int64_t columns,
               Fn column) {
  const int64_t first = group * columns;
  const int64_t count = std::min(columns, matrix.columns - first);
  for (int64_t i = 0; i < count; ++i) column(first + i, i);
}

int32_t column_sum(const ByteMatrix& matrix, int64_t column) {
  int32_t sum = 0;
  for (int64_t k = 0; k < matrix.depth; ++k) sum += matrix.at(k, column);
  return sum;
}

}  // namespace

QuadLayout::QuadLayout(int64_t depth, int64_t columns, Format format,
                       int64_t fixes)
    : group_columns(format == Format::tiles ? kTileColumns : kQuadColumns),
      multiple(format == Format::tiles ? kTileRows : kQuadMultiple),
      quads(round_up(ceil_div(depth, kQuadRows), multiple)),
      groups(ceil_div(columns, group_columns)) {
  ends_at = groups * group_columns * int64_t{sizeof(int32_t)};
  quads_at =
      round_up(ends_at + groups * int64_t{sizeof(uint32_t)}, kQuadAlignment);
  fixes_at = quads_at + round_up(groups * group_bytes(), kQuadAlignment);
  bytes = fixes_at + fixes * int64_t{sizeof(QuadFixes)};
}

int64_t count_fixes(const ByteMatrix& matrix, int group) {
  int64_t total = 0;
  const int64_t groups = QuadLayout(matrix.depth, matrix.columns).groups;
  for (int64_t g = 0; g < groups; ++g) {
    size_t most = 0;
    for_group(matrix, g, kQuadColumns, [&](int64_t n, int64_t) {
      const auto fixes = clip_column(matrix, n, group, [](int64_t, auto&) {});
      most = std::max(most, fixes.size());
    });
    total += static_cast<int64_t>(most);
  }
  return total;
}

void pack_pairs(const ShortMatrix& matrix, std::byte* out) {
  const QuadLayout layout(2 * matrix.depth, matrix.columns);
  std::memset(out, 0, static_cast<size_t>(layout.quads_at));
  auto* to = reinterpret_cast<int16_t*>(out + layout.quads_at);
  const int64_t step = 2 * kQuadColumns;  // Of a pair of all columns.
  for (int64_t g = 0; g < layout.groups; ++g, to += layout.quads * step) {
    const int64_t first = g * kQuadColumns;
    const int64_t count = std::min(kQuadColumns, matrix.columns - first);
    if (count < kQuadColumns || matrix.depth < 2 * layout.quads)
      std::fill_n(to, layout.quads * step, int16_t{0});
    for (int64_t n = 0; n < count; ++n) {
      const int16_t* from = matrix.data + (first + n) * matrix.column_stride;
      int16_t* pair = to + 2 * n;
      int64_t k = 0;
      for (; k + 1 < matrix.depth; k += 2, pair += step) {
        pair[0] = from[0];
        pair[1] = from[matrix.depth_stride];
        from += 2 * matrix.depth_stride;
      }
      if (k < matrix.depth) pair[0] = from[0];
    }
  }
}

void pack_quads(const ByteMatrix& matrix, Format format, std::byte* out) {
  const QuadLayout layout(matrix.depth, matrix.columns, format);
  const int64_t width = layout.group_columns;
  std::memset(out, 0, static_cast<size_t>(layout.fixes_at));
  auto* const sums = reinterpret_cast<int32_t*>(out);
  auto* const ends = reinterpret_cast<uint32_t*>(out + layout.ends_at);
  auto* const quads = reinterpret_cast<int32_t*>(out + layout.quads_at);
  auto* const fixes = reinterpret_cast<QuadFixes*>(out + layout.fixes_at);
  uint32_t end = 0;
  for (int64_t g = 0; g < layout.groups; ++g) {
    std::vector<Fix> lists[kTileColumns];
    size_t most = 0;
    int32_t* const to = quads + g * layout.quads * width;
    for_group(matrix, g, width, [&](int64_t n, int64_t place) {
      sums[n] = column_sum(matrix, n);
      auto& list = lists[place];
      list = clip_column(matrix, n, quad_group(format),
                         [&](int64_t quad, const Quad& kept) {
                           to[quad * width + place] = packed_quad(kept);
                         });
      most = std::max(most, list.size());
    });
    for (size_t i = 0; i < most; ++i, ++end)
      for (int64_t n = 0; n < kQuadColumns; ++n) {
        const Fix fix = i < lists[n].size() ? lists[n][i] : Fix{};
        fixes[end].places[n] = fix.place, fixes[end].bytes[n] = fix.bytes;
      }
    ends[g] = end;
  }
}

}  // namespace fxjit::weights
