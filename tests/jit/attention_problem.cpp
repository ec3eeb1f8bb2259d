#include "tests/jit/attention_problem.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "jit/emit/attention.h"
#include "jit/emit/kernel_function.h"
#include "jit/engine/compiler.h"
#include "jit/engine/compiler_llvm.h"
#include "src/program/kernel_plan.h"

namespace fxjit::jit::testing {
namespace {

using program::AttentionStep;
using program::HeadAccess;

constexpr float kCanary = 123.5f;

std::shared_ptr<CompiledCode> compile_attention(const AttentionStep& step,
                                                CpuLevel level) {
  EngineOptions options;
  options.cpu_level = level;
  IrModule module = make_ir_module("attention");
  VectorBuilder b(*make_kernel_function(module_of(module), "kernel", level),
                  level);
  emit_attention(b, step);
  std::vector<IrModule> modules;
  modules.push_back(std::move(module));
  return Compiler(options).build(std::move(modules), SymbolTable());
}

HeadAccess contiguous(int64_t heads, int64_t rows, int64_t depth) {
  return {heads * rows * depth, rows * depth, depth};
}

// Elements from the first to the last of an operand.
size_t extent(const AttentionStep& step, const HeadAccess& access, int64_t rows,
              int64_t columns, int64_t column_stride = 1) {
  if (rows == 0 || columns == 0) return 0;
  return size_t((step.batch - 1) * access.batch +
                (step.heads - 1) * access.head + (rows - 1) * access.row +
                (columns - 1) * column_stride + 1);
}

size_t at(const HeadAccess& access, int64_t b, int64_t h, int64_t row) {
  return size_t(b * access.batch + h * access.head + row * access.row);
}

// A copy of some elements right before a page that cannot be touched.
class Guarded {
 public:
  template <typename T>
  explicit Guarded(const std::vector<T>& values) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t bytes = values.size() * sizeof(T);
    const size_t pages = (bytes + page - 1) / page * page;
    size_ = pages + page;
    base_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + pages, page, PROT_NONE);
    data_ = base_ + pages - bytes;
    if (bytes) std::memcpy(data_, values.data(), bytes);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void* data() const { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  size_t size_;
};

}  // namespace

AttentionStep make_attention(int64_t queries, int64_t keys, int64_t depth,
                             int64_t value_depth, int64_t batch,
                             int64_t heads) {
  AttentionStep step;
  step.batch = batch;
  step.heads = heads;
  step.queries = queries;
  step.keys = keys;
  step.depth = depth;
  step.value_depth = value_depth;
  step.q = contiguous(heads, queries, depth);
  step.k = contiguous(heads, keys, depth);
  step.v = contiguous(heads, keys, value_depth);
  step.out = contiguous(heads, queries, value_depth);
  step.scale = depth ? float(1 / std::sqrt(double(depth))) : 1;
  return step;
}

AttentionProblem::AttentionProblem(const AttentionStep& s) : step(s) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-2, 2);
  const auto fill = [&](std::vector<float>& x, size_t size) {
    x.resize(size);
    for (float& e : x) e = value(random);
  };
  fill(q, extent(step, step.q, step.queries, step.depth));
  fill(k, extent(step, step.k, step.keys, step.depth));
  fill(v, extent(step, step.v, step.keys, step.value_depth));
  const size_t masks = extent(step, step.mask_access, step.queries, step.keys,
                              step.mask_key_stride);
  if (step.mask == AttentionStep::Mask::additive) fill(mask, masks);
  if (step.mask == AttentionStep::Mask::boolean)
    for (size_t i = 0; i < masks; ++i) keep.push_back(random() % 3 != 0);
  out.assign(extent(step, step.out, step.queries, step.value_depth) + 32,
             kCanary);
}

