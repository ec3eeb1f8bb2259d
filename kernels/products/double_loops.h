// The loops of double_product.cpp, once per CPU level (each_level.h).

constexpr int kLanes = FXJIT_REGISTER / 2;
constexpr int kVectors = DoublePanel::kColumns / kLanes;
constexpr int kTileRows = kLanes == 8 ? 8 : kLanes == 4 ? 3 : 1;
using Vector [[gnu::vector_size(kLanes * sizeof(double))]] = double;

inline Vector load(const double* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// kRows rows of sums stay in registers along the whole depth.
template <int kRows>
inline void tile(const DoublePanel& p, int64_t row) {
  Vector sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = load(p.start + v * kLanes);
  const double* a = p.a + row * p.a_row;
  const double* b = p.panel;
  for (int64_t k = 0; k < p.depth; ++k) {
    for (int r = 0; r < kRows; ++r) {
      const Vector factor = Vector{} + a[r * p.a_row];
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] += factor * load(b + v * kLanes);
    }
    a += p.a_depth;
    b += DoublePanel::kColumns;
  }
  for (int r = 0; r < kRows; ++r)
    std::memcpy(p.c + (row + r) * p.c_row, sums[r],
                static_cast<size_t>(p.columns) * sizeof(double));
}

inline void run(const DoublePanel& p) {
  int64_t row = 0;
  for (; row + kTileRows <= p.rows; row += kTileRows) tile<kTileRows>(p, row);
  for (; row + 2 <= p.rows; row += 2) tile<2>(p, row);
  if (row < p.rows) tile<1>(p, row);
}
