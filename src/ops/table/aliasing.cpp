#include "src/ops/table/aliasing.h"

#include <set>
#include <string>
#include <unordered_set>

#include "fxjit/error.h"
#include "src/ops/table/families.h"
#include "src/ops/table/memory_format.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

bool is_of_library(const Op& op) {
  static const auto* const names = [] {
    auto* made = new std::unordered_set<std::string_view>;
    for (std::span<const OpRow> family : all_families())
      for (const OpRow& row : family) made->insert(row.name);
    return made;
  }();
  return names->contains(op.name());
}

bool is_type_kept(const OpCall& call, const Tensor& result) {
  const bool made = call[0].is_sequence() || call[0].is_number();
  if (made || has_flag(call, "copy") ||
      call.tensor(0).dtype() != result.dtype())
    return false;
  const MemoryFormat asked = memory_format_of(call, MemoryFormat::preserve);
  return asked == MemoryFormat::preserve ||
         asked == suggested_format(call.tensor(0));
}

bool is_view_by_strides(const Tensor& input, const Tensor& result) {
  const auto strides =
      view_strides(input.sizes(), input.strides(), result.sizes());
  return input.is_contiguous() || (strides && *strides == result.strides());
}

bool is_inactive(const OpCall& call) {
  return !has_flag(call, "training") || call.number(1) == 0 ||
         call.tensor(0).numel() == 0;
}

// diff(input, n, dim, prepend, append).
bool is_nothing_to_subtract(const OpCall& call) {
  const Tensor& input = call.tensor(0);
  return call.integer(1) > 0 && !call.has(3) && !call.has(4) &&
         input.size(wrap_dim(call.integer(2), input.dim())) == 0;
}

// Whether all labels of the only operand are left: no dim but those of
// repeated labels is missing.
bool is_arranged_operand(const OpCall& call, const Tensor& result) {
  const std::vector<Tensor> operands = tensors_in(call[1]);
  if (operands.size() != 1) return false;
  int repeats = 0;
  std::set<char> seen;
  for (char c : call[0].as_string()) {
    if (c == '-') break;
    if (c != '.' && c != ' ') repeats += !seen.insert(c).second;
  }
  return result.dim() == operands[0].dim() - repeats;
}

// What the items of an index do together.
struct IndexKind {
  bool picks = false;   // Copies elements.
  bool number = false;  // A tensor without dims stands for its number.
};

IndexKind kind_of_index(const Value& index) {
  IndexKind kind;
  const auto look = [&](const Value& item) {
    const bool number = item.is_tensor() && item.as_tensor().dim() == 0 &&
                        item.as_tensor().dtype() != DType::boolean &&
                        item.as_tensor().dtype() != DType::u8;
    kind.number = kind.number || number;
    kind.picks = kind.picks || item.is_bool() || item.is_list() ||
                 (item.is_tensor() && !number);
  };
  if (!index.is_sequence()) {
    look(index);
    return kind;
  }
  // A list of anything but numbers means what a tuple does.
  bool numbers = index.is_list();
  for (const Value& item : index.as_sequence())
    numbers = numbers && item.is_number();
  kind.picks = numbers;
  for (const Value& item : index.as_sequence()) look(item);
  return kind;
}

// The items of a sequence stay what they are: each is found by its identity.
std::vector<ResultMemory> memory_of_items(const Value& sequence,
                                          const Value& result) {
  const std::vector<Tensor> items = tensors_in(sequence);
  std::vector<ResultMemory> memory;
  for (const Tensor& tensor : tensors_in(result))
    for (size_t i = 0; i < items.size(); ++i)
      if (items[i].id() == tensor.id()) {
        memory.push_back({static_cast<int>(i)});
        break;
      }
  return memory;
}

std::vector<ResultMemory> memory_of_indexed(const OpCall& call,
                                            const Value& result) {
  if (!call[0].is_tensor()) return memory_of_items(call[0], result);
  const IndexKind kind = kind_of_index(call[1]);
  if (kind.picks) return {ResultMemory()};
  const bool known = !kind.number || !call.tensor(0).is_meta();
  return {ResultMemory{0, known}};
}

bool is_first_tensor(const OpCall& call, const Tensor& result) {
  switch (aliasing(call.op)) {
    case Aliasing::always:
    case Aliasing::places:
    case Aliasing::written:
      return true;
    case Aliasing::same_type:
      return is_type_kept(call, result);
    case Aliasing::real:
      return !is_complex(call.tensor(0).dtype());
    case Aliasing::strides:
      return is_view_by_strides(call.tensor(0), result);
    case Aliasing::format:
      return is_in_format(call.tensor(0),
                          memory_format_of(call, MemoryFormat::contiguous));
    case Aliasing::inactive:
      return is_inactive(call);
    case Aliasing::operand:
      return is_arranged_operand(call, result);
    case Aliasing::empty:
      return is_nothing_to_subtract(call);
    case Aliasing::never:
    case Aliasing::each:
    case Aliasing::item:
    case Aliasing::together:
    case Aliasing::composed:
    case Aliasing::by_lowering:
      break;
  }
  return false;
}

}  // namespace

Aliasing aliasing(const Op& op) {
  if (op.row.purity == Purity::mutates) return Aliasing::written;
  if (op.row.facts.aliasing != Aliasing::by_lowering)
    return op.row.facts.aliasing;
  switch (op.row.lowering) {
    case Lowering::view:
      return Aliasing::always;
    case Lowering::reshape:
      return Aliasing::strides;
    case Lowering::decompose:
    case Lowering::inlined:
      return is_of_library(op) ? Aliasing::never : Aliasing::composed;
    case Lowering::none:
    case Lowering::scalar:
    case Lowering::reduce:
    case Lowering::contraction:
    case Lowering::attention:
    case Lowering::gather:
    case Lowering::cat:
    case Lowering::convolution:
    case Lowering::pool:
      break;
  }
  return Aliasing::never;
}

bool may_alias(const Op& op) {
  const Aliasing how = aliasing(op);
  return how != Aliasing::never && how != Aliasing::together;
}

std::vector<ResultMemory> result_memory(const OpCall& call,
                                        const Value& result) {
  const Aliasing how = aliasing(call.op);
  FXJIT_CHECK(how != Aliasing::composed,
              std::string(call.op.name()) + ": asked instead of its calls");
  if (how == Aliasing::item) return memory_of_indexed(call, result);
  std::vector<ResultMemory> memory;
  for (const Tensor& tensor : tensors_in(result)) {
    const bool first = writes_input(call) || is_first_tensor(call, tensor);
    const int each = static_cast<int>(memory.size());
    memory.push_back({how == Aliasing::each       ? each
                      : how == Aliasing::together ? ResultMemory::kTogether
                      : first                     ? 0
                                                  : ResultMemory::kOwn});
  }
  return memory;
}

}  // namespace fxjit::ops