void AttentionProblem::run(CpuLevel level) {
  const auto code = compile_attention(step, level);
  auto* kernel =
      code->function<void(const program::KernelCall*, int64_t, int64_t)>(
          "kernel");
  const program::KernelPlan plan = program::kernel_plan(step, level);
  const size_t scratch_floats = plan.scratch_bytes / sizeof(float);
  std::vector<float> store(scratch_floats + 32, kNan);
  const auto place = reinterpret_cast<uintptr_t>(store.data() + 8);
  float* scratch = store.data() + 8 + (64 - place % 64) % 64 / sizeof(float);
  const Guarded queries(q), keys(k), values(v), additive(mask), boolean(keep);
  std::vector<void*> operands = {queries.data(), keys.data(), values.data()};
  if (step.mask == AttentionStep::Mask::additive)
    operands.push_back(additive.data());
  if (step.mask == AttentionStep::Mask::boolean)
    operands.push_back(boolean.data());
  operands.push_back(out.data());
  int32_t status = 0;
  const program::KernelCall call{
      operands.data(), reinterpret_cast<std::byte*>(scratch), &status};
  // In two runs, as two threads would.
  kernel(&call, 0, plan.tasks / 2);
  kernel(&call, plan.tasks / 2, plan.tasks);
  for (const float* p = store.data(); p < scratch; ++p)
    ASSERT_TRUE(std::isnan(*p));
  for (const float* p = scratch + scratch_floats;
       p < store.data() + store.size(); ++p)
    ASSERT_TRUE(std::isnan(*p));
}

size_t AttentionProblem::mask_at(int64_t b, int64_t h, int64_t row,
                                 int64_t key) const {
  return at(step.mask_access, b, h, row) + size_t(key * step.mask_key_stride);
}

// As torch computes them, but in double.
std::vector<double> AttentionProblem::scores(int64_t b, int64_t h,
                                             int64_t row) const {
  std::vector<double> all;
  for (int64_t key = 0; key < step.keys; ++key) {
    double sum = 0;
    for (int64_t d = 0; d < step.depth; ++d)
      sum += double(q[at(step.q, b, h, row) + size_t(d)]) *
             k[at(step.k, b, h, key) + size_t(d)];
    sum *= double(step.scale);
    if (step.mask == AttentionStep::Mask::additive)
      sum += double(mask[mask_at(b, h, row, key)]);
    if (step.mask == AttentionStep::Mask::boolean &&
        !keep[mask_at(b, h, row, key)])
      sum += double(-kInfinity);
    if (step.causal && key > row) sum = double(-kInfinity);
    all.push_back(sum);
  }
  return all;
}

std::vector<double> AttentionProblem::expected(int64_t b, int64_t h,
                                               int64_t row) const {
  std::vector<double> weights = scores(b, h, row);
  double highest = -std::numeric_limits<double>::max();
  for (double s : weights) highest = std::max(highest, s);
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - highest);
  std::vector<double> sums(size_t(step.value_depth), 0.0);
  for (int64_t key = 0; key < step.keys; ++key)
    for (size_t d = 0; d < sums.size(); ++d)
      sums[d] += weights[size_t(key)] * double(v[at(step.v, b, h, key) + d]);
  const bool zero = total == 0 && step.zero_rows;
  for (double& s : sums) s = zero ? 0 : s / total;
  return sums;
}

void AttentionProblem::expect_right(double tolerance, int64_t every) const {
  std::vector<char> written(out.size(), 0);
  for (int64_t b = 0; b < step.batch; ++b)
    for (int64_t h = 0; h < step.heads; ++h)
      for (int64_t row = 0; row < step.queries; ++row) {
        const size_t place = at(step.out, b, h, row);
        for (int64_t d = 0; d < step.value_depth; ++d)
          written[place + size_t(d)] = 1;
        if (row % every == 0) expect_row(b, h, row, tolerance);
      }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!written[i]) {
      ASSERT_EQ(out[i], kCanary) << i;
    }
  }
}

void AttentionProblem::expect_row(int64_t b, int64_t h, int64_t row,
                                  double tolerance) const {
  const std::vector<double> want = expected(b, h, row);
  for (size_t d = 0; d < want.size(); ++d) {
    const float got = out[at(step.out, b, h, row) + d];
    if (std::isnan(want[d]))
      ASSERT_TRUE(std::isnan(got)) << row << " " << d;
    else
      ASSERT_NEAR(got, want[d], tolerance)
          << b << " " << h << " " << row << " " << d;
  }
}

}  // namespace fxjit::jit::testing
