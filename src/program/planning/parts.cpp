#include "src/program/planning/parts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/gaps.h"
#include "src/program/planning/live_bytes.h"
#include "src/program/planning/moved_view.h"
#include "src/program/planning/parts_room.h"
#include "src/support/machine/cache_line.h"

namespace fxjit::program {
namespace {

using passes::Region;

bool is_view(const fx::Node& node) {
  return node.called_op() == &passes::as_strided_op();
}

// The placeholders that stand for an argument of the region.
std::vector<const fx::Node*> inside(const Region& region, const fx::Node& call,
                                    const fx::Node& argument) {
  std::vector<const fx::Node*> found;
  size_t next = 0;
  for (const fx::Node* inner : region.graph->nodes())
    if (inner->is(fx::Opcode::placeholder) &&
        call.arg_node(next++) == &argument)
      found.push_back(inner);
  return found;
}

// The operands of a region's concatenation, as the graph around it knows them.
std::vector<const fx::Node*> operands_of_cat(const Region& region,
                                             const fx::Node& call,
                                             const fx::Node& cat) {
  std::map<const fx::Node*, const fx::Node*> outside;
  size_t next = 0;
  for (const fx::Node* inner : region.graph->nodes())
    if (inner->is(fx::Opcode::placeholder))
      outside[inner] = call.arg_node(next++);
  std::vector<const fx::Node*> operands;
  for (const Value& leaf : cat.arg(0).as_sequence())
    operands.push_back(outside.at(leaf.as_node()));
  return operands;
}

// A concatenation: its item, and how far along the dim its operands, those with
// elements, begin.
struct Joining {
  const fx::Node* region;
  const fx::Node* item;
  int dim;
  std::vector<std::pair<const fx::Node*, int64_t>> operands;
};

std::optional<Joining> joining_of(const Region& region, const fx::Node& call) {
  const fx::Node* cat = only_call(region);
  if (cat == nullptr || call.num_users() != 1) return std::nullopt;
  const fx::Node* item = call.users().front();
  const int rank = item->val_tensor().dim();
  const auto at = static_cast<size_t>(cat->called_op()->index_of("dim"));
  Joining joining{&call, item, wrap_dim(cat->arg(at).as_int(), rank), {}};
  int64_t start = 0;
  for (const fx::Node* operand : operands_of_cat(region, call, *cat)) {
    const Tensor& val = operand->val_tensor();
    if (val.numel() == 0) continue;
    joining.operands.emplace_back(operand, start);
    start += val.sizes()[joining.dim];
  }
  return joining;
}

// Those that come later are looked at first, so that a concatenation whose
// operands are neighbours in a later one is a part of that itself.
class PartFinder {
 public:
  PartFinder(const passes::ModelGraph& model,
             const std::unordered_set<const fx::Node*>& updates,
             bool dense_products, const std::set<RegionResult>& left_out)
      : model_(model),
        updates_(updates),
        dense_products_(dense_products),
        left_out_(left_out) {}

  Parts run(const std::vector<const fx::Node*>& joining) {
    std::for_each(joining.rbegin(), joining.rend(),
                  [&](const fx::Node* region) { join(*region); });
    return std::move(parts_);
  }

 private:
  void join(const fx::Node& region) {
    const auto joining = joining_of(model_.region(region), region);
    if (!joining || joining->operands.empty()) return;
    for (const fx::Node* user : joining->item->users())
      if (updates_.contains(user)) return;
    if (!joins_parts(*joining)) place_operands(*joining);
  }

  // Whether all operands are parts that lie as the result would, which is then
  // no more than another name for them.
  bool joins_parts(const Joining& joining) {
    if (parts_.find(*joining.region, 0) != nullptr) return false;
    const Tensor& val = joining.item->val_tensor();
    const Part* first = part_of(*joining.operands.front().first);
    if (first == nullptr) return false;
    const Part own{
        first->whole, first->byte_offset,
        Tensor::meta(val.sizes(), val.dtype(), first->val.strides())};
    for (const auto& [operand, start] : joining.operands) {
      const Part* part = part_of(*operand);
      if (part == nullptr || part->whole != own.whole ||
          part->val.strides() != own.val.strides() ||
          part->byte_offset !=
              own.byte_offset +
                  start * val.item_size() * own.val.strides()[joining.dim])
        return false;
    }
    const RegionResult joined{joining.region, 0};
    if (left_out_.contains(joined) || !suits_all(*joining.item, own.val))
      return false;
    parts_.add(joined, own);
    return true;
  }

  void place_operands(const Joining& joining) {
    const Tensor& val = joining.item->val_tensor();
    const Part* known = parts_.find(*joining.region, 0);
    const Part whole = known ? *known : Part{joining.region, 0, val};
    const Dims& strides = whole.val.strides();
    for (const auto& [operand, start] : joining.operands) {
      const Tensor& own = operand->val_tensor();
      if (own.dtype() == val.dtype())
        place(*operand, {whole.whole,
                         whole.byte_offset +
                             start * strides[joining.dim] * val.item_size(),
                         Tensor::meta(own.sizes(), own.dtype(), strides)});
    }
  }

