// ctc_loss: how unlikely sequences of labels are, whatever their places among
// the blanks of longer lines. A loop of C++ over time; the rest is composed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b, double c) {
  const double high = std::max({a, b, c});
  if (high == kNever) return kNever;
  return high +
         std::log(std::exp(a - high) + std::exp(b - high) + std::exp(c - high));
}

// The logarithm of the probability of `labels` in `time` rows of logarithms of
// probabilities; at(t, c) is that of class c.
template <typename At>
double log_chance(const At& at, int64_t time, std::span<const int64_t> labels,
                  int64_t blank) {
  const size_t states = 2 * labels.size() + 1;  // Blanks around each label.
  if (time == 0) return labels.empty() ? 0 : kNever;
  const auto label = [&](size_t s) { return s % 2 ? labels[s / 2] : blank; };
  std::vector<double> now(states, kNever), next(states);
  now[0] = at(0, blank);
  if (states > 1) now[1] = at(0, label(1));
  for (int64_t t = 1; t < time; ++t) {
    for (size_t s = 0; s < states; ++s) {
      const bool skips = s > 1 && s % 2 && label(s) != label(s - 2);
      next[s] = at(t, label(s)) + log_sum(now[s], s > 0 ? now[s - 1] : kNever,
                                          skips ? now[s - 2] : kNever);
    }
    now.swap(next);
  }
  return log_sum(now[states - 1], states > 1 ? now[states - 2] : kNever,
                 kNever);
}

std::vector<int64_t> lengths_of(const Value& given) {
  std::vector<int64_t> lengths;
  if (!given.is_tensor()) {
    for (int64_t each : given.as_dims()) lengths.push_back(each);
    return lengths;
  }
  const Tensor numbers = given.as_tensor().to(DType::i64).contiguous();
  const auto* first = numbers.data_as<int64_t>();
  lengths.assign(first, first + numbers.numel());
  return lengths;
}

void check_lengths(const std::vector<int64_t>& lengths, int64_t most,
                   const char* name) {
  for (int64_t length : lengths)
    if (length < 0 || length > most)
      runtime_error("ctc_loss: expected ", name, " from 0 to ", most, ", got ",
                    length);
}

// Where the labels of each sample begin: rows of a matrix, or one behind the
// other.
std::vector<int64_t> starts_of(const Tensor& targets,
                               const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts;
  int64_t sum = 0;
  for (size_t n = 0; n < lengths.size(); ++n) {
    starts.push_back(
        targets.dim() > 1
            ? static_cast<int64_t>(static_cast<int64_t>(n) * targets.sizes()[1])
            : sum);
    sum += lengths[n];
  }
  if (targets.dim() == 1 && sum != targets.numel())
    runtime_error("ctc_loss: expected ", sum,
                  " targets, the sum of their lengths, got ", targets.numel());
  return starts;
}

// log_probs [T, N, C], targets [N, S] or [sum], lengths of N.
void direct_ctc(const OpCall& call, std::span<const Tensor> results) {
  const Tensor chances = call.tensor(0).to(DType::f64).contiguous();
  const Tensor targets = call.tensor(1).to(DType::i64).contiguous();
  const int64_t time = chances.sizes()[0], samples = chances.sizes()[1];
  const int64_t classes = chances.sizes()[2], blank = call.integer(4);
  const std::vector<int64_t> times = lengths_of(call[2]);
  const std::vector<int64_t> lengths = lengths_of(call[3]);
  check_lengths(times, time, "input_lengths");
  check_lengths(lengths,
                targets.dim() > 1 ? targets.sizes()[1] : targets.numel(),
                "target_lengths");
  const std::vector<int64_t> starts = starts_of(targets, lengths);
  const Tensor found = Tensor::empty({samples}, DType::f64);
  for (int64_t n = 0; n < samples; ++n) {
    const auto i = static_cast<size_t>(n);
    const std::span<const int64_t> labels(
        targets.data_as<int64_t>() + starts[i],
        static_cast<size_t>(lengths[i]));
    for (int64_t label : labels)
      if (label < 0 || label >= classes)
        runtime_error("ctc_loss: expected targets from 0 to ", classes - 1,
                      ", got ", label);
    const double* sample = chances.data_as<double>() + n * classes;
    found.data_as<double>()[n] = -log_chance(
        [&](int64_t t, int64_t c) { return sample[t * samples * classes + c]; },
        times[i], labels, blank);
  }
  results[0].copy_from(found);
}

Value infer_ctc(const OpCall& call) {
  const Tensor& chances = call.tensor(0);
  const Tensor& targets = call.tensor(1);
  if (chances.dtype() != DType::f32 && chances.dtype() != DType::f64)
    throw NotImplementedError("ctc_loss: expected float32 or float64, got " +
                              std::string(dtype_name(chances.dtype())));
  if (targets.dim() != 1 &&
      (targets.dim() != 2 || targets.sizes()[0] != chances.sizes()[1]))
    runtime_error("ctc_loss: expected targets [sum] or [", chances.sizes()[1],
                  ", S], got ", targets.sizes());
  for (size_t i : {size_t{2}, size_t{3}}) {
    const int64_t count = call[i].is_tensor()
                              ? int64_t(call[i].as_tensor().numel())
                              : static_cast<int64_t>(call[i].size());
    if (count != chances.sizes()[1])
      runtime_error(i == 2 ? "input_lengths" : "target_lengths",
                    " must be of size batch_size");
  }
  if (call.integer(4) < 0 || call.integer(4) >= chances.sizes()[2])
    runtime_error("blank must be in label range");
  return Tensor::meta({chances.sizes()[1]}, chances.dtype());
}

// Lengths as one number each, or as they are.
Value as_lengths(const Value& given) {
  if (given.is_int()) return Value::tuple({given});
  return given.is_sequence() ? given : fxjit::reshape(given, {-1});
}

Value as_numbers(const Value& lengths, DType dtype) {
  if (!lengths.is_sequence()) return cast_to(lengths, dtype);
  std::vector<int64_t> numbers;
  for (int64_t each : lengths.as_dims()) numbers.push_back(each);
  return tensor_of(numbers).to(dtype);
}

Value ctc_loss(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  const bool single = meta.dim() == 2;
  if (!single && meta.dim() != 3)
    runtime_error("ctc_loss: expected log_probs [T, N, C] or [T, C], got ",
                  meta.sizes());
  const std::string how = checked_reduction(call[5]);
  const Value chances = single ? fxjit::unsqueeze(call[0], 1) : call[0];
  const Value lengths = as_lengths(call[3]);
  Value loss = call_row(
      "_ctc_loss", {chances, call[1], as_lengths(call[2]), lengths, call[4]});
  if (call.flag(6)) loss = fxjit::where(fxjit::isinf(loss), 0.0, loss);
  if (how == "sum") return fxjit::sum(loss);
  if (how == "mean")
    return fxjit::mean(loss /
                       fxjit::clamp_min(as_numbers(lengths, meta.dtype()), 1));
  return single ? fxjit::squeeze(loss, 0) : loss;
}

constexpr OpRow kCtcLossRows[] = {
    direct_row("_ctc_loss",
               "log_probs, targets, input_lengths, target_lengths, blank=0", "",
               infer_ctc, direct_ctc),
    composed_row("ctc_loss",
                 "log_probs, targets, input_lengths, target_lengths, blank=0, "
                 "reduction='mean', zero_infinity=False",
                 "torch.nn.functional.ctc_loss!", ctc_loss),
};

}  // namespace

std::span<const OpRow> ctc_rows() { return kCtcLossRows; }

}  // namespace fxjit::ops
