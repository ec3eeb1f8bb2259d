#include "src/nn/attention_checks.h"

#include <utility>

#include "fxjit/error.h"
#include "fxjit/functions.h"

namespace fxjit::nn {
namespace {

int64_t rank(const Value& x) { return method(x, "dim", {}).as_int(); }

Dims sizes(const Value& x) {
  Dims found;
  for (int64_t i = 0; i < rank(x); ++i)
    found.push_back(method(x, "size", {i}).as_int());
  return found;
}

void expect_rank(const Value& x, const char* name, int64_t low, int64_t high,
                 int64_t query_rank) {
  if (x.is_none() || (rank(x) >= low && rank(x) <= high)) return;
  const std::string wanted = low == high ? std::to_string(low) + "-D"
                                         : std::to_string(low) + "-D or " +
                                               std::to_string(high) + "-D";
  throw AssertionError((query_rank == 3
                            ? "For batched (3-D) query, expected "
                            : "For unbatched (2-D) query, expected ") +
                       std::string(name) + " to be " + wanted + " but found " +
                       std::to_string(rank(x)) + "-D");
}

void check_ranks(const AttentionInputs& in) {
  const int64_t of_query = rank(in.query);
  if (of_query != 2 && of_query != 3)
    throw AssertionError(
        "query should be unbatched 2D or batched 3D tensor but received " +
        std::to_string(of_query) + "-D query tensor");
  expect_rank(in.key, "key", of_query, of_query, of_query);
  expect_rank(in.value, "value", of_query, of_query, of_query);
  expect_rank(in.key_padding_mask, "key_padding_mask", of_query - 1,
              of_query - 1, of_query);
  expect_rank(in.attn_mask, "attn_mask", 2, 3, of_query);
}

// Keys without their last dim, and values.
void check_pairs(const AttentionInputs& in) {
  Dims keys = sizes(in.key), values = sizes(in.value);
  keys.erase(keys.size() - 1);
  values.erase(values.size() - 1);
  if (!(keys == values))
    throw AssertionError("key's sequence and batch dims " + keys.str() +
                         " do not match value's " + values.str());
}

void check_masks(const AttentionInputs& in) {
  const bool batched = rank(in.query) == 3;
  const int64_t length = batched && in.batch_first ? 1 : 0;
  const int64_t queries = sizes(in.query)[length];
  const int64_t keys = sizes(in.key)[length];
  const int64_t n = batched ? sizes(in.query)[1 - length] : Size(1);
  if (!in.key_padding_mask.is_none()) {
    const Dims wanted = batched ? Dims{n, keys} : Dims{keys};
    const Dims found = sizes(in.key_padding_mask);
    if (!(found == wanted))
      throw AssertionError("The shape of key_padding_mask is " + found.str() +
                           ", but should be " + wanted.str());
  }
  if (!in.attn_mask.is_none()) {
    const Dims found = sizes(in.attn_mask);
    const bool each = rank(in.attn_mask) == 3;
    const Dims wanted =
        each ? Dims{n * in.num_heads, queries, keys} : Dims{queries, keys};
    if (!(found == wanted))
      throw RuntimeError(std::string("The shape of the ") +
                         (each ? "3D" : "2D") + " attn_mask is " + found.str() +
                         ", but should be " + wanted.str() + ".");
  }
}

}  // namespace

void check_attention(const AttentionInputs& inputs) {
  check_ranks(inputs);
  check_pairs(inputs);
  check_masks(inputs);
}

}  // namespace fxjit::nn
