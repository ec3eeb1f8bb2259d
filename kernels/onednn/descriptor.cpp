#include "kernels/onednn/descriptor.h"

#include <algorithm>

#include "fxjit/cpu_level.h"
#include "fxjit/error.h"

namespace fxjit::kernels::onednn {
namespace {

// Channels innermost, or in blocks of 8 or 16.
dnnl_format_tag_t tag_of(Order order, int rank) {
  constexpr dnnl_format_tag_t kTags[][3] = {
      {dnnl_nwc, dnnl_nCw8c, dnnl_nCw16c},
      {dnnl_nhwc, dnnl_nChw8c, dnnl_nChw16c},
      {dnnl_ndhwc, dnnl_nCdhw8c, dnnl_nCdhw16c}};
  FXJIT_CHECK(rank >= 3 && rank <= 5, "rank " + std::to_string(rank));
  return kTags[rank - 3][order == Order::blocked ? channel_block() / 8 : 0];
}

MemoryDesc tagged(DType dtype, const Dims& sizes, dnnl_format_tag_t tag) {
  dnnl_memory_desc_t made = nullptr;
  check(dnnl_memory_desc_create_with_tag(
            &made, sizes.size(), numbers(sizes).data(), *data_type(dtype), tag),
        "describing memory");
  return MemoryDesc(made);
}

}  // namespace

std::array<int64_t, kMaxRank> numbers(const Dims& dims) {
  std::array<int64_t, kMaxRank> result{};
  std::copy(dims.begin(), dims.end(), result.begin());
  return result;
}

std::optional<dnnl_data_type_t> data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return dnnl_f32;
    case DType::f16:
      return dnnl_f16;
    case DType::bf16:
      return dnnl_bf16;
    case DType::f64:
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::boolean:
    case DType::c64:
    case DType::c128:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return std::nullopt;
  }
  return std::nullopt;
}

MemoryDesc describe(DType dtype, const Dims& sizes, const Dims& strides,
                    Order order) {
  switch (order) {
    case Order::any:
      return tagged(dtype, sizes, dnnl_format_tag_any);
    case Order::channels_last:
    case Order::blocked:
      return tagged(dtype, sizes, tag_of(order, sizes.size()));
    case Order::plain:
    case Order::strided:
      break;
  }
  const Dims tidy = order == Order::plain ? contiguous_strides(sizes)
                                          : tidy_strides(sizes, strides);
  dnnl_memory_desc_t made = nullptr;
  check(dnnl_memory_desc_create_with_strides(
            &made, sizes.size(), numbers(sizes).data(), *data_type(dtype),
            numbers(tidy).data()),
        "describing strided memory");
  return MemoryDesc(made);
}

bool same_desc(const_dnnl_memory_desc_t a, const_dnnl_memory_desc_t b) {
  return dnnl_memory_desc_equal(a, b) != 0;
}

int64_t channel_block() {
  return host_cpu_level() == CpuLevel::avx512 ? 16 : 8;
}

bool is_dense_view(const Dims& sizes, const Dims& strides) {
  // Dims from the innermost on: each must step over all that lie inside it.
  int64_t extent = 1;
  int64_t done = 0;
  for (int round = 0; round < sizes.size(); ++round) {
    int next = -1;
    for (int d = 0; d < sizes.size(); ++d)
      if ((done >> d & 1) == 0 && (next < 0 || strides[d] < strides[next]))
        next = d;
    done |= int64_t{1} << next;
    if (sizes[next] == 1) continue;
    if (strides[next] < extent) return false;
    extent = strides[next] * sizes[next];
  }
  return true;
}

Dims tidy_strides(const Dims& sizes, const Dims& strides) {
  Dims tidy = strides;
  int64_t next = 1;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    if (sizes[d] == 1) tidy[d] = next;
    next = tidy[d] * sizes[d];
  }
  return tidy;
}

}  // namespace fxjit::kernels::onednn
