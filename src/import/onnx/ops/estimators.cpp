// Linear models and support vectors of ai.onnx.ml, and what trees share with
// them.
#include "src/import/onnx/ops/estimators.h"

#include <algorithm>
#include <cmath>

#include "src/import/onnx/ops/coupling.h"
#include "src/import/onnx/texts.h"

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

ClassLabels class_labels(const Call& call, std::string_view integers,
                         std::string_view texts) {
  const auto strings = call.texts(texts);
  if (!strings.empty()) return {{}, {strings.begin(), strings.end()}};
  const auto labels = call.integers(integers);
  if (labels && !labels->empty()) return {*labels, {}};
  call.fail("attributes " + std::string(integers) + ", " + std::string(texts) +
            ": expected one of them");
}

Operand labels_at(const Call& call, const ClassLabels& labels,
                  const Value& places) {
  if (!labels.texts.empty()) return text_tensor(places, labels.texts);
  return index_dim(integer_list(call, labels.numbers), 0, places);
}

Results binary_results(const Call& call, const ClassLabels& labels,
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
  const ClassLabels labels = class_labels(call, "classlabels_ints");
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

// --- Support vectors that vote for classes, two by two. ---

class VotingVectors {
 public:
  VotingVectors(const Call& call, size_t classes)
      : call_(call),
        classes_(classes),
        pairs_(classes * (classes - 1) / 2),
        counts_(*call.integers("vectors_per_class")) {
    for (const int64_t count : counts_) {
      if (count < 0) call.fail("vectors_per_class: " + std::to_string(count));
      starts_.push_back(vectors_);
      vectors_ += static_cast<size_t>(count);
    }
    if (counts_.size() != classes || vectors_ == 0)
      call.fail("vectors_per_class: expected a number for each class");
  }

  size_t pairs() const { return pairs_; }

  // [n, pairs]: above 0 where the first class of a pair wins.
  Value scores(const Value& x) const {
    const std::vector<double> vectors = numbers("support_vectors", vectors_);
    const Value rows =
        held(call_, reshape(number_list(call_, vectors, DType::f32),
                            Value::list({static_cast<int64_t>(vectors_), -1})));
    // Sums of many terms of both signs.
    const Value products =
        cast(call_, support_kernel(call_, x, rows), DType::f64);
    const Value rho = number_list(call_, numbers("rho", pairs_), DType::f64);
    const Value sums = matmul(products, weights()) +
                       narrow(rho, 0, 0, static_cast<int64_t>(pairs_));
    return cast(call_, sums, DType::f32);
  }

  // The place of the class with the most wins, the first of several.
  Value winners(const Value& scores) const {
    std::vector<double> first(pairs_ * classes_), all(classes_);
    each_pair([&](size_t pair, size_t i, size_t j) {
      first[pair * classes_ + i] = 1;
      first[pair * classes_ + j] = -1;
      all[j] += 1;
    });
    const Value wins = cast(call_, scores > 0, DType::f32);
    return argmax(matmul(wins, matrix(first, pairs_, DType::f32)) +
                      number_list(call_, all, DType::f32),
                  -1);
  }

  // Of each class, by the logistic function fitted to each pair.
  Value probabilities(const Value& scores) const {
    const auto list = [&](const char* name) {
      return narrow(number_list(call_, numbers(name, pairs_), DType::f32), 0, 0,
                    static_cast<int64_t>(pairs_));
    };
    const Value first = sigmoid(-(scores * list("prob_a") + list("prob_b")));
    return coupled_classes(call_, clamp(first, 1e-7, 1 - 1e-7),
                           static_cast<int64_t>(classes_));
  }

 private:
  std::vector<double> numbers(const char* name, size_t least) const {
    const auto found = call_.reals(name);
    if (!found || found->size() < least)
      call_.fail("attribute " + std::string(name) + ": expected at least " +
                 std::to_string(least) + " numbers");
    return *found;
  }

  template <typename Visit>
  void each_pair(const Visit& visit) const {
    size_t pair = 0;
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = i + 1; j < classes_; ++j) visit(pair++, i, j);
  }

  Value matrix(const std::vector<double>& items, size_t rows,
               DType dtype) const {
    return held(call_, reshape(number_list(call_, items, dtype),
                               Value::list({static_cast<int64_t>(rows), -1})));
  }

  // [vectors, pairs]. The coefficients of a class's vectors beside another
  // class stand in the row of that class, one less behind its own.
  Value weights() const {
    const std::vector<double> given =
        numbers("coefficients", (classes_ - 1) * vectors_);
    std::vector<double> made(vectors_ * pairs_);
    each_pair([&](size_t pair, size_t i, size_t j) {
      for (size_t m = 0; m < static_cast<size_t>(counts_[i]); ++m)
        made[(starts_[i] + m) * pairs_ + pair] =
            given[(j - 1) * vectors_ + starts_[i] + m];
      for (size_t m = 0; m < static_cast<size_t>(counts_[j]); ++m)
        made[(starts_[j] + m) * pairs_ + pair] =
            given[i * vectors_ + starts_[j] + m];
    });
    return matrix(made, vectors_, DType::f64);
  }

  const Call& call_;
  const size_t classes_, pairs_;
  const std::vector<int64_t> counts_;
  std::vector<size_t> starts_;
  size_t vectors_ = 0;
};

