#include "src/import/onnx/ops/coupling.h"

#include <algorithm>
#include <cmath>

#include "fxjit/fx/target.h"

namespace fxjit::onnx {
namespace {

// Probabilities of classes from those of the first of each pair, by the second
// method of Wu, Lin and Weng (https://jmlr.org/papers/v5/wu04a.html), which
// libsvm iterates up to this often and until no error is larger than 0.005 / k.
constexpr int kCouplingTurns = 100;

// What one class's probability changes by, and all others with it.
class Coupling {
 public:
  // `pairs` has the probability of class i beside class j for each i < j.
  Coupling(const float* pairs, size_t classes)
      : classes_(classes), q_(classes * classes), qp_(classes) {
    for (size_t i = 0; i < classes; ++i)
      for (size_t j = i + 1; j < classes; ++j) {
        const float first = *pairs++, second = 1 - first;
        q_[i * classes + i] += second * second;
        q_[j * classes + j] += first * first;
        q_[i * classes + j] = q_[j * classes + i] = -first * second;
      }
  }

  void run(float* p) {
    std::fill_n(p, classes_, 1.0f / static_cast<float>(classes_));
    for (int turn = 0; turn < kCouplingTurns && !is_done(p); ++turn)
      for (size_t t = 0; t < classes_; ++t) change(t, p);
  }

 private:
  bool is_done(const float* p) {
    sum_ = 0;
    for (size_t i = 0; i < classes_; ++i) {
      qp_[i] = 0;
      for (size_t j = 0; j < classes_; ++j)
        qp_[i] += q_[i * classes_ + j] * p[j];
      sum_ += p[i] * qp_[i];
    }
    float error = 0;
    for (const float one : qp_) error = std::max(error, std::abs(one - sum_));
    return error < 0.005f / static_cast<float>(classes_);
  }

  void change(size_t t, float* p) {
    const float own = q_[t * classes_ + t], by = (sum_ - qp_[t]) / own;
    p[t] += by;
    sum_ = (sum_ + by * (by * own + 2 * qp_[t])) / (1 + by) / (1 + by);
    for (size_t i = 0; i < classes_; ++i) {
      qp_[i] = (qp_[i] + by * q_[t * classes_ + i]) / (1 + by);
      p[i] /= 1 + by;
    }
  }

  const size_t classes_;
  std::vector<float> q_, qp_;
  float sum_ = 0;
};

// (float [n, pairs], number of classes): [n, classes].
Value coupled(const ValueList& args, const Kwargs&) {
  const Tensor pairs = args.at(0).as_tensor().contiguous();
  const int64_t classes = args.at(1).as_int();
  const Tensor made = Tensor::empty({pairs.size(0), classes}, DType::f32);
  for (int64_t i = 0; i < pairs.size(0); ++i)
    Coupling(pairs.data_as<float>() + i * pairs.size(1),
             static_cast<size_t>(classes))
        .run(made.data_as<float>() + i * classes);
  return made;
}

}  // namespace

Value coupled_classes(const Call& call, const Value& pairs, int64_t classes) {
  static const fx::Function& function =
      fx::define_function("fxjit.onnx.coupled_classes", coupled);
  Value example;
  if (const Value known = Recorder::example(pairs); known.is_tensor())
    example = Tensor::meta({known.as_tensor().size(0), classes}, DType::f32);
  return call.recorder().record_function(function, {pairs, classes}, example);
}

}  // namespace fxjit::onnx
