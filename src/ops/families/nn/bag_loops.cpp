// The kernel that torch's exporter writes embedding_bag as: the bags, and
// what a backward pass would read of them, which compiled programs compute only
// where it is read.
#include <algorithm>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// The parameters of `_embedding_bag`.
enum BagParameter : size_t {
  kBagWeight,
  kBagIndices,
  kBagOffsets,
  kBagScale,
  kBagMode,
  kBagSparse,
  kBagSampleWeights,
  kBagLastOffset,
  kBagPadding,
};

// The parameters of `fxjit.bag_places`: those above that it needs.
enum PlacesParameter : size_t {
  kTable,
  kPicked,
  kStarts,
  kHow,
  kEndGiven,
  kLeftOut,
};

int64_t count_bags(const OpCall& call) {
  return call.tensor(kStarts).numel() - (call.flag(kEndGiven) ? 1 : 0);
}

// Sums without padding are torch's fast path, which notes no bags.
bool notes_bags(const OpCall& call) {
  const Tensor& table = call.tensor(kTable);
  const bool fast = call[kHow].as_string() == "sum" &&
                    call.integer(kLeftOut) < 0 && table.dtype() != DType::f64 &&
                    table.stride(1) == 1;
  return !fast;
}

Value infer_bag_places(const OpCall& call) {
  const int64_t bags = count_bags(call);
  const int64_t indices = call.tensor(kPicked).numel();
  Dims greatest{bags};
  if (call[kHow].as_string() == "max")
    greatest.push_back(call.tensor(kTable).size(1));
  return Value::tuple(
      {Tensor::meta({notes_bags(call) ? indices : 0}, DType::i64),
       Tensor::meta({bags}, DType::i64), Tensor::meta(greatest, DType::i64)});
}

struct BagIndices {
  std::vector<int64_t> rows;  // The row of the table that each index names.
  std::vector<int64_t> bag;   // The bag that each index belongs to.
  int64_t left_out = -1;
};

BagIndices read_bags(const OpCall& call) {
  BagIndices bags{call.tensor(kPicked).to_ints(), {}, call.integer(kLeftOut)};
  const std::vector<int64_t> starts = call.tensor(kStarts).to_ints();
  const auto end = starts.begin() + count_bags(call);
  for (size_t i = 0; i < bags.rows.size(); ++i)
    bags.bag.push_back(
        std::upper_bound(starts.begin(), end, static_cast<int64_t>(i)) -
        starts.begin() - 1);
  return bags;
}

std::vector<int64_t> sizes_of(const BagIndices& bags, int64_t count) {
  std::vector<int64_t> sizes(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < bags.rows.size(); ++i)
    if (bags.rows[i] != bags.left_out)
      ++sizes[static_cast<size_t>(bags.bag[i])];
  return sizes;
}

// For each bag and column the row that has the greatest number.
std::vector<int64_t> greatest_rows(const BagIndices& bags, const Tensor& table,
                                   int64_t count) {
  const Tensor wide = table.to(DType::f64).contiguous();
  const int64_t depth = wide.size(1);
  std::vector<int64_t> rows(static_cast<size_t>(count * depth), 0);
  std::vector<bool> seen(static_cast<size_t>(count), false);
  for (size_t i = 0; i < bags.rows.size(); ++i) {
    const int64_t row = bags.rows[i], bag = bags.bag[i];
    if (row == bags.left_out) continue;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t& best = rows[static_cast<size_t>(bag * depth + d)];
      const double* const numbers = wide.data_as<double>() + d;
      if (!seen[static_cast<size_t>(bag)] ||
          numbers[row * depth] > numbers[best * depth])
        best = row;
    }
    seen[static_cast<size_t>(bag)] = true;
  }
  return rows;
}

void write(const Tensor& out, const std::vector<int64_t>& numbers) {
  out.copy_from(Tensor::from(numbers, out.sizes()));
}

void run_bag_places(const OpCall& call, std::span<const Tensor> results) {
  const BagIndices bags = read_bags(call);
  const std::string_view how = call[kHow].as_string();
  const int64_t count = count_bags(call);
  const std::vector<int64_t> none(static_cast<size_t>(count), 0);
  const std::vector<int64_t> sizes =
      how == "sum" ? none : sizes_of(bags, count);
  if (notes_bags(call)) write(results[0], bags.bag);
  write(results[1], sizes);
  write(results[2],
        how == "max" ? greatest_rows(bags, call.tensor(kTable), count) : sizes);
}

Value run_embedding_bag(const OpCall& call) {
  const bool padded = call.has(kBagPadding) && call.integer(kBagPadding) >= 0;
  const Value bags =
      call_row("embedding_bag",
               {call[kBagIndices], call[kBagWeight], call[kBagOffsets], None, 2,
                false, call[kBagMode], false, call[kBagSampleWeights],
                call[kBagLastOffset], padded ? call[kBagPadding] : Value()});
  const Value places = call_row(
      "fxjit.bag_places",
      {call[kBagWeight], call[kBagIndices], call[kBagOffsets], call[kBagMode],
       call[kBagLastOffset], padded ? call[kBagPadding] : Value(-1)});
  ValueList results{bags};
  for (int i = 0; i < 3; ++i) results.push_back(fxjit::getitem(places, i));
  return Value::tuple(std::move(results));
}

constexpr OpRow kBagLoopsRows[] = {
    inlined_row("_embedding_bag",
                "weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
                "per_sample_weights, include_last_offset, padding_idx=-1",
                "", run_embedding_bag),
    direct_row("fxjit.bag_places",
               "weight, indices, offsets, mode, include_last_offset, padding",
               "", infer_bag_places, run_bag_places),
};

}  // namespace

std::span<const OpRow> bag_kernel_rows() { return kBagLoopsRows; }

}  // namespace fxjit::ops
