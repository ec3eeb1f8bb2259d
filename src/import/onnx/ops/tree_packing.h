// Ensembles of trees as they are read, and the call that they become.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/import/onnx/ops/estimators.h"
#include "src/ops/families/trees/tree_tables.h"

namespace fxjit::onnx {

// A node. Of a leaf the weights from `on_true` to before `on_false`.
struct TreePart {
  ops::TreeMode mode = ops::TreeMode::leaf;
  bool nan_is_true = false;
  int32_t feature = 0;
  double value = 0;
  int32_t on_true = 0, on_false = 0;
  std::vector<double> members = {};  // Of the mode `member`.
};

struct TreeWeight {
  int64_t target;
  double weight;
};

// Trees by their nodes, all in one list. Each node is reached by one way at
// most.
struct TreeEnsemble {
  std::vector<TreePart> parts;
  std::vector<int32_t> roots;
  std::vector<TreeWeight> weights;
};

// Attributes that are lists, each of as many numbers as others; fails, by name,
// for those that are missing or of another length.
class AttributeLists {
 public:
  explicit AttributeLists(const Call& call) : call_(call) {}

  std::vector<int64_t> integers(const std::string& name) const;
  // Of a tensor; `named` in the message when it is missing.
  std::vector<double> reals(const std::string& tensor,
                            const std::string& named) const;
  void check_count(const char* what, size_t got, size_t expected) const;

 private:
  const Call& call_;
};

// The sums of the trees' weights for each row of input 0, [rows, count], which
// are rounded to `dtype`. The tables are constants of the model. Fails for
// weights of other targets and for nodes that two ways reach.
Value tree_scores(const Call& call, const TreeEnsemble& trees, int64_t count,
                  ops::TreeAggregate aggregate, DType dtype = DType::f32);

// "SUM" and its kin.
ops::TreeAggregate tree_aggregate(const Call& call, std::string_view name);

}  // namespace fxjit::onnx
