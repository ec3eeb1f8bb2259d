// Finds the scores of attention as models write them: a product of queries and
// keys, followed by scales, masks and reshapes of the leading dims in any
// order. Used by fuse_attention alone.
#pragma once

#include <optional>
#include <vector>

#include "src/passes/lowering/lower.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct ScoreMask {
  fx::NodePtr tensor = nullptr;
  MaskKind kind = MaskKind::add;
  double value = 1;
  Dims scores;  // Shape of the scores that it meets.
};

struct WrittenScores {
  fx::NodePtr query = nullptr;  // [.., queries, depth]
  fx::NodePtr key = nullptr;    // [.., depth, keys]
  double scale = 1;
  std::vector<ScoreMask> masks;  // In the order in which they are applied.
  std::vector<Dims> shapes;      // That the scores have on the way.
};

// The scores that end in `node`, whose value nothing else uses. None if the
// node is not computed as scores are.
std::optional<WrittenScores> match_scores(const ModelGraph& model,
                                          fx::NodePtr node);

// Whether the call returns its first argument unchanged except for its leading
// dims: a reshape, a copy, or a cast to the same dtype.
bool keeps_scores(const fx::Node& node);
bool single_use(const fx::Node* node);
bool calls_op(const fx::Node* node, std::string_view name);
// matmul, mm or bmm of f32.
bool is_product(const fx::Node* node);
// The value of a number or of a constant with one element.
std::optional<double> number_of(const ModelGraph& model, const Value& value);
// The factor of a multiplication or division of a tensor by a number.
struct Scaled {
  fx::NodePtr input = nullptr;
  double factor = 1;
};
std::optional<Scaled> scaled_by_number(const ModelGraph& model,
                                       const fx::Node& node);

}  // namespace fxjit::passes
