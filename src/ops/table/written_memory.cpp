#include "src/ops/table/written_memory.h"

#include <algorithm>
#include <vector>

#include "fxjit/error.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/memory_order.h"

namespace fxjit::ops {
namespace {

Overlap overlap_of(const OpCall& call) {
  // torch copies what is a tensor.
  if (call.op.name() == "fill_" && call[1].is_tensor()) return Overlap::beside;
  return call.op.row.facts.overlap;
}

struct Range {
  int64_t begin = 0, end = 0;  // In bytes.
};

Range range_of(const Tensor& t) {
  const auto item = static_cast<int64_t>(t.item_size());
  const int64_t begin =
      t.is_meta() ? int64_t{t.offset() * item}
                  : static_cast<int64_t>(reinterpret_cast<intptr_t>(t.data()));
  return {begin, begin + t.numel() * item};
}

// Whether torch would find that the two share elements. It does not look at
// tensors with gaps.
bool share_elements(const Tensor& written, const Tensor& read,
                    Overlap refused) {
  if (refused == Overlap::beside || written.numel() == 0 || read.numel() == 0 ||
      !is_dense(written) || !is_dense(read))
    return false;
  const Range a = range_of(written), b = range_of(read);
  if (a.begin >= b.end || b.begin >= a.end) return false;
  const bool same = a.begin == b.begin && a.end == b.end &&
                    written.strides() == read.strides();
  return !same || refused == Overlap::any;
}

[[noreturn]] void refuse_sharing() {
  throw RuntimeError(
      "unsupported operation: some elements of the input tensor and the "
      "written-to tensor refer to a single memory location. Please clone() the "
      "tensor before performing the operation.");
}

[[noreturn]] void refuse_repeats() {
  throw RuntimeError(
      "unsupported operation: more than one element of the written-to tensor "
      "refers to a single memory location. Please clone() the tensor before "
      "performing the operation.");
}

}  // namespace

bool repeats_elements(const Tensor& tensor) {
  for (int d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) return tensor.numel() > 0;
  return false;
}

bool is_refused_write(const OpCall& call, std::span<const Tensor> sharing) {
  const Overlap refused = overlap_of(call);
  if (refused == Overlap::ignored) return false;
  const Tensor& written = call.tensor(0);
  return repeats_elements(written) ||
         std::ranges::any_of(sharing, [&](const Tensor& read) {
           return share_elements(written, read, refused);
         });
}

bool is_refused_assignment(const Tensor& part, const Tensor& value,
                           bool by_views) {
  return share_elements(part, value,
                        by_views ? Overlap::partial : Overlap::any);
}

void check_written_memory(const OpCall& call) {
  const Overlap refused = overlap_of(call);
  if (!call[0].is_tensor() || refused == Overlap::ignored) return;
  const Tensor& written = call.tensor(0);
  if (repeats_elements(written)) refuse_repeats();
  for (const Tensor& read : tensors_in(call.args.subspan(1)))
    if (share_elements(written, read, refused)) refuse_sharing();
}

void check_assignment(const Tensor& part, const Tensor& value, bool by_views) {
  if (repeats_elements(part)) refuse_repeats();
  if (is_refused_assignment(part, value, by_views)) refuse_sharing();
}

}  // namespace fxjit::ops
