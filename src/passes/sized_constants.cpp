#include "src/passes/sized_constants.h"

#include <algorithm>
#include <unordered_set>

#include "src/passes/evaluate.h"

namespace fxjit::passes {
namespace {

// Larger tensors are memory of the programs that read them, which count them;
// with these, so many bytes are kept.
constexpr size_t kMostOfOne = size_t{4} << 10;
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kOverhead = 512;

void add_names(const Dims& dims, std::vector<Size>& names) {
  for (const Size size : dims)
    if (!size.is_number()) names.push_back(size);
}

void add_names(const Value& value, std::vector<Size>& names) {
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_named_size()) names.push_back(leaf.as_size());
    if (!leaf.is_tensor()) return;
    const Tensor& tensor = leaf.as_tensor();
    add_names(tensor.sizes(), names);
    add_names(tensor.strides(), names);
    if (!tensor.offset().is_number()) names.push_back(tensor.offset());
  });
}

// The stand-ins that `wanted` are made of, themselves among them.
std::unordered_set<const void*> needed_for(
    const std::vector<const void*>& wanted,
    const std::vector<MadeConstant>& made) {
  std::unordered_set<const void*> needed(wanted.begin(), wanted.end());
  for (size_t i = made.size(); i-- > 0;) {
    if (!needed.contains(made[i].stand_in.id())) continue;
    for (const Value& arg : made[i].args)
      visit_leaves(arg, [&](const Value& leaf) {
        if (leaf.is_tensor()) needed.insert(leaf.as_tensor().id());
      });
  }
  return needed;
}

}  // namespace

SizedConstants::SizedConstants(std::vector<MadeConstant> made,
                               const std::vector<const void*>& wanted) {
  const std::unordered_set<const void*> needed = needed_for(wanted, made);
  for (MadeConstant& each : made) {
    if (!needed.contains(each.stand_in.id())) continue;
    each.present = {};
    Entry entry{std::move(each), {}, false, {}};
    entry.follows = sizes_of(entry.made);
    mark_kept(entry);
    by_stand_in_[entry.made.stand_in.id()] = entries_.size();
    entries_.push_back(std::move(entry));
  }
  for (const void* const id : wanted)
    if (const auto at = by_stand_in_.find(id); at != by_stand_in_.end())
      entries_[at->second].kept = true;
}

// Those that it is made of and that serve more tuples than it does.
void SizedConstants::mark_kept(const Entry& reader) {
  for (const Value& arg : reader.made.args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const auto from = by_stand_in_.find(leaf.as_tensor().id());
      if (from == by_stand_in_.end()) return;
      Entry& read = entries_[from->second];
      read.kept |= read.follows.size() < reader.follows.size();
    });
}

// With those of what it is made of.
std::vector<Size> SizedConstants::sizes_of(const MadeConstant& made) const {
  std::vector<Size> sizes;
  add_names(made.stand_in, sizes);
  for (const Value& arg : made.args) {
    add_names(arg, sizes);
    visit_leaves(arg, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return;
      const auto from = by_stand_in_.find(leaf.as_tensor().id());
      if (from == by_stand_in_.end()) return;
      const std::vector<Size>& more = entries_[from->second].follows;
      sizes.insert(sizes.end(), more.begin(), more.end());
    });
  }
  std::ranges::sort(sizes, {}, &Size::word);
  const auto same = std::ranges::unique(sizes, {}, &Size::word);
  sizes.erase(same.begin(), same.end());
  return sizes;
}

Tensor SizedConstants::at(const Tensor& stand_in, const SizeValues& values) {
  return present(by_stand_in_.at(stand_in.id()), values);
}

void SizedConstants::forget_sizes() {
  for (Entry& entry : entries_) entry.present = {};
}

Tensor SizedConstants::present(size_t number, const SizeValues& values) {
  Entry& entry = entries_[number];
  if (entry.present.defined()) return entry.present;
  if (!entry.kept) return entry.present = computed(entry.made, values);
  Key key{static_cast<int64_t>(number)};
  for (const Size size : entry.follows) key.push_back(values.of(size));
  if (const auto found = found_.find(key); found != found_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return entry.present = found->second->second;
  }
  entry.present = computed(entry.made, values);
  keep(std::move(key), entry.present);
  return entry.present;
}

Tensor SizedConstants::computed(const MadeConstant& made,
                                const SizeValues& values) {
  ValueList args;
  for (const Value& arg : made.args)
    args.push_back(values.of(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const auto from = by_stand_in_.find(leaf.as_tensor().id());
      return from == by_stand_in_.end() ? leaf
                                        : Value(present(from->second, values));
    })));
  const Value result = ops::run_eager({*made.op, args});
  return as_planned(result, values.of(made.stand_in)).as_tensor();
}

void SizedConstants::keep(Key key, const Tensor& tensor) {
  const auto bytes_of = [](const Tensor& kept) {
    return kOverhead + kept.storage()->bytes();
  };
  if (tensor.storage()->bytes() > kMostOfOne) return;
  kept_.emplace_front(key, tensor);
  found_.emplace(std::move(key), kept_.begin());
  kept_bytes_ += bytes_of(tensor);
  while (kept_bytes_ > kMostBytes) {
    kept_bytes_ -= bytes_of(kept_.back().second);
    found_.erase(kept_.back().first);
    kept_.pop_back();
  }
}

}  // namespace fxjit::passes
