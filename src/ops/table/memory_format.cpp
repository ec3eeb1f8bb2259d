#include "src/ops/table/memory_format.h"

#include <string>

#include "fxjit/error.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

struct FormatName {
  std::string_view word;
  int64_t number;  // Of torch's schemas.
  MemoryFormat format;
};

constexpr FormatName kFormatNames[] = {
    {"torch.contiguous_format", 0, MemoryFormat::contiguous},
    {"torch.preserve_format", 1, MemoryFormat::preserve},
    {"torch.channels_last", 2, MemoryFormat::channels_last},
    {"torch.channels_last_3d", 3, MemoryFormat::channels_last_3d}};

int rank_of(MemoryFormat format) {
  return format == MemoryFormat::channels_last ? 4 : 5;
}

}  // namespace

MemoryFormat memory_format_of(const OpCall& call, MemoryFormat fallback) {
  const int at = call.op.index_of("memory_format");
  if (at < 0 || static_cast<size_t>(at) >= call.args.size()) return fallback;
  const Value& given = call[static_cast<size_t>(at)];
  if (given.is_none()) return fallback;
  for (const FormatName& name : kFormatNames)
    if ((given.is_string() && given.as_string() == name.word) ||
        (given.is_int() && given.as_int() == name.number))
      return name.format;
  throw TypeError("expected a memory format, got " + repr(given));
}

Dims strides_in_format(const Dims& sizes, MemoryFormat format) {
  if (format == MemoryFormat::contiguous) return contiguous_strides(sizes);
  const int rank = rank_of(format);
  if (sizes.size() != rank)
    throw RuntimeError("required rank " + std::to_string(rank) +
                       " tensor to use channels_last" +
                       (rank == 5 ? "_3d" : "") + " format");
  Dims order{0};
  for (int d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return strides_in_order(sizes, order);
}

bool is_in_format(const Tensor& tensor, MemoryFormat format) {
  if (format == MemoryFormat::contiguous) return tensor.is_contiguous();
  if (tensor.dim() != rank_of(format)) return false;
  return same_places(tensor.sizes(), tensor.strides(),
                     strides_in_format(tensor.sizes(), format));
}

MemoryFormat suggested_format(const Tensor& tensor) {
  if (!has_channels_innermost(tensor)) return MemoryFormat::contiguous;
  return tensor.dim() == 4 ? MemoryFormat::channels_last
                           : MemoryFormat::channels_last_3d;
}

}  // namespace fxjit::ops