  // Makes what an operand is a view of, or the operand itself, a part.
  void place(const fx::Node& operand, Part part) {
    const fx::Node* item = &operand;
    if (is_view(operand)) {
      item = operand.arg_node(0);
      const Tensor& val = operand.val_tensor();
      if (operand.arg(3).as_int() != 0 ||
          item->val_tensor().numel() != val.numel() ||
          item->val_tensor().dtype() != val.dtype())
        return;
      const auto moved =
          move_view(item->val_tensor(), 0, val, part.val.strides());
      if (!moved) return;
      part.val = moved->val;
    }
    const auto maker = maker_of(*item);
    if (!maker || left_out_.contains(*maker) || part_of(*item) ||
        !leaves_order(item->val_tensor(), part.val.strides()) ||
        !suits_all(*item, part.val) ||
        !can_write(model_.region(*maker->first), part, item->val_tensor()))
      return;
    parts_.add(*maker, std::move(part));
  }

  // Calls may know their results as memory that was allocated.
  bool can_write(const Region& region, const Part& part,
                 const Tensor& val) const {
    if (lies_as(part.val, val))
      return region.kind != Region::Kind::call ||
             part.byte_offset % support::kCacheLine == 0;
    if (dense_products_ && region.kind == Region::Kind::contraction)
      return false;
    return writes_with_gaps(region, part.val);
  }

  // The region that computes an item, and the number of the result.
  std::optional<RegionResult> maker_of(const fx::Node& item) const {
    if (item.called_op() != &passes::item_op()) return std::nullopt;
    const fx::Node* region = item.arg_node(0);
    if (!region->is(fx::Opcode::call_module) || updates_.contains(region))
      return std::nullopt;
    bool plain = true;
    for (const Value& each : region->val().as_sequence())
      plain &= each.is_tensor();
    const int64_t index = item.arg(1).as_int();
    const auto same =
        std::ranges::count_if(region->users(), [&](const fx::Node* user) {
          return user->called_op() == &passes::item_op() &&
                 user->arg(1).as_int() == index;
        });
    if (!plain || same != 1) return std::nullopt;
    return RegionResult{region, static_cast<size_t>(index)};
  }

  const Part* part_of(const fx::Node& item) const {
    const auto maker = maker_of(item);
    return maker ? parts_.find(*maker->first, maker->second) : nullptr;
  }

  // Whether everybody who reads the item can read it with the strides of `val`.
  bool suits_all(const fx::Node& item, const Tensor& val) const {
    return std::ranges::all_of(item.users(), [&](const fx::Node* user) {
      if (!is_view(*user)) return suits_user(item, *user, val);
      const auto moved = move_view(user->val_tensor(), user->arg(3).as_int(),
                                   item.val_tensor(), val.strides());
      return moved && user->val_tensor().dtype() == val.dtype() &&
             std::ranges::all_of(user->users(), [&](const fx::Node* reader) {
               return suits_user(*user, *reader, moved->val);
             });
    });
  }

  // A result of the graph has memory of its own, which its owner may change.
  bool suits_user(const fx::Node& value, const fx::Node& user,
                  const Tensor& val) const {
    if (!user.is(fx::Opcode::call_module) || updates_.contains(&user))
      return false;
    if (lies_as(val, value.val_tensor())) return true;
    const Region& region = model_.region(user);
    if (region.kind == Region::Kind::copies) return true;
    if (dense_products_ && region.kind == Region::Kind::contraction)
      return false;
    return std::ranges::all_of(
        inside(region, user, value), [&](const fx::Node* placeholder) {
          return reads_with_gaps(region, *placeholder, val);
        });
  }

  const passes::ModelGraph& model_;
  const std::unordered_set<const fx::Node*>& updates_;
  const bool dense_products_;
  const std::set<RegionResult>& left_out_;
  Parts parts_;
};

}  // namespace

const Part* Parts::find(const fx::Node& region, size_t number) const {
  const auto found = parts_.find({&region, number});
  return found == parts_.end() ? nullptr : &found->second;
}

void Parts::add(const RegionResult& result, Part part) {
  parts_[result] = std::move(part);
}

Parts find_parts(const passes::ModelGraph& model,
                 const std::unordered_set<const fx::Node*>& updates,
                 bool dense_products) {
  std::vector<const fx::Node*> joining;
  for (const fx::Node* node : model.graph->nodes())
    if (node->is(fx::Opcode::call_module) &&
        model.region(*node).kind == Region::Kind::copies)
      joining.push_back(node);
  if (joining.empty()) return {};
  const LiveBytes live(model);
  std::set<RegionResult> left_out;
  // Graphs need few rounds; the others end with whole concatenations.
  constexpr int kRounds = 8;
  for (int round = 0;; ++round) {
    Parts parts =
        PartFinder(model, updates, dense_products, left_out).run(joining);
    const auto more = parts_without_room(live, parts, round >= kRounds);
    if (more.empty()) return parts;
    left_out.insert(more.begin(), more.end());
  }
}

}  // namespace fxjit::program
