#include "src/passes/fusing/inner_rows.h"

#include <algorithm>

#include "fxjit/op.h"

namespace fxjit::passes {
namespace {

constexpr int64_t kLeastNeighbours = 16;
// What becomes of a reduction before it meets its rows again: a division, a
// root, something added.
constexpr int kMostConstants = 4;

bool returns(const fx::Node& node, const Dims& domain, int depth) {
  return depth > 0 &&
         std::any_of(node.users().begin(), node.users().end(),
                     [&](const fx::Node* user) {
                       const ops::Op* op = user->called_op();
                       if (!op || op->row.lowering != ops::Lowering::scalar)
                         return false;
                       const Dims& shape = user->val_tensor().sizes();
                       return shape == domain ||
                              (shape == node.val_tensor().sizes() &&
                               returns(*user, domain, depth - 1));
                     });
}

bool suits_lanes(int dim, const Dims& domain) {
  int64_t neighbours = 1;
  for (int d = dim + 1; d < domain.size(); ++d) neighbours *= domain[d];
  return domain[dim] >= 2 && domain[dim] <= kLongestLaneRow &&
         neighbours >= kLeastNeighbours;
}

}  // namespace

bool walks_inner_rows(const fx::Node& reduction, const std::vector<int>& dims,
                      const Dims& domain, int walked) {
  return dims.size() == 1 && suits_lanes(dims[0], domain) &&
         (walked == dims[0] || returns(reduction, domain, kMostConstants));
}

}  // namespace fxjit::passes
