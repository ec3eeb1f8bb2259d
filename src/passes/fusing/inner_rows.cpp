#include "src/passes/fusing/inner_rows.h"

#include <algorithm>
#include <set>

#include "fxjit/op.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/support/machine/cache_line.h"
#include "src/tensor/sizes/decision.h"

namespace fxjit::passes {
namespace {

using support::kLineFloats;

// The second-level cache does not hold longer rows of many neighbours. Few
// neighbours lie so close together that they are read as rows of the last dim
// are, and what is kept of them takes some megabytes at most.
constexpr int64_t kLongestRow = 16 * 1024;
constexpr int64_t kFewNeighbours = 8;
constexpr int64_t kLargestTask = 1024 * 1024;
// Longer rows that are reduced once are columns, which read memory in its
// order, unless lanes hold all neighbours. Threads share columns better than
// groups of rows as soon as these leave the first-level cache.
constexpr int64_t kLongestReducedOnce = 4096, kLongestShared = 512;
// A column without neighbours fills one lane; what becomes of its sum is done
// with it, which pays where it is as short.
constexpr int64_t kShortColumn = 512;
// Items of so many elements need no threads; the second where parts of an item
// would share cache lines.
constexpr int64_t kSmallTask = 64 * 1024;
constexpr int64_t kSmallUneven = 2 * kSmallTask;
// So many neighbours are taken at once. If they fill no whole lines, parts of
// them would share lines of every position; so more of them are, where the
// first-level cache does not hold all positions.
constexpr int64_t kMostTogether = 64;
constexpr int64_t kMostUneven = 640;
// So many are also where rows could be columns, or threads would have only
// whole items.
constexpr int64_t kFewUneven = 256;
constexpr int64_t kCachedTask = 8 * 1024;  // Elements.
// What becomes of a reduction before it meets its rows again: a division, a
// root, something added.
constexpr int kMostConstants = 4;
constexpr size_t kMostFollowed = 32;

bool is_elementwise(const fx::Node& node) {
  const ops::Op* op = node.called_op();
  return op && op->row.lowering == ops::Lowering::scalar;
}

bool returns(const fx::Node& node, const Dims& domain, int depth) {
  return depth > 0 &&
         std::any_of(node.users().begin(), node.users().end(),
                     [&](const fx::Node* user) {
                       if (!is_elementwise(*user)) return false;
                       const Dims& shape = user->val_tensor().sizes();
                       return shape == domain ||
                              (shape == node.val_tensor().sizes() &&
                               returns(*user, domain, depth - 1));
                     });
}

// Whether what elementwise work makes of a reduction is reduced along the same
// rows once more.
bool reduces_again(const fx::Node& reduction, const std::vector<int>& dims,
                   const Dims& domain) {
  std::vector<const fx::Node*> open{&reduction};
  std::set<const fx::Node*> seen;
  while (!open.empty() && seen.size() < kMostFollowed) {
    const fx::Node* node = open.back();
    open.pop_back();
    for (const fx::Node* user : node->users()) {
      if (!seen.insert(user).second) continue;
      const ops::Op* op = user->called_op();
      if (op && op->row.lowering == ops::Lowering::reduce &&
          reduced_dims(*user) == dims &&
          user->arg_node(0)->val_tensor().sizes() == domain)
        return true;
      if (is_elementwise(*user)) open.push_back(user);
    }
  }
  return false;
}

Size neighbours_of(int dim, const Dims& domain) {
  Size neighbours = 1;
  for (int d = dim + 1; d < domain.size(); ++d) neighbours *= domain[d];
  return neighbours;
}

// Whether groups of neighbours would share lines.
bool are_uneven(int64_t inner, int64_t neighbours) {
  const int64_t elements = inner * neighbours;
  return neighbours <= kMostUneven && neighbours % kLineFloats != 0 &&
         elements > kCachedTask && elements <= kLargestTask;
}

// Whether threads have enough tasks of so many elements, or need none.
bool leave_tasks(int64_t outer, int64_t elements, int64_t small, bool serial) {
  return serial || outer >= kLeastTasks || elements <= small;
}

}  // namespace

bool has_pieces(int64_t inner) {
  for (int64_t pieces = kLeastTasks; pieces <= kMostPieces; ++pieces)
    if (inner % pieces == 0 && inner / pieces >= kShortestPiece) return true;
  return false;
}

bool suits_lanes(int64_t inner, int64_t neighbours) {
  if (inner < 2 || neighbours < 2) return false;
  return inner <= kLongestRow ||
         (neighbours <= kFewNeighbours && inner <= kLargestTask / neighbours);
}

bool take_all_neighbours(int64_t outer, int64_t inner, int64_t neighbours,
                         bool serial) {
  const int64_t elements = inner * neighbours;
  const bool uneven = are_uneven(inner, neighbours);
  if (!uneven && neighbours > kMostTogether) return false;
  if (neighbours > kFewUneven) return serial || elements <= kSmallUneven;
  return leave_tasks(outer, elements, uneven ? kSmallUneven : kSmallTask,
                     serial);
}

namespace {

// When a reduction is made row by row.
enum Walk : int64_t { kNever, kAlways, kIfItReturns, kIfReducedAgain };

// Of the elements of a row and its neighbours, of all, whether the rows are
// walked already, and whether there is one thread.
int64_t walk_of(std::span<const int64_t> sizes) {
  const int64_t inner = sizes[0], neighbours = sizes[1], all = sizes[2];
  const bool walked = sizes[3] != 0, serial = sizes[4] != 0;
  const bool plain = neighbours == 1 && inner > 1;
  if (!plain && !suits_lanes(inner, neighbours)) return kNever;
  if (walked || (plain && inner > kShortColumn)) return kAlways;
  const int64_t outer = all / (inner * neighbours);
  // Else threads share columns without sharing lines.
  const bool apart = serial || (neighbours >= kLineFloats && has_pieces(inner));
  const bool together =
      neighbours <= kFewUneven &&
      take_all_neighbours(outer, inner, neighbours, apart) &&
      leave_tasks(outer, inner * neighbours, kSmallTask, apart);
  const bool streams = plain || together ||
                       inner <= (serial ? kLongestReducedOnce : kLongestShared);
  return streams ? kIfItReturns : kIfReducedAgain;
}

}  // namespace

bool walks_inner_rows(const fx::Node& reduction, const std::vector<int>& dims,
                      const Dims& domain, int walked, bool serial) {
  if (dims.size() != 1) return false;
  const int64_t walk = decided("how rows are walked", walk_of,
                               {domain[dims[0]], neighbours_of(dims[0], domain),
                                numel(domain), walked == dims[0], serial});
  if (walk == kNever || walk == kAlways) return walk == kAlways;
  return returns(reduction, domain, kMostConstants) &&
         (walk == kIfItReturns || reduces_again(reduction, dims, domain));
}

}  // namespace fxjit::passes
