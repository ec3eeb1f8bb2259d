// The families of ONNX ops; each is a file of this folder, and what they share.
#pragma once

#include <span>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/functions_pointwise.h"
#include "fxjit/functions_structured.h"
#include "src/import/onnx/call.h"
#include "src/import/onnx/op_rows.h"

namespace fxjit::onnx {

#define FXJIT_FAMILY(name) std::span<const OpRow> name##_rows();
#include "src/import/onnx/ops/families.inc"
#undef FXJIT_FAMILY

std::vector<std::span<const OpRow>> families();

// The tensor in another type; itself where it has it already.
Value cast(const Call& call, const Value& tensor, DType dtype);

// A tensor that was computed at once as one of the recorder's constants; other
// values themselves.
Value held(const Call& call, const Value& value);

// The number that a floating constant of one element is, finite, where what it
// is combined with has its type and no fewer dims; nothing otherwise.
std::optional<Value> plain_number(const Call& call, const Value& constant,
                                  const Value& other);

// The number; 0 where it is negative.
Value at_least_0(const Value& number);

// Part `i` of what a function with several results gives.
Value part_of(const Value& results, size_t i);

// A list of the same number for each of `count` dims, or the attribute.
std::vector<int64_t> per_dim(const Call& call, std::string_view attribute,
                             size_t count, int64_t otherwise);

// 0, 1 and so on, `count` numbers.
Value line(const Value& count);
// A tensor of one dim as it broadcasts along `dim` of tensors of this rank;
// fails where they have no such dim.
Value along(const Call& call, const Value& line, int64_t dim, int64_t rank);
// The elements at these places of a dim.
Value index_dim(const Value& x, int64_t axis, const Value& places);
// [n, length, heads * size] as [n, heads, length, size], and back.
Value in_heads(const Call& call, const Value& x, int64_t heads);
Value in_heads_of_size(const Call& call, const Value& x, int64_t size);
Value out_of_heads(const Call& call, const Value& x);

// F.pad's argument: begin and end of the last dim first.
Value pad_list(const std::vector<Value>& begin, const std::vector<Value>& end);
// The dims from this one on.
std::vector<int64_t> dims_from(int64_t first, int64_t rank);

// The element type that an attribute names.
DType named_type(const Call& call, std::string_view attribute);

// The dims that an op works on: the attribute or input "axes". Nothing where
// neither is there.
std::optional<std::vector<Value>> axes_of(const Call& call, size_t input);

}  // namespace fxjit::onnx
