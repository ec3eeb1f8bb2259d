// The step of attention: one block of queries at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/attention/form.h"
#include "src/program/steps/skeleton.h"

namespace fxjit::program {

// out = softmax(q k^T * scale, masked) v per batch and head, f32; the scores of
// a block of queries are the only intermediate. Operands: q, k, v, masks, out.
// Masks are applied in order.
struct AttentionStep {
  int64_t outer = 1;
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t depth = 0;        // Of q and k.
  int64_t value_depth = 0;  // Of v and out.
  HeadAccess q, k, v, out;
  std::vector<AttentionMask> masks;
  bool causal = false;    // Query i sees keys up to i.
  bool zero_rows = true;  // Queries that see no key: zeros, else NaN.
  float scale = 1;
  AttentionShape shape;

  using Form = AttentionForm;
  static constexpr const char* kName = "attention";
  static constexpr bool kWritesAnywhere = false;

  static size_t written() { return 1; }
  void analyse(const Machine& machine) {
    shape = attention_shape(*this, machine.level);
  }
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const { return {}; }
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const AttentionStep&, const AttentionStep&) = default;
};

template <typename V>
void fields(Is<AttentionStep> auto& s, V& v) {
  v("outer", s.outer), v("batch", s.batch), v("heads", s.heads);
  v("queries", s.queries), v("keys", s.keys), v("depth", s.depth);
  v("value_depth", s.value_depth), v("q", s.q), v("k", s.k), v("v", s.v);
  v("out", s.out), v("masks", s.masks), v("causal", s.causal);
  v("zero_rows", s.zero_rows), v("scale", s.scale), v("shape", s.shape);
}

}  // namespace fxjit::program
