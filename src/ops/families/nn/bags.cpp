// Sums, means and maxima of rows of a table: embedding_bag. A bag is a row of
// indices, or runs from one offset to the next.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

enum EmbeddingParameter {
  kInput,
  kWeight,
  kOffsets,
  kMaxNorm,
  kNormType,
  kScaleGrad,
  kMode,
  kSparse,
  kSampleWeights,
  kLastOffset,
  kPadding
};

struct Bags {
  Value rows;   // [..., depth], what the indices name.
  Value valid;  // Bools like the indices, none where all count.
  std::string mode;
};

Bags bags_of(const OpCall& call) {
  Bags bags;
  bags.mode = std::string(call[kMode].as_string());
  if (bags.mode != "sum" && bags.mode != "mean" && bags.mode != "max")
    throw ValueError("mode has to be one of sum, mean or max");
  if (call.has(kMaxNorm))
    throw NotImplementedError(
        "embedding_bag: expected max_norm to be None, which would change "
        "weight");
  if (call.has(kSampleWeights) && bags.mode != "sum")
    throw NotImplementedError(
        "embedding_bag: per_sample_weights was not None. per_sample_weights "
        "is only supported for mode='sum' (got mode='" +
        bags.mode + "').");
  bags.rows = nn::functional::embedding(call[kInput], call[kWeight]);
  if (call.has(kSampleWeights))
    bags.rows = bags.rows * fxjit::unsqueeze(call[kSampleWeights], -1);
  if (call.has(kPadding)) {
    int64_t padding = call.integer(kPadding);
    if (padding < 0) padding += meta_of(call[kWeight]).sizes()[0];
    bags.valid = fxjit::ne(call[kInput], padding);
    bags.rows = fxjit::where(fxjit::unsqueeze(bags.valid, -1), bags.rows, 0.0);
  }
  return bags;
}

Value counts_of(const Value& valid, int dim, DType dtype) {
  return fxjit::clamp_min(fxjit::sum(cast_to(valid, dtype), dim), 1.0);
}

// Equal lengths: [bags, length, depth].
Value even_bags(const Bags& bags) {
  const Tensor rows = meta_of(bags.rows);
  const int64_t length = rows.sizes()[1];
  if (bags.mode == "max") {
    if (length == 0) return fxjit::sum(bags.rows, 1);
    if (bags.valid.is_none()) return fxjit::amax(bags.rows, 1);
    const Value low = -std::numeric_limits<double>::infinity();
    const Value kept =
        fxjit::where(fxjit::unsqueeze(bags.valid, -1), bags.rows, low);
    const Value any = fxjit::unsqueeze(fxjit::any(bags.valid, 1), -1);
    return fxjit::where(any, fxjit::amax(kept, 1), 0.0);
  }
  const Value total = fxjit::sum(bags.rows, 1);
  if (bags.mode == "sum") return total;
  if (bags.valid.is_none()) return total / double(std::max<int64_t>(1, length));
  return total / fxjit::unsqueeze(counts_of(bags.valid, 1, rows.dtype()), -1);
}

// Bags by offsets: which bag each index belongs to, then sums at its place.
Value offset_bags(const OpCall& call, const Bags& bags) {
  const Tensor rows = meta_of(bags.rows);
  const int64_t count = rows.sizes()[0], depth = rows.sizes()[1];
  Value offsets = cast_to(call[kOffsets], DType::i64);
  int64_t number = meta_of(offsets).numel();
  if (call.flag(kLastOffset)) offsets = fxjit::narrow(offsets, 0, 0, --number);
  const Value begun = fxjit::ge(fxjit::unsqueeze(fxjit::arange(count), 1),
                                fxjit::unsqueeze(offsets, 0));
  const Value bag = fxjit::sum(begun, 1) - 1;
  const Value start = fxjit::zeros(Dims{number, depth}, rows.dtype());
  if (bags.mode == "max")
    return call_row("index_reduce", {start, 0, bag, bags.rows, "amax"},
                    {{"include_self", false}});
  const auto added = [&](const Value& to, const Value& what) {
    return call_row("index_add", {to, 0, bag, what});
  };
  const Value total = added(start, bags.rows);
  if (bags.mode == "sum") return total;
  const Value ones = bags.valid.is_none()
                         ? fxjit::ones(Dims{count}, rows.dtype())
                         : cast_to(bags.valid, rows.dtype());
  const Value counts = added(fxjit::zeros(Dims{number}, rows.dtype()), ones);
  return total / fxjit::unsqueeze(fxjit::clamp_min(counts, 1.0), 1);
}

Value embedding_bag(const OpCall& call) {
  const Tensor input = meta_of(call[kInput]);
  const Bags bags = bags_of(call);
  if (input.dim() == 2) {
    if (call.has(kOffsets))
      throw ValueError(
          "if input is 2D, then offsets has to be None, as input is treated "
          "is a mini-batch of fixed length sequences. However, found offsets "
          "of type Tensor");
    return even_bags(bags);
  }
  if (input.dim() != 1)
    throw ValueError(
        concat("input has to be 1D or 2D Tensor, but got Tensor of dimension ",
               input.dim()));
  if (!call.has(kOffsets))
    throw ValueError("offsets has to be a 1D Tensor but got None");
  if (bags.mode == "max" && !bags.valid.is_none())
    throw NotImplementedError(
        "embedding_bag: expected no padding_idx beside mode='max' and "
        "offsets");
  return offset_bags(call, bags);
}

constexpr OpRow kBagsRows[] = {
    composed_row("embedding_bag",
                 "input, weight, offsets=None, max_norm=None, norm_type=2, "
                 "scale_grad_by_freq=False, mode='mean', sparse=False, "
                 "per_sample_weights=None, include_last_offset=False, "
                 "padding_idx=None",
                 "F.embedding_bag! nn.EmbeddingBag", embedding_bag),
};

}  // namespace

std::span<const OpRow> bag_rows() { return kBagsRows; }

}  // namespace fxjit::ops
