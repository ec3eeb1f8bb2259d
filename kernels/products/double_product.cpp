#include "kernels/products/double_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fxjit/thread_pool.h"
#include "kernels/onednn/product_call.h"
#include "kernels/routines.h"
#include "kernels/thread_scratch.h"

#define FXJIT_LEVEL_CODE "kernels/products/double_loops.h"

namespace fxjit::kernels {
namespace {

// Rows of a matrix times a packed panel of 16 columns.
struct DoublePanel {
  static constexpr int64_t kColumns = 16;

  const double* a;  // [rows, depth], any strides.
  int64_t a_row, a_depth;
  int64_t rows, depth;
  const double* panel;  // [depth, 16].
  const double* start;  // What the sums start with: 16 numbers.
  double* c;            // [rows, columns], columns contiguous.
  int64_t c_row;
  int64_t columns;  // How many of the panel's are stored.
};

#include "kernels/each_level.h"

constexpr int64_t kColumns = DoublePanel::kColumns;
// Rows of one task: enough to pay for reading the panel.
constexpr int64_t kRowsPerTask = 64;

int64_t panels_of(int64_t columns) {
  return (columns + kColumns - 1) / kColumns;
}

int64_t panel_bytes(int64_t depth) {
  return depth * kColumns * static_cast<int64_t>(sizeof(double));
}

std::array<double, kColumns> start_of(const ops::MatmulArgs& args,
                                      int64_t column, int64_t count) {
  std::array<double, kColumns> start{};
  const auto* bias = static_cast<const double*>(args.bias);
  for (int64_t n = 0; bias && n < count; ++n)
    start[static_cast<size_t>(n)] = bias[(column + n) * args.bias_stride];
  return start;
}

// The columns of a panel, zeros behind the last one.
void pack(const ops::MatmulArgs& args, int64_t batch, int64_t panel,
          double* to) {
  const int64_t column = panel * kColumns;
  const int64_t columns = std::min(kColumns, args.columns - column);
  const double* b = static_cast<const double*>(args.b) + batch * args.b_batch +
                    column * args.b_column;
  if (columns < kColumns)
    std::memset(to, 0, static_cast<size_t>(panel_bytes(args.depth)));
  // A few lines at a time, so that both sides stay in the first cache.
  constexpr int64_t kBlock = 64;
  for (int64_t first = 0; first < args.depth; first += kBlock) {
    const int64_t last = std::min(first + kBlock, args.depth);
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t k = first; k < last; ++k)
        to[k * kColumns + n] = b[k * args.b_depth + n * args.b_column];
  }
}

void multiply(const ops::MatmulArgs& args, int64_t batch, int64_t panel,
              int64_t row, int64_t rows, const double* packed) {
  const int64_t column = panel * kColumns;
  const int64_t count = std::min(kColumns, args.columns - column);
  const std::array<double, kColumns> start = start_of(args, column, count);
  const auto* a = static_cast<const double*>(args.a) + batch * args.a_batch;
  auto* c = static_cast<double*>(args.c) + batch * args.c_batch;
  const DoublePanel work{a + row * args.a_row, args.a_row,
                         args.a_depth,         rows,
                         args.depth,           packed,
                         start.data(),         c + row * args.c_row + column,
                         args.c_row,           count};
  at_level(host_cpu_level(), work);
}

class DoubleProductRoutine : public program::ExternCode {
 public:
  DoubleProductRoutine(const onednn::Product& product, const CallRequest& call)
      : product_(product), args_{product.shape} {
    if (args_.batch != 1) return;
    const int64_t panels = panels_of(args_.columns);
    const int64_t each = panel_bytes(args_.depth);
    packed_ = call.packed(
        static_cast<size_t>(product.weights),
        {weights::Reader::product_of_doubles, product.shape.key(),
         static_cast<size_t>(panels * each),
         [&](const void* from, std::byte* to) {
           args_.b = from;
           for (int64_t i = 0; i < panels; ++i)
             pack(args_, 0, i, reinterpret_cast<double*>(to + i * each));
         }});
  }

  // Where panels are packed by every call, all their rows are one task.
  int64_t tasks() const override {
    return args_.batch * panels_of(args_.columns) * row_blocks();
  }
  size_t scratch_bytes() const override {
    return packed_ ? 0 : static_cast<size_t>(panel_bytes(args_.depth));
  }
  std::string describe() const override { return "product of doubles"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    ops::MatmulArgs args = args_;
    args.a = call.operands[product_.a];
    args.b = call.operands[product_.weights];
    args.bias = product_.bias < 0 ? nullptr : call.operands[product_.bias];
    args.c = call.operands[product_.output];
    int64_t scratch_holds = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t rows = row_blocks();
      const int64_t index = task / rows, row = task % rows * kRowsPerTask;
      const int64_t panels = panels_of(args.columns);
      const int64_t batch = index / panels, panel = index % panels;
      auto* scratch = reinterpret_cast<double*>(call.scratch);
      const double* packed = scratch;
      if (packed_)
        packed = reinterpret_cast<const double*>(
            packed_->data() + panel * panel_bytes(args.depth));
      else if (scratch_holds != index)
        pack(args, batch, panel, scratch);
      scratch_holds = index;
      const int64_t most = packed_ ? kRowsPerTask : args.rows;
      multiply(args, batch, panel, row, std::min(most, args.rows - row),
               packed);
    }
  }

 private:
  int64_t row_blocks() const {
    return packed_ ? (args_.rows + kRowsPerTask - 1) / kRowsPerTask : 1;
  }

  onednn::Product product_;
  ops::MatmulArgs args_;
  weights::Block packed_;
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_double_product_routine(
    const CallRequest& request) {
  const auto product = onednn::read_product({request.op, request.args});
  if (!product || !request.results[0].as_tensor().is_contiguous())
    return nullptr;
  return std::make_shared<DoubleProductRoutine>(*product, request);
}

bool eager_double_product(const ops::MatmulArgs& args) {
  constexpr int64_t kSmall = 8 * 8 * 8;
  if (args.dtype != DType::f64 ||
      args.rows * args.columns * args.depth <= kSmall)
    return false;
  const int64_t panels = panels_of(args.columns);
  support::ThreadPool& pool = support::ThreadPool::shared();
  pool.parallel_for(
      args.batch * panels,
      [&](int64_t begin, int64_t end, int) {
        auto* scratch = reinterpret_cast<double*>(
            thread_scratch(static_cast<size_t>(panel_bytes(args.depth))));
        for (int64_t i = begin; i < end; ++i) {
          pack(args, i / panels, i % panels, scratch);
          multiply(args, i / panels, i % panels, 0, args.rows, scratch);
        }
      },
      pool.size());
  return true;
}

}  // namespace fxjit::kernels
