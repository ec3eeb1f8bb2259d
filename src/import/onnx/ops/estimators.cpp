// Linear models and support vectors of ai.onnx.ml, and what trees share with
// them.
#include "src/import/onnx/ops/estimators.h"

#include <algorithm>
#include <cmath>

namespace fxjit::onnx {

Value number_list(const Call& call, const std::vector<double>& numbers,
                  DType dtype) {
  const Tensor list =
      Tensor::empty({static_cast<int64_t>(numbers.size())}, DType::f64);
  std::copy(numbers.begin(), numbers.end(), list.data_as<double>());
  return call.recorder().constant(list.to(dtype), "numbers");
}

Value integer_list(const Call& call, const std::vector<int64_t>& numbers) {
  return call.recorder().constant(
      Tensor::from(numbers, {static_cast<int64_t>(numbers.size())}),
      "integers");
}

namespace {

// Scores that are 0 stay so and do not count.
Value softmax_but_zeros(const Value& scores) {
  const Value counts = abs(scores) > 1e-7;
  const Value largest = amax(scores, Value::list({-1}), true);
  const Value powers = where(counts, exp(scores - largest), zeros_like(scores));
  const Value all = sum(powers, Value::list({-1}), true);
  return powers / where(all == 0, ones_like(all), all);
}

}  // namespace

Value transformed_by(const Call& call, std::string_view name,
                     const Value& scores) {
  if (name == "NONE" || name.empty()) return scores;
  if (name == "LOGISTIC") return sigmoid(scores);
  if (name == "SOFTMAX") return softmax(scores, -1);
  if (name == "SOFTMAX_ZERO") return softmax_but_zeros(scores);
  if (name == "PROBIT")
    return function("torch.erfinv", {scores * 2.0 - 1.0}) * std::sqrt(2.0);
  call.fail("post_transform: \"" + std::string(name) + "\" is unknown");
}

Value transformed(const Call& call, const Value& scores) {
  return transformed_by(call, call.text("post_transform", "NONE"), scores);
}

std::vector<int64_t> class_labels(const Call& call,
                                  std::string_view attribute) {
  if (const auto labels = call.integers(attribute)) return *labels;
  call.fail("attribute " + std::string(attribute) +
            " is missing; labels that are texts are not supported");
}

Value labels_at(const Call& call, const std::vector<int64_t>& labels,
                const Value& places) {
  return index_dim(integer_list(call, labels), 0, places);
}

Results binary_results(const Call& call, const std::vector<int64_t>& labels,
                       const Value& score, double threshold,
                       const Value& first) {
  const Value flat = select(score, -1, 0);
  const Value places = cast(call, flat > threshold, DType::i64);
  const std::string name = call.text("post_transform", "NONE");
  if (name == "PROBIT")
    call.fail("post_transform: PROBIT of one score is not supported");
  const bool logistic = name == "LOGISTIC";
  const Value scores =
      logistic ? cat(Value::list({sigmoid(-score), sigmoid(score)}), -1)
               : cat(Value::list({first, score}), -1);
  return std::vector<Operand>{labels_at(call, labels, places), scores};
}

namespace {

// x * coefficients + intercepts, [n, targets].
Value linear_scores(const Call& call, size_t targets) {
  const auto coefficients = call.reals("coefficients");
  if (!coefficients || targets == 0 || coefficients->size() % targets != 0)
    call.fail("attribute coefficients: expected as many for each target");
  const auto count = static_cast<int64_t>(targets);
  const Value weight =
      held(call, reshape(number_list(call, *coefficients, DType::f32),
                         Value::list({count, -1})));
  Value bias;
  if (const auto intercepts = call.reals("intercepts")) {
    if (intercepts->size() != targets)
      call.fail("attribute intercepts: expected " + std::to_string(targets));
    bias = number_list(call, *intercepts, DType::f32);
  }
  const Value x = cast(call, call[0], DType::f32);
  return nn::functional::linear(call.rank(0) == 1 ? unsqueeze(x, 0) : x, weight,
                                bias);
}

Results linear_regressor(Call& call) {
  const int64_t targets = call.integer("targets", 1);
  if (targets < 1) call.fail("targets: " + std::to_string(targets));
  const Value scores = linear_scores(call, static_cast<size_t>(targets));
  // One score is left as it is but for PROBIT, as ONNX Runtime does.
  const bool alone =
      targets == 1 && call.text("post_transform", "NONE") != "PROBIT";
  return alone ? scores : transformed(call, scores);
}

Results linear_classifier(Call& call) {
  const std::vector<int64_t> labels = class_labels(call, "classlabels_ints");
  const auto intercepts = call.reals("intercepts");
  const size_t count = intercepts ? intercepts->size() : labels.size();
  const Value scores = linear_scores(call, count);
  if (count == 1 && labels.size() == 2)
    return binary_results(call, labels, scores, 0, 1 - scores);
  if (count != labels.size())
    call.fail("intercepts: expected one for each class");
  return std::vector<Operand>{labels_at(call, labels, argmax(scores, -1)),
                              transformed(call, scores)};
}

// Products of x with the support vectors, by the kernel's rule.
Value support_kernel(const Call& call, const Value& x, const Value& vectors) {
  const std::string type = call.text("kernel_type", "LINEAR");
  const auto numbers =
      call.reals("kernel_params").value_or(std::vector<double>{0, 0, 0});
  if (numbers.size() != 3 && type != "LINEAR")
    call.fail("attribute kernel_params: expected 3 numbers");
  const Value product = matmul(x, t(vectors));
  if (type == "LINEAR") return product;
  if (type == "POLY") return pow(product * numbers[0] + numbers[1], numbers[2]);
  if (type == "SIGMOID") return tanh(product * numbers[0] + numbers[1]);
  if (type != "RBF") call.fail("kernel_type: \"" + type + "\" is unknown");
  const Value distances =
      sum(pow(unsqueeze(x, 1) - unsqueeze(vectors, 0), 2), Value::list({-1}));
  return exp(distances * -numbers[0]);
}

Results svm_regressor(Call& call) {
  const auto coefficients = call.reals("coefficients");
  const auto rho = call.reals("rho");
  if (!coefficients || !rho || rho->empty())
    call.fail("attributes coefficients, rho are missing");
  const int64_t count = call.integer("n_supports", 0);
  const Value x = cast(call, call[0], DType::f32);
  const Value factors =
      held(call, unsqueeze(number_list(call, *coefficients, DType::f32), 1));
  Value sums;
  if (count > 0) {
    const auto vectors = call.reals("support_vectors");
    if (!vectors) call.fail("attribute support_vectors is missing");
    const Value rows =
        held(call, reshape(number_list(call, *vectors, DType::f32),
                           Value::list({count, -1})));
    sums = matmul(support_kernel(call, x, rows), factors);
  } else {
    sums = matmul(x, factors);
  }
  const Value y = sums + rho->front();
  if (!call.flag("one_class", false)) return transformed(call, y);
  return where(y > 0, ones_like(y), -ones_like(y));
}

// A list of maps from labels to scores is not given: the scores are, by column.
Results zip_map(Call& call) { return call.operand(0); }

constexpr OpRow kEstimatorsOps[] = {
    {.op = "LinearClassifier", .run = linear_classifier, .domain = kMl},
    {.op = "LinearRegressor", .run = linear_regressor, .domain = kMl},
    {.op = "SVMRegressor", .run = svm_regressor, .domain = kMl},
    {.op = "ZipMap", .run = zip_map, .domain = kMl},
};

}  // namespace

std::span<const OpRow> estimator_rows() { return kEstimatorsOps; }

}  // namespace fxjit::onnx
