#include "src/ops/body_evaluator.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/ops/prim_loops.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Elements per block: a handful of 8-byte blocks fit the 32 KiB cache.
constexpr int64_t kBlock = 512;

// Reads the elements of a broadcast view in row-major order, a few at a time.
class Reader {
 public:
  Reader(const Tensor& source, const Dims& target)
      : nest_(target,
              {broadcast_strides(source.sizes(), source.strides(), target)}),
        index_(nest_.sizes.size(), 0),
        source_(source) {}

  // The next n elements, converted to the compute type of the source.
  void read(void* to, int64_t n) {
    visit_dtype(source_.dtype(), [&](auto type) {
      using From = typename decltype(type)::type;
      read_as<From>(static_cast<ComputeOf<From>*>(to), n);
    });
  }

 private:
  template <typename From>
  void read_as(ComputeOf<From>* to, int64_t n) {
    const From* data = source_.data_as<From>();
    const int inner = nest_.sizes.size() - 1;
    const int64_t step = nest_.strides[0][inner];
    while (n > 0) {
      const int64_t run = std::min(n, nest_.sizes[inner] - index_[inner]);
      const From* from = data + offset_;
      for (int64_t i = 0; i < run; ++i)
        to[i] = convert<ComputeOf<From>>(from[i * step]);
      to += run;
      n -= run;
      advance(run);
    }
  }

  void advance(int64_t run) {
    int d = nest_.sizes.size() - 1;
    index_[d] += run;
    offset_ += run * nest_.strides[0][d];
    for (; d > 0 && index_[d] == nest_.sizes[d]; --d) {
      offset_ -= nest_.strides[0][d] * nest_.sizes[d];
      index_[d] = 0;
      ++index_[d - 1];
      offset_ += nest_.strides[0][d - 1];
    }
  }

  LoopNest<1> nest_;
  Dims index_;
  int64_t offset_ = 0;
  const Tensor& source_;
};

class Evaluator {
 public:
  Evaluator(const ScalarBody& body, std::span<const Tensor> inputs,
            const Dims& sizes)
      : body_(body),
        sizes_(sizes),
        registers_(body.instrs.size()),
        memory_(new std::byte[body.instrs.size() * kBlock * sizeof(int64_t)]) {
    for (const Tensor& input : inputs) readers_.emplace_back(input, sizes);
    for (size_t i = 0; i < registers_.size(); ++i)
      registers_[i] =
          memory_.get() + i * static_cast<size_t>(kBlock) * sizeof(int64_t);
    fill_constants();
  }

  // Every instruction over elements [first, first + n).
  void run_block(int64_t first, int64_t n) {
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (instr.prim == Prim::constant) continue;
      if (instr.prim == Prim::input)
        readers_[static_cast<size_t>(instr.slot)].read(registers_[i], n);
      else if (instr.prim == Prim::index)
        fill_index(instr.slot, first, n, registers_[i]);
      else
        run_instr(instr, registers_[i], n);
    }
  }

  void store(int32_t id, const Tensor& output, int64_t first, int64_t n) {
    visit_dtype(output.dtype(), [&](auto type) {
      using To = typename decltype(type)::type;
      const auto* from = reinterpret_cast<const ComputeOf<To>*>(registers_[id]);
      To* to = output.data_as<To>() + first;
      for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    });
  }

 private:
  void fill_constants() {
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (instr.prim != Prim::constant) continue;
      visit_dtype(instr.type, [&](auto type) {
        using T = ComputeOf<typename decltype(type)::type>;
        const T value = std::is_floating_point_v<T> ? convert<T>(instr.imm)
                                                    : convert<T>(instr.bits);
        std::fill_n(reinterpret_cast<T*>(registers_[i]), kBlock, value);
      });
    }
  }

  void fill_index(int dim, int64_t first, int64_t n, std::byte* to) const {
    const int64_t step = contiguous_strides(sizes_)[dim];
    auto* out = reinterpret_cast<int64_t*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = (first + i) / step % sizes_[dim];
  }

  void run_instr(const ScalarInstr& instr, std::byte* result, int64_t n) {
    FXJIT_CHECK(!is_reduction(instr.prim), "reduction in an elementwise body");
    const void* args[3] = {};
    for (size_t k = 0; k < 3; ++k)
      if (instr.args[k] >= 0) args[k] = registers_[instr.args[k]];
    const int32_t typed = instr.args[instr.prim == Prim::select ? 1 : 0];
    run_prim(instr, body_.instrs[typed].type, args, result, n);
  }

  const ScalarBody& body_;
  const Dims sizes_;
  std::vector<Reader> readers_;
  std::vector<std::byte*> registers_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void evaluate_body(const ScalarBody& body, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs) {
  FXJIT_CHECK(!outputs.empty() && outputs.size() == body.results.size(),
              "results of a scalar body");
  const int64_t count = outputs[0].numel();
  Evaluator evaluator(body, inputs, outputs[0].sizes());
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t n = std::min(kBlock, count - first);
    evaluator.run_block(first, n);
    for (size_t i = 0; i < outputs.size(); ++i)
      evaluator.store(body.results[i], outputs[i], first, n);
  }
}

}  // namespace fxjit::ops
