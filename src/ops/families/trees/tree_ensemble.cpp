// Ensembles of trees: the row of the table, and the order in which rows and
// trees are gone through.
#include "fxjit/error.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/families/trees/tree_walk.h"

namespace fxjit::ops {
namespace {

enum TreeArgument : size_t {
  kTreeInput,
  kTreeNodes,
  kTreeKinds,
  kTreeMembers,
  kTreeRoots,
  kTreeStarts,
  kTreeTargets,
  kTreeWeights,
  kTreeFeatures,
  kTreeCount,
  kTreeCompare,
  kTreeAggregate,
  kTreeType
};

constexpr const char* kTreeSchema =
    "input, nodes, kinds, members, roots, starts, targets, weights, features, "
    "count, compare, aggregate, dtype";

Value infer_trees(const OpCall& call) {
  const Tensor& x = call.tensor(kTreeInput);
  if (x.dim() != 2 || x.size(1) < call.integer(kTreeFeatures))
    call.fail("input: expected rows of " +
              std::to_string(call.integer(kTreeFeatures)) +
              " features or more, got " + x.describe());
  return Tensor::meta({x.size(0), call.integer(kTreeCount)},
                      call[kTreeType].as_dtype());
}

// Rows [0, rows) at `x` beside one another, and their sums.
template <typename T>
struct TreeRows {
  const T* x;
  int64_t rows, columns;

