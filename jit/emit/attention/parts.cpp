#include "jit/emit/attention/parts.h"

#include <cstddef>
#include <string>

namespace fxjit::jit {
namespace {

using program::AttentionCall;

class Queries {
 public:
  explicit Queries(const AttentionContext& context)
      : b_(context.b),
        context_(context),
        depth_(context.form.depth),
        q_(context.pointer(offsetof(AttentionCall, q))),
        row_(context.number(offsetof(AttentionCall, q_row))),
        first_(context.number(offsetof(AttentionCall, first))),
        to_(context.region(context.places.queries_at)) {}

  void transpose() {
    b_.loop(b_.i64(0), b_.i64(context_.block()), b_.i64(b_.lanes()),
            [&](Value* lane) { transpose_lanes(lane); });
  }

 private:
  // The last columns of a depth that is no multiple of four are done twice.
  void transpose_lanes(Value* lane) {
    if (depth_ < kColumns) return transpose_chunk(lane, b_.i64(0), depth_);
    b_.loop(b_.i64(0), b_.i64(depth_), b_.i64(kColumns), [&](Value* d) {
      if (depth_ % kColumns != 0) d = b_.min(d, b_.i64(depth_ - kColumns));
      transpose_chunk(lane, d, kColumns);
    });
  }

  void transpose_chunk(Value* lane, Value* d, int64_t count) {
    if (count == 0) return;
    Value* mask =
        count < kColumns ? b_.tail_mask(b_.i64(count), kColumns) : nullptr;
    Value* from = b_.offset(q_, b_.f32(), d);
    Value* first = b_.add(first_, lane);
    const Values columns = transpose_columns(b_, [&](int query) {
      Value* at = context_.row(from, context_.query(first, query), row_);
      return mask ? b_.load(DType::f32, at, mask)
                  : b_.load(DType::f32, at, kColumns);
    });
    const int64_t block = context_.block();
    Value* to = b_.offset(context_.row(to_, d, block), b_.f32(), lane);
    Value* scale = b_.splat_f32(double(context_.form.scale));
    for (int64_t c = 0; c < count; ++c)
      context_.store(b_.mul(columns[size_t(c)], scale), to, c * block);
  }

  VectorBuilder& b_;
  const AttentionContext& context_;
  const int64_t depth_;
  Value* q_;
  Value* row_;
  Value* first_;
  Value* to_;
};

}  // namespace

AttentionContext::AttentionContext(VectorBuilder& builder,
                                   const program::AttentionForm& emitted)
    : b(builder),
      form(emitted),
      places(program::attention_scratch(emitted, builder.level())),
      last(b.sub(number(offsetof(AttentionCall, queries)), b.i64(1))) {}

Value* AttentionContext::region(int64_t at) const {
  return b.offset(pointer(offsetof(AttentionCall, scratch)), b.f32(), at);
}

Value* AttentionContext::query(Value* first, int64_t i) const {
  return b.min(b.add(first, b.i64(i)), last);
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
  std::vector<llvm::Type*> types{b.ptr()};
  Values passed{b.arg(0)};
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
  function->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder inside(*function, b.level());
  const AttentionContext part(inside, context.form);
  Values received;
  int next = 1;
  for (Value* arg : args)
    received.push_back(llvm::isa<llvm::Constant>(arg) ? arg
                                                      : inside.arg(next++));
  emit(part, received);
  inside.ret();
  b.ir().CreateCall(function, passed);
}

Value* inverse_total(const AttentionContext& context, Value* total) {
  VectorBuilder& b = context.b;
  Value* inverse = b.div(b.splat_f32(1), total);
  if (!context.form.zero_rows) return inverse;
  return b.select(b.eq(total, b.splat_f32(0)), b.splat_f32(0), inverse);
}

void emit_queries(const AttentionContext& context) {
  emit_part(context, "queries", {},
            [](const AttentionContext& inside, const Values&) {
              Queries(inside).transpose();
            });
}

void emit_start(const AttentionContext& context) {
  VectorBuilder& b = context.b;
  const program::AttentionScratch& places = context.places;
  const auto fill = [&](int64_t region, int64_t elements, double value) {
    Value* at = context.region(region);
    b.loop(b.i64(0), b.i64(elements), b.i64(b.lanes()), [&](Value* i) {
      context.store(b.splat_f32(value), b.offset(at, b.f32(), i));
    });
  };
  fill(places.maxima_at, context.block(), kLowest);
  fill(places.totals_at, context.block(), 0);
  fill(places.sums_at, context.block() * places.sums_row, 0);
}

}  // namespace fxjit::jit