// The class of each row of scores. Of two classes, ONNX Runtime's rule, since
// the standard has none: the second one wherever the greatest score is beyond a
// threshold, without probabilities.
Value linear_winners(const Call& call, const Value& scores, size_t classes) {
  const Value greatest = argmax(scores, -1);
  if (classes != 2 || call.has_attribute("prob_a")) return greatest;
  const Value top = amax(scores, Value::list({-1}));
  const auto coefficients = call.reals("coefficients");
  const bool none_negative = std::ranges::all_of(
      *coefficients, [](double number) { return number >= 0; });
  return where(none_negative ? top >= 0.5 : top > 0, 1, greatest);
}

// Without support vectors the coefficients are those of each class.
Results linear_svm(const Call& call, const ClassLabels& labels) {
  const auto rho = call.reals("rho");
  if (!rho || rho->empty()) call.fail("attribute rho is missing");
  const Value scores = linear_scores(call, labels.size()) + rho->front();
  return std::vector<Operand>{
      labels_at(call, labels, linear_winners(call, scores, labels.size())),
      transformed(call, scores)};
}

Results svm_classifier(Call& call) {
  const ClassLabels labels = class_labels(call, "classlabels_ints");
  const auto counts = call.integers("vectors_per_class");
  if (labels.size() < 2) call.fail("classes: expected at least two");
  if (!counts || counts->empty()) return linear_svm(call, labels);
  const Value given = cast(call, call[0], DType::f32);
  const Value x = call.rank(0) == 1 ? unsqueeze(given, 0) : given;
  const VotingVectors voting(call, labels.size());
  const Value scores = voting.scores(x);
  const Operand label = labels_at(call, labels, voting.winners(scores));
  if (call.has_attribute("prob_a"))
    return std::vector<Operand>{
        label, transformed(call, voting.probabilities(scores))};
  if (voting.pairs() > 1)
    return std::vector<Operand>{label, transformed(call, scores)};
  const bool plain = call.text("post_transform", "NONE") == "NONE";
  const Value other = plain ? -scores : 1 - scores;
  return std::vector<Operand>{label, cat(Value::list({other, scores}), -1)};
}

// The scores, by column; what is a list of maps to callers is known of them.
Results zip_map(Call& call) {
  const ClassLabels labels =
      class_labels(call, "classlabels_int64s", "classlabels_strings");
  Operand scores = call.operand(0);
  ValueList columns(labels.texts.begin(), labels.texts.end());
  columns.insert(columns.end(), labels.numbers.begin(), labels.numbers.end());
  scores.columns = std::make_shared<const ValueList>(std::move(columns));
  return scores;
}

constexpr OpRow kEstimatorsOps[] = {
    {.op = "LinearClassifier", .run = linear_classifier, .domain = kMl},
    {.op = "LinearRegressor", .run = linear_regressor, .domain = kMl},
    {.op = "SVMClassifier", .run = svm_classifier, .domain = kMl},
    {.op = "SVMRegressor", .run = svm_regressor, .domain = kMl},
    {.op = "ZipMap", .run = zip_map, .domain = kMl},
};

}  // namespace

std::span<const OpRow> estimator_rows() { return kEstimatorsOps; }

}  // namespace fxjit::onnx