  const T* row(int64_t i) const { return x + i * columns; }
  bool has_nan(int64_t i) const {
    bool found = false;
    for (int64_t c = 0; c < columns; ++c) found |= std::isnan(row(i)[c]);
    return found;
  }
};

template <bool kLess, typename T>
void add_trees_of_row(const TreeTables<T>& tables, const TreeRows<T>& rows,
                      int64_t row, const TreeSums& sums) {
  const auto trees = static_cast<int64_t>(tables.roots.size());
  const T* const x = rows.row(row);
  for (int64_t first = 0; first < trees; first += kTreeLanes) {
    const int64_t count = std::min(kTreeLanes, trees - first);
    TreeLanes at;
    for (int64_t lane = 0; lane < kTreeLanes; ++lane)
      at[lane] = tables.roots[first + std::min(lane, count - 1)];
    walk_lanes<kLess>(tables.nodes, [x](size_t) { return x; }, at);
    for (int64_t lane = 0; lane < count; ++lane)
      add_leaf(tables, at[lane], row, sums);
  }
}

template <typename T>
void add_trees_by_modes(const TreeTables<T>& tables, const TreeRows<T>& rows,
                        int64_t row, const TreeSums& sums) {
  for (const int32_t root : tables.roots)
    add_leaf(tables, walk_by_modes(tables, rows.row(row), root), row, sums);
}

// Tree by tree, so that the nodes of one stay in the cache for all the rows.
template <bool kLess, typename T>
void add_trees_of_rows(const TreeTables<T>& tables, const TreeRows<T>& rows,
                       const TreeSums& sums) {
  const int64_t whole = rows.rows / kTreeLanes * kTreeLanes;
  std::vector<bool> by_modes(static_cast<size_t>(rows.rows));
  for (int64_t i = 0; i < rows.rows; ++i)
    by_modes[static_cast<size_t>(i)] = rows.has_nan(i);
  for (const int32_t root : tables.roots)
    for (int64_t first = 0; first < whole; first += kTreeLanes) {
      const T* const x = rows.row(first);
      TreeLanes at;
      at.fill(root);
      walk_lanes<kLess>(
          tables.nodes,
          [&](size_t lane) {
            return x + static_cast<int64_t>(lane) * rows.columns;
          },
          at);
      for (int64_t lane = 0; lane < kTreeLanes; ++lane)
        if (!by_modes[static_cast<size_t>(first + lane)])
          add_leaf(tables, at[lane], first + lane, sums);
    }
  for (int64_t i = 0; i < rows.rows; ++i)
    if (by_modes[static_cast<size_t>(i)])
      add_trees_by_modes(tables, rows, i, sums);
    else if (i >= whole)
      add_trees_of_row<kLess>(tables, rows, i, sums);
}

template <typename T>
void add_trees(const TreeTables<T>& tables, const TreeRows<T>& rows,
               const TreeSums& sums) {
  if (tables.compare == TreeCompare::leq) {
    add_trees_of_rows<false>(tables, rows, sums);
  } else if (tables.compare == TreeCompare::lt) {
    add_trees_of_rows<true>(tables, rows, sums);
  } else {
    for (int64_t i = 0; i < rows.rows; ++i)
      add_trees_by_modes(tables, rows, i, sums);
  }
}

template <typename T>
TreeTables<T> tables_of(const OpCall& call) {
  const Tensor &roots = call.tensor(kTreeRoots),
               &starts = call.tensor(kTreeStarts);
  return {static_cast<const TreeNode<T>*>(call.tensor(kTreeNodes).data()),
          call.tensor(kTreeKinds).data_as<uint8_t>(),
          call.tensor(kTreeMembers).data_as<double>(),
          {roots.data_as<int32_t>(), static_cast<size_t>(roots.numel())},
          starts.numel() == 0 ? nullptr : starts.data_as<int32_t>(),
          call.tensor(kTreeTargets).data_as<int32_t>(),
          call.tensor(kTreeWeights).data_as<double>(),
          static_cast<TreeCompare>(call.integer(kTreeCompare)),
          static_cast<TreeAggregate>(call.integer(kTreeAggregate)),
          call.integer(kTreeCount)};
}

// So many rows at a time that their numbers stay in the first cache.
int64_t rows_at_once(int64_t columns) {
  constexpr int64_t kNumbers = 4096, kMostRows = 512;
  const int64_t rows = kNumbers / std::max<int64_t>(columns, 1);
  return std::clamp(rows / kTreeLanes * kTreeLanes, kTreeLanes, kMostRows);
}

// The sums of all rows, rounded to Out.
template <typename T, typename Out>
void run_trees_of(const OpCall& call, const Tensor& x, Out* out) {
  const TreeTables<T> tables = tables_of<T>(call);
  const int64_t columns = x.size(1), count = tables.count;
  const int64_t all = x.size(0), at_once = std::min(rows_at_once(columns), all);
  const auto sums_at_once = static_cast<size_t>(at_once * count);
  std::vector<double> sums(sums_at_once);
  std::vector<uint8_t> given(tables.chooses() ? sums_at_once : 0);
  const double divisor = tables.aggregate == TreeAggregate::average
                             ? static_cast<double>(tables.roots.size())
                             : 1;
  for (int64_t first = 0; first < all; first += at_once) {
    const int64_t rows = std::min(at_once, all - first);
    std::ranges::fill(sums, 0);
    std::ranges::fill(given, 0);
    const T* const numbers = static_cast<const T*>(x.data()) + first * columns;
    add_trees(tables, TreeRows<T>{numbers, rows, columns},
              {sums.data(), given.data()});
    for (int64_t i = 0; i < rows * count; ++i)
      *out++ = static_cast<Out>(sums[static_cast<size_t>(i)] / divisor);
  }
}

template <typename T>
void run_trees_to(const OpCall& call, DType dtype, const Tensor& out) {
  const Tensor x = call.tensor(kTreeInput).to(dtype).contiguous();
  if (out.dtype() == DType::f64)
    run_trees_of<T>(call, x, out.data_as<double>());
  else
    run_trees_of<T>(call, x, out.data_as<float>());
}

void run_trees(const OpCall& call, std::span<const Tensor> results) {
  Tensor result = results[0];
  const bool dense = result.is_contiguous();
  const Tensor out =
      dense ? result : Tensor::empty(result.sizes(), result.dtype());
  if (call.tensor(kTreeNodes).size(1) == kTreeNodeColumns<double>)
    run_trees_to<double>(call, DType::f64, out);
  else
    run_trees_to<float>(call, DType::f32, out);
  if (!dense) result.copy_from(out);
}

constexpr OpRow kTreesRows[] = {
    direct_row("fxjit.tree_ensemble", kTreeSchema, "fxjit.tree_ensemble",
               infer_trees, run_trees),
};

}  // namespace

std::span<const OpRow> trees_rows() { return kTreesRows; }

}  // namespace fxjit::ops
