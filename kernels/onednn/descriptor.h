// Memory descriptors from fxjit's sizes and strides. All functions throw
// Failure when oneDNN refuses.
#pragma once

#include <array>
#include <optional>

#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "kernels/onednn/handles.h"

namespace fxjit::kernels::onednn {

// How a tensor [N, C, ...] or [M, K] lies in memory.
enum class Order {
  strided,        // As given.
  plain,          // Row-major.
  channels_last,  // C innermost.
  blocked,        // Channels in blocks of a vector's width.
  any,            // oneDNN's choice.
};

// The sizes or strides as oneDNN takes them.
std::array<int64_t, kMaxRank> numbers(const Dims& dims);

// Nothing for types that oneDNN is not used with.
std::optional<dnnl_data_type_t> data_type(DType dtype);

// `strides` are read for Order::strided only.
MemoryDesc describe(DType dtype, const Dims& sizes, const Dims& strides,
                    Order order = Order::strided);
bool same_desc(const_dnnl_memory_desc_t a, const_dnnl_memory_desc_t b);

// Channels per block of Order::blocked on this machine.
int64_t channel_block();

// Whether distinct indices are distinct places, as oneDNN requires: no stride
// of 0, no overlap.
bool is_dense_view(const Dims& sizes, const Dims& strides);

// Strides of dims of size 1 mean nothing; gives them the values they have in a
// contiguous tensor, so that equal layouts compare equal.
Dims tidy_strides(const Dims& sizes, const Dims& strides);

}  // namespace fxjit::kernels::onednn
