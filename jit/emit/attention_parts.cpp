#include "jit/emit/attention_parts.h"

#include <limits>
#include <string>

#include "jit/emit/kernel_function.h"

namespace fxjit::jit {
namespace {

int alignment(const VectorBuilder& b) { return b.lanes() * int(sizeof(float)); }

class Queries {
 public:
  Queries(const AttentionContext& context, Value* q, Value* first,
          Value* scratch)
      : b_(context.b),
        context_(context),
        step_(context.step),
        q_(q),
        first_(first),
        to_(context.region(scratch, context.shape.queries_at)) {}

  void transpose() {
    b_.loop(b_.i64(0), b_.i64(context_.shape.block), b_.i64(b_.lanes()),
            [&](Value* lane) { transpose_lanes(lane); });
  }

 private:
  // The last columns of a depth that is no multiple of four are done twice.
  void transpose_lanes(Value* lane) {
    const int64_t depth = step_.depth;
    if (depth < kColumns) return transpose_chunk(lane, b_.i64(0), depth);
    b_.loop(b_.i64(0), b_.i64(depth), b_.i64(kColumns), [&](Value* d) {
      if (depth % kColumns != 0) d = b_.min(d, b_.i64(depth - kColumns));
      transpose_chunk(lane, d, kColumns);
    });
  }

  void transpose_chunk(Value* lane, Value* d, int64_t count) {
    if (count == 0) return;
    Value* mask =
        count < kColumns ? b_.tail_mask(b_.i64(count), kColumns) : nullptr;
    Value* from = b_.offset(q_, b_.f32(), d);
    Value* first = b_.add(first_, lane);
    const Values columns = transpose_columns(b_, [&](int row) {
      Value* at = context_.query_row(from, b_.f32(), first, row, step_.q.row);
      return mask ? b_.load(DType::f32, at, mask)
                  : b_.load(DType::f32, at, kColumns);
    });
    const int64_t block = context_.shape.block;
    Value* to = b_.offset(context_.row(to_, d, block), b_.f32(), lane);
    Value* scale = b_.splat_f32(double(step_.scale));
    for (int64_t c = 0; c < count; ++c)
      context_.store(b_.mul(columns[size_t(c)], scale), to, c * block);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const program::AttentionStep& step_;
  Value* q_;
  Value* first_;
  Value* to_;
};

}  // namespace

Value* AttentionContext::query_row(Value* base, llvm::Type* type, Value* first,
                                   int64_t i, int64_t stride) const {
  if (step.queries % shape.block == 0) {
    Value* elements = b.ir().CreateMul(first, b.i64(stride));
    return b.offset(b.offset(base, type, elements), type, i * stride);
  }
  Value* row = b.min(b.add(first, b.i64(i)), b.i64(step.queries - 1));
  return b.offset(base, type, b.ir().CreateMul(row, b.i64(stride)));
}

Value* AttentionContext::load(Value* at, int64_t elements) const {
  return b.load_raw(b.vec(b.f32()), b.offset(at, b.f32(), elements),
                    alignment(b));
}

void AttentionContext::store(Value* vector, Value* at, int64_t elements) const {
  b.store_raw(vector, b.offset(at, b.f32(), elements), alignment(b));
}

Values transpose_columns(VectorBuilder& b,
                         llvm::function_ref<Value*(int row)> load_row) {
  Values rows;  // Row i has rows i, i + 4, ... of the matrix side by side.
  for (int i = 0; i < 4; ++i) {
    Values parts;
    for (int row = i; row < b.lanes(); row += 4) parts.push_back(load_row(row));
    while (parts.size() > 1) {
      Values pairs;
      for (size_t p = 0; p < parts.size(); p += 2)
        pairs.push_back(b.concat(parts[p], parts[p + 1]));
      parts = pairs;
    }
    rows.push_back(parts[0]);
  }
  return b.transpose(rows);
}

void emit_part(
    const AttentionContext& context, const char* name, const Values& args,
    llvm::function_ref<void(const AttentionContext&, const Values&)> emit) {
  VectorBuilder& b = context.b;
  std::vector<llvm::Type*> types;
  Values passed;
  for (Value* arg : args) {
    if (llvm::isa<llvm::Constant>(arg)) continue;
    types.push_back(arg->getType());
    passed.push_back(arg);
  }
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(b.context()), types, false);
  auto* function = llvm::Function::Create(
      type, llvm::GlobalValue::InternalLinkage,
      b.function().getName().str() + "_" + name, b.module());
  set_kernel_attributes(*function, b.level());
  function->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder inside(*function, b.level());
  Values received;
  int next = 0;
  for (Value* arg : args)
    received.push_back(llvm::isa<llvm::Constant>(arg) ? arg
                                                      : inside.arg(next++));
  emit(AttentionContext{inside, context.step, context.shape}, received);
  inside.ret();
  b.ir().CreateCall(function, passed);
}

Value* inverse_total(const AttentionContext& context, Value* total) {
  VectorBuilder& b = context.b;
  Value* inverse = b.div(b.splat_f32(1), total);
  if (!context.step.zero_rows) return inverse;
  return b.select(b.eq(total, b.splat_f32(0)), b.splat_f32(0), inverse);
}

void emit_queries(const AttentionContext& context, const AttentionTask& task) {
  emit_part(context, "queries", {task.q, task.first, task.scratch},
            [](const AttentionContext& inside, const Values& args) {
              Queries(inside, args[0], args[1], args[2]).transpose();
            });
}

void emit_start(const AttentionContext& context, const AttentionTask& task) {
  VectorBuilder& b = context.b;
  const program::AttentionShape& shape = context.shape;
  const auto fill = [&](int64_t region, int64_t elements, double value) {
    Value* at = context.region(task.scratch, region);
    b.loop(b.i64(0), b.i64(elements), b.i64(b.lanes()), [&](Value* i) {
      context.store(b.splat_f32(value), b.offset(at, b.f32(), i));
    });
  };
  fill(shape.maxima_at, shape.block,
       double(std::numeric_limits<float>::lowest()));
  fill(shape.totals_at, shape.block, 0);
  fill(shape.sums_at, shape.block * shape.sums_row, 0);
}

}  // namespace fxjit::jit
