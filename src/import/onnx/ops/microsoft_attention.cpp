// Attention as ONNX Runtime's optimiser writes it: MultiHeadAttention of ready
// queries, keys and values, Attention with their projection, rotations.
#include <limits>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/microsoft.h"

namespace fxjit::onnx {
namespace {

constexpr double kHiddenScore = -std::numeric_limits<double>::infinity();

// [n, heads, length, size] each.
struct FusedHeads {
  Value q, k, v;
  Value past;  // The number of keys that are no input of this call.
};

int64_t head_count(const Call& call) {
  const int64_t heads = call.integer("num_heads");
  if (heads < 1) call.fail("num_heads: " + std::to_string(heads));
  return heads;
}

// One of `count` parts that lie beside each other in each head.
Value packed_part(const Value& x, int64_t part) {
  return transpose(select(x, 3, part), 1, 2);
}

// A part of the bias for queries, keys or values, of `size` numbers.
Value with_bias(const Call& call, const Value& x, const Value& from,
                const Value& size) {
  return call.has(3) ? x + narrow(call[3], 0, from, size) : x;
}

FusedHeads read_separate_heads(const Call& call) {
  const int64_t heads = head_count(call);
  const Value queries = call.size(0, 2);
  FusedHeads all;
  all.q = in_heads(call, with_bias(call, call[0], 0, queries), heads);
  if (call.rank(1) == 5) {
    if (call.has(3)) call.fail("bias: not with packed keys");
    all.k = packed_part(call[1], 0);
    all.v = packed_part(call[1], 1);
  } else if (call.rank(1) == 4) {
    if (call.has(3)) call.fail("bias: not with keys of four dims");
    all.k = call[1];
    all.v = call[2];
  } else {
    all.k = in_heads(call, with_bias(call, call[1], queries, queries), heads);
    all.v = in_heads(
        call, with_bias(call, call[2], queries * 2, call.size(2, 2)), heads);
  }
  return all;
}

FusedHeads read_fused_heads(const Call& call) {
  FusedHeads all;
  if (call.rank(0) == 5) {
    if (call.has(3)) call.fail("bias: not with packed queries");
    all.q = packed_part(call[0], 0);
    all.k = packed_part(call[0], 1);
    all.v = packed_part(call[0], 2);
  } else {
    if (!call.has(1)) call.fail("input 1 is missing");
    all = read_separate_heads(call);
  }
  all.past = 0;
  if (call.has(6) && call.has(7)) {
    all.past = call.size(6, 2);
    all.k = cat(Value::list({call[6], all.k}), 2);
    all.v = cat(Value::list({call[7], all.v}), 2);
  }
  return all;
}

// As it is added to the scores: 0 for what is attended to.
Value filtered(const Call& call, const Value& kept, DType dtype) {
  const Value masked = logical_not(kept);
  const Value zeros = cast(call, masked, dtype) * 0;
  return masked_fill(zeros, masked, call.real("mask_filter_value", -10000));
}

// The mask, which may be given in several ways: as a length for each element of
// the batch, followed by the first places of all of them, or as a flag for each
// key, also for each query.
Value mask_bias(const Call& call, size_t input, const FusedHeads& heads,
                DType dtype) {
  const Value mask = call[input];
  const Value count = call.sizes_of(heads.k)[2];
  const Value batch = call.sizes_of(heads.q)[0];
  if (call.rank(input) == 3)
    return filtered(call, unsqueeze(mask != 0, 1), dtype);
  if (call.rank(input) == 2)
    return filtered(call, unsqueeze(unsqueeze(mask != 0, 1), 1), dtype);
  if (call.rank(input) != 1)
    call.fail("a mask of " + std::to_string(call.rank(input)) +
              " dims is not supported");
  const Value rows = reshape(mask, Value::list({-1, batch}));
  const Value given = call.size(input, 0);
  const Value places = line(count);
  Value kept = lt(places, unsqueeze(select(rows, 0, 0), 1));
  const bool known = given.is_int() && batch.is_int();
  const int64_t forms = known ? given.as_int() / batch.as_int() : 2;
  if (known && (given.as_int() % batch.as_int() != 0 || forms > 2))
    call.fail("a mask of " + std::to_string(given.as_int()) +
              " numbers is not supported");
  if (forms == 2) {
    // Where there are lengths alone, keys begin at 0.
    const Value none = zeros_like(narrow(rows, 0, 0, 1));
    const Value starts = select(cat(Value::list({rows, none}), 0), 0, 1);
    kept = logical_and(kept, ge(places, unsqueeze(starts, 1)));
  }
  return filtered(call, unsqueeze(unsqueeze(kept, 1), 1), dtype);
}

Value fused_causal_bias(const Call& call, const FusedHeads& heads,
                        DType dtype) {
  const Value rows = unsqueeze(line(call.sizes_of(heads.q)[2]), 1) + heads.past;
  const Value behind = gt(unsqueeze(line(call.sizes_of(heads.k)[2]), 0), rows);
  return masked_fill(cast(call, behind, dtype) * 0, behind, kHiddenScore);
}

// `mask` and `bias` are inputs.
Value attended(const Call& call, const FusedHeads& heads, size_t mask,
               size_t bias) {
  const DType dtype = call.dtype(0);
  Value added;
  const auto add = [&](const Value& more) {
    added = added.is_none() ? more : added + more;
  };
  if (call.has(mask)) add(mask_bias(call, mask, heads, dtype));
  if (call.flag("unidirectional", false))
    add(fused_causal_bias(call, heads, dtype));
  if (call.has(bias)) add(call[bias]);
  const double stated = call.real("scale", 0);
  const Value scale = stated == 0 ? Value() : Value(stated);
  const Value y = nn::functional::scaled_dot_product_attention(
      heads.q, heads.k, heads.v, added, 0.0, false, scale);
  return out_of_heads(call, y);
}

Results multi_head_attention(Call& call) {
  for (const size_t input : {8, 9})
    if (call.has(input))
      call.fail("input " + std::to_string(input) + " is not supported");
  const FusedHeads heads = read_fused_heads(call);
  return std::vector<Operand>{attended(call, heads, 4, 5), heads.k, heads.v};
}

// The columns of the projection that are queries, keys and values.
std::vector<int64_t> projected_sizes(const Call& call) {
  if (const auto given = call.integers("qkv_hidden_sizes")) {
    if (given->size() != 3) call.fail("qkv_hidden_sizes: expected 3 numbers");
    return *given;
  }
  const Value all = call.size(1, 1);
  if (!all.is_int()) call.fail("the sizes of the weight vary");
  return std::vector<int64_t>(3, all.as_int() / 3);
}

Results projected_attention(Call& call) {
  if (call.flag("do_rotary", false) ||
      call.flag("past_present_share_buffer", false))
    call.fail("do_rotary, past_present_share_buffer are not supported");
  Value all = matmul(call[0], call[1]);
  if (call.has(2)) all = all + call[2];
  const int64_t count = head_count(call);
  const Value parts = split(all, list_of(projected_sizes(call)), -1);
  FusedHeads heads{in_heads(call, part_of(parts, 0), count),
                   in_heads(call, part_of(parts, 1), count),
                   in_heads(call, part_of(parts, 2), count), 0};
  if (call.has(4)) {
    heads.past = call.size(4, 3);
    heads.k = cat(Value::list({select(call[4], 0, 0), heads.k}), 2);
    heads.v = cat(Value::list({select(call[4], 0, 1), heads.v}), 2);
  }
  Results results = attended(call, heads, 3, 5);
  if (call.wants(1))
    results.items.emplace_back(stack(Value::list({heads.k, heads.v}), 0));
  return results;
}

// ONNX's own op takes the places last, has another name for nothing else, and
// counts no single first place for all rows.
Results rotated_by_places(Call& call) {
  if (call.real("scale", 1) != 1 || call.flag("is_packed_batching", false))
    call.fail("scale, is_packed_batching are not supported");
  const bool packed = call.rank(0) == 3;
  const SizeList sizes = call.sizes(0);
  const Value length = packed ? sizes[1] : sizes[2];
  Value places = call[1];
  const Value given = call.rank(1) == 1 ? call.size(1, 0) : Value();
  if (!given.is_none()) {
    places = unsqueeze(line(length) + cast(call, places, DType::i64), 0);
    places = expand(places, Value::list({sizes[0], length}));
  }
  const OpRow* const plain = find_row({}, "RotaryEmbedding", 23);
  std::vector<Operand> inputs = {call.operand(0), call.operand(2),
                                 call.operand(3), places};
  if (packed && call.integer("num_heads", 0) == 0) {
    const Value half = call.size(2, 1);
    if (!half.is_int() || half.as_int() < 1)
      call.fail("num_heads: it does not follow from the sizes");
    inputs[0] = in_heads_of_size(call, call[0], 2 * half.as_int());
    Call apart = call.with_inputs(std::move(inputs));
    return out_of_heads(call, run_row(*plain, apart).items[0].value);
  }
  Call other = call.with_inputs(std::move(inputs));
  return run_row(*plain, other);
}

constexpr OpRow kMicrosoftAttentionOps[] = {
    {.op = "Attention", .run = projected_attention, .domain = kMicrosoft},
    {.op = "MultiHeadAttention",
     .run = multi_head_attention,
     .domain = kMicrosoft},
    {.op = "RotaryEmbedding", .run = rotated_by_places, .domain = kMicrosoft},
};

}  // namespace

std::span<const OpRow> microsoft_attention_rows() {
  return kMicrosoftAttentionOps;
}

}  // namespace fxjit::onnx
