#include "src/ops/eager/body_evaluator.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/ops/eager/prim_loops.h"
#include "src/tensor/strided.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// Elements per block: a handful of 8-byte blocks fit the 32 KiB cache.
constexpr int64_t kBlock = 512;
constexpr size_t kBlockBytes = static_cast<size_t>(kBlock) * sizeof(int64_t);

// Reads the elements of a broadcast view in row-major order, a few at a time.
class Reader {
 public:
  Reader(const Tensor& source, const Dims& target)
      : nest_(target,
              {broadcast_strides(source.sizes(), source.strides(), target)}),
        index_(nest_.sizes.size(), 0),
        source_(source) {}

  // The elements from `first` on where they lie in memory as they are needed,
  // or null when they must be read.
  const void* in_place(int64_t first) const {
    const bool plain = compute_dtype(source_.dtype()) == source_.dtype() &&
                       nest_.sizes.size() == 1 && nest_.strides[0][0] == 1;
    if (!plain) return nullptr;
    return source_.data_as<std::byte>() +
           first * static_cast<int64_t>(source_.item_size());
  }

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
      const int64_t run =
          std::min<int64_t>(n, nest_.sizes[inner] - index_[inner]);
      const From* from = data + offset_;
      if (step == 0) {
        std::fill_n(to, run, convert<ComputeOf<From>>(*from));
      } else if (step == 1) {
        for (int64_t i = 0; i < run; ++i)
          to[i] = convert<ComputeOf<From>>(from[i]);
      } else {
        for (int64_t i = 0; i < run; ++i)
          to[i] = convert<ComputeOf<From>>(from[i * step]);
      }
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
            std::span<const Tensor> outputs)
      : body_(body),
        outputs_(outputs),
        sizes_(outputs[0].sizes()),
        memory_(new std::byte[body.instrs.size() * kBlockBytes]) {
    for (const Tensor& input : inputs) readers_.emplace_back(input, sizes_);
    for (size_t i = 0; i < body.instrs.size(); ++i)
      blocks_.push_back(memory_.get() + i * kBlockBytes);
    operands_.assign(blocks_.begin(), blocks_.end());
    fill_constants();
    find_direct_results();
  }

  // Every instruction over elements [first, first + n), then the stores.
  void run(int64_t first, int64_t n) {
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (instr.prim == Prim::constant) continue;
      if (instr.prim == Prim::input)
        run_input(instr, i, first, n);
      else if (instr.prim == Prim::index)
        fill_index(instr.slot, first, n, blocks_[i]);
      else
        run_instr(instr, i, first, n);
    }
    for (size_t k = 0; k < outputs_.size(); ++k)
      if (direct_[static_cast<size_t>(body_.results[k])] != &outputs_[k])
        store(k, first, n);
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
        std::fill_n(reinterpret_cast<T*>(blocks_[i]), kBlock, value);
      });
    }
  }

  // Results that need no conversion are computed where they are wanted.
  void find_direct_results() {
    direct_.assign(body_.instrs.size(), nullptr);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const auto id = static_cast<size_t>(body_.results[k]);
      const ScalarInstr& instr = body_.instrs[id];
      if (prim_arity(instr.prim) > 0 && instr.type == outputs_[k].dtype())
        direct_[id] = &outputs_[k];
    }
  }

  void run_input(const ScalarInstr& instr, size_t i, int64_t first, int64_t n) {
    Reader& reader = readers_[static_cast<size_t>(instr.slot)];
    operands_[i] = reader.in_place(first);
    if (operands_[i]) return;
    operands_[i] = blocks_[i];
    reader.read(blocks_[i], n);
  }

  void fill_index(int dim, int64_t first, int64_t n, std::byte* to) const {
    const int64_t step = contiguous_strides(sizes_)[dim];
    auto* out = reinterpret_cast<int64_t*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = (first + i) / step % sizes_[dim];
  }

  void run_instr(const ScalarInstr& instr, size_t i, int64_t first, int64_t n) {
    FXJIT_CHECK(!is_reduction(instr.prim), "reduction in an elementwise body");
    const void* args[3] = {};
    for (size_t k = 0; k < 3; ++k)
      if (instr.args[k] >= 0)
        args[k] = operands_[static_cast<size_t>(instr.args[k])];
    std::byte* result = blocks_[i];
    if (const Tensor* output = direct_[i])
      result = output->data_as<std::byte>() +
               first * static_cast<int64_t>(output->item_size());
    operands_[i] = result;
    const int32_t typed = instr.args[instr.prim == Prim::select ? 1 : 0];
    run_prim(instr, body_.instrs[static_cast<size_t>(typed)].type, args, result,
             n);
  }

  void store(size_t k, int64_t first, int64_t n) {
    visit_dtype(outputs_[k].dtype(), [&](auto type) {
      using To = typename decltype(type)::type;
      const auto* from = static_cast<const ComputeOf<To>*>(
          operands_[static_cast<size_t>(body_.results[k])]);
      To* to = outputs_[k].data_as<To>() + first;
      for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    });
  }

  const ScalarBody& body_;
  const std::span<const Tensor> outputs_;
  const Dims sizes_;
  std::vector<Reader> readers_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::byte*> blocks_;     // One per instruction, in memory_.
  std::vector<const void*> operands_;  // Where its elements are right now.
  std::vector<const Tensor*> direct_;  // Written without a block, or null.
};

}  // namespace

void evaluate_body(const ScalarBody& body, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs) {
  FXJIT_CHECK(!outputs.empty() && outputs.size() == body.results.size(),
              "results of a scalar body");
  const int64_t count = outputs[0].numel();
  Evaluator evaluator(body, inputs, outputs);
  for (int64_t first = 0; first < count; first += kBlock)
    evaluator.run(first, std::min(kBlock, count - first));
}

}  // namespace fxjit::ops
