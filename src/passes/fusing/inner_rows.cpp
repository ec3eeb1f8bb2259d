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

// Rows of more than kLongestRow elements with many neighbours do not fit into
// the second-level cache. With up to kFewNeighbours neighbours a row is nearly
// dense and may be longer, as long as a task has at most kLargestTask elements:
// a task keeps intermediate values of all of them.
constexpr int64_t kLongestRow = 16 * 1024;
constexpr int64_t kFewNeighbours = 8;
constexpr int64_t kLargestTask = 1024 * 1024;
// Longer rows that are reduced only once are computed as columns, which read
// memory in its order, unless the lanes hold all neighbours. The second bound
// is for several threads: they divide columns more evenly than groups of rows
// once a group leaves the first-level cache.
constexpr int64_t kLongestReducedOnce = 4096, kLongestShared = 512;
// A column without neighbours uses one lane of a vector. Up to this length that
// is worth it, because the step that reduces it also computes what is made of
// the sum.
constexpr int64_t kShortColumn = 512;
// Largest groups, in elements, that need no threads. kSmallUneven is the bound
// where pieces of a group would share cache lines.
constexpr int64_t kSmallTask = 64 * 1024;
constexpr int64_t kSmallUneven = 2 * kSmallTask;
// Most neighbours that one task computes together. The larger bound is for
// neighbours that do not fill whole cache lines, as pieces of them would share
// a line at every position of the row, and only where the first-level cache
// does not hold the group (kCachedTask elements).
constexpr int64_t kMostTogether = 64;
constexpr int64_t kMostUneven = 640;
// The bound on uneven neighbours where columns are possible, or where a group
// cannot be cut for the threads.
constexpr int64_t kFewUneven = 256;
constexpr int64_t kCachedTask = 8 * 1024;  // Elements.
// Most elementwise calls between a reduction and the call in which its result
// meets the rows again, such as a division, a root and the addition of an
// epsilon.
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

// Whether elementwise work on the result of `reduction` is itself reduced along
// the same rows, as the squared differences of a variance are.
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
