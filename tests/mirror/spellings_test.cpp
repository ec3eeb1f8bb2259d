// Functions that torch exports under several names are recorded under one: the
// name of what they are.
#include <sstream>

#include "fxjit/op.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Spellings)

namespace TEST_FILE {

using fx::symbolic_trace;

// Also in cases_spellings.py.
constexpr const char* kNames = R"(
F.adaptive_avg_pool1d F.avg_pool1d F.avg_pool2d F.avg_pool3d F.bilinear
F.channel_shuffle F.native_channel_shuffle F.conv1d F.conv2d F.conv3d
F.conv_transpose1d F.conv_transpose2d F.conv_transpose3d F.cosine_similarity
F.gelu F.hardshrink F.linear F.logsigmoid F.one_hot F.pairwise_distance
F.pixel_shuffle F.pixel_unshuffle F.prelu F.relu_ F.scaled_dot_product_attention
F.softplus F.softshrink F.threshold
F.relu F.silu F.softmax F.layer_norm F.dropout F.embedding F.pad F.interpolate
F.max_pool1d F.max_pool2d F.max_pool3d F.adaptive_avg_pool2d F.cross_entropy
F.glu F.elu F.selu F.celu F.leaky_relu F.hardtanh F.relu6 F.mish F.normalize
torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.broadcast_tensors
torch.cdist torch.einsum torch.meshgrid torch.norm torch.split torch.tensordot
torch.unique torch.unique_consecutive
torch.special.erf torch.special.erfc torch.special.expit torch.special.expm1
torch.special.exp2 torch.special.log_softmax torch.special.softmax
torch.special.logsumexp torch.special.logit torch.special.xlogy
torch.linalg.vector_norm torch.linalg.cross torch.linalg.inv torch.linalg.det
torch.linalg.slogdet torch.linalg.solve torch.linalg.solve_triangular
torch.linalg.cholesky torch.linalg.svdvals torch.linalg.matrix_norm
torch.linalg.norm torch.linalg.matrix_power torch.linalg.multi_dot
torch.linalg.vecdot torch.linalg.diagonal torch.linalg.matmul
torch.special.entr torch.special.gammaln torch.special.digamma torch.special.psi
torch.special.i0e torch.special.ndtr torch.special.zeta torch.special.xlog1py
torch.special.polygamma torch.special.multigammaln
torch.threshold torch.prelu torch.celu torch.selu torch.conv2d torch.softmax
)";

MIRROR_CASE(Spellings, names_of_functions) {
  std::istringstream names(kNames);
  for (std::string name; names >> name;) {
    const ops::Spelling* const found = ops::find_function(name);
    expect_text(name, found ? found->name : "no such function");
  }
}

MIRROR_CASE(Spellings, recorded_by_either_name) {
  expect_graph(symbolic_trace(
      [](Value x) -> Value {
        const Value y = function("F.logsigmoid", {x});
        return function("F.gelu", {function("F.softplus", {y})});
      },
      {"x"}));
  expect_graph(symbolic_trace(
      [](Value x, Value w) -> Value {
        return function("F.linear", {function("F.avg_pool1d", {x, 2}), w});
      },
      {"x", "w"}));
  expect_graph(symbolic_trace(
      [](Value x) { return function("F.threshold", {x, 0.5, 1.0}); }, {"x"}));
  expect_graph(symbolic_trace(
      [](Value x) {
        return function("torch.special.expit",
                        {function("torch.special.erf", {x})});
      },
      {"x"}));
  expect_graph(symbolic_trace(
      [](Value x, Value y) { return function("torch.meshgrid", {x, y}); },
      {"x", "y"}));
  expect_graph(symbolic_trace(
      [](Value x) {
        return function("torch.linalg.norm",
                        {function("torch.linalg.inv", {x})});
      },
      {"x"}));
  expect_graph(symbolic_trace(
      [](Value x) { return function("torch.linalg.matmul", {x, x}); }, {"x"}));
}

MIRROR_CASE(Spellings, computes_by_either_name) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value y = function("F.threshold", {x, 0.25, -1.0});
        return function("F.gelu", {function("F.softplus", {y})});
      },
      {"x"});
  expect_outputs(gm, {fill({3, 4})});
  expect_code(gm);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
