#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/routines.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels {
namespace {

// Lines summed side by side, so that one line's additions need not wait for
// another's.
constexpr int64_t kBlock = 32;
constexpr size_t kTogether = 16;

// The lines along one axis: how to reach line i in input and output.
struct Lines {
  Dims sizes, from, to;  // The other dims' sizes and strides.
  int64_t count = 1;
  int64_t length = 1, from_step = 0, to_step = 0;

  Lines(const Tensor& input, const Tensor& out, int axis) {
    for (int d = 0; d < input.dim(); ++d) {
      if (d == axis) {
        length = input.sizes()[d];
        from_step = input.strides()[d];
        to_step = out.strides()[d];
      } else {
        sizes.push_back(input.sizes()[d]);
        from.push_back(input.strides()[d]);
        to.push_back(out.strides()[d]);
      }
    }
    count = numel(sizes);
  }
};

struct Offsets {
  std::array<int64_t, kBlock> from, to;
  bool side_by_side = true;  // Elements of neighbouring lines are neighbours.
};

Offsets offsets_of(const Lines& lines, int64_t first, int64_t count) {
  Offsets offsets;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = first + i, from = 0, to = 0;
    for (int d = lines.sizes.size() - 1; d >= 0; --d) {
      const int64_t at = rest % lines.sizes[d];
      rest /= lines.sizes[d];
      from += at * lines.from[d];
      to += at * lines.to[d];
    }
    const auto k = static_cast<size_t>(i);
    offsets.from[k] = from;
    offsets.to[k] = to;
    offsets.side_by_side = offsets.side_by_side &&
                           from == offsets.from[0] + i &&
                           to == offsets.to[0] + i;
  }
  return offsets;
}

template <typename In>
using TotalOf = std::conditional_t<std::is_integral_v<In>, uint64_t, double>;

template <typename In, typename Out, typename From, typename To>
void sum_lines(const Lines& lines, int64_t count, const In* input, Out* out,
               From from, To to) {
  using Total = TotalOf<In>;
  std::array<Total, kBlock> totals{};
  for (int64_t i = 0; i < lines.length; ++i) {
    const In* line_in = input + i * lines.from_step;
    Out* line_out = out + i * lines.to_step;
    for (int64_t k = 0; k < count; ++k) {
      Total& total = totals[static_cast<size_t>(k)];
      total += convert<Total>(line_in[from(k)]);
      line_out[to(k)] = convert<Out>(total);
    }
  }
}

// Neighbours, as many as keep their totals in vector registers.
template <typename In, typename Out>
void sum_neighbours(const Lines& lines, const In* input, Out* out) {
  std::array<TotalOf<In>, kTogether> totals{};
  for (int64_t i = 0; i < lines.length; ++i) {
    for (size_t k = 0; k < kTogether; ++k)
      totals[k] += convert<TotalOf<In>>(input[k]);
    for (size_t k = 0; k < kTogether; ++k) out[k] = convert<Out>(totals[k]);
    input += lines.from_step;
    out += lines.to_step;
  }
}

template <typename In, typename Out>
void sum_block(const Lines& lines, int64_t first, int64_t count,
               const In* input, Out* out) {
  const Offsets offsets = offsets_of(lines, first, count);
  if (offsets.side_by_side) {
    input += offsets.from[0], out += offsets.to[0];
    for (; count >= int64_t{kTogether}; count -= kTogether) {
      sum_neighbours(lines, input, out);
      input += kTogether, out += kTogether;
    }
    const auto next = [](int64_t k) { return k; };
    return sum_lines(lines, count, input, out, next, next);
  }
  sum_lines(
      lines, count, input, out,
      [&](int64_t k) { return offsets.from[static_cast<size_t>(k)]; },
      [&](int64_t k) { return offsets.to[static_cast<size_t>(k)]; });
}

// Operands: input, output. A task is a block of lines.
class ScanRoutine : public program::ExternCode {
 public:
  ScanRoutine(const Tensor& input, const Tensor& out, int axis)
      : dtype_(input.dtype()), lines_(input, out, axis) {}

  int64_t tasks() const override {
    return lines_.length == 0 ? 0 : (lines_.count + kBlock - 1) / kBlock;
  }
  std::string describe() const override { return "cumulative sum"; }
  ComputedBy computed_by() const override { return ComputedBy::routine; }

  void run(const program::StepCall& call, int64_t begin,
           int64_t end) const override {
    visit_dtype(dtype_, [&](auto type) {
      using In = typename decltype(type)::type;
      using Out = std::conditional_t<std::is_integral_v<In>, int64_t, In>;
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kBlock;
        sum_block(lines_, first, std::min(kBlock, lines_.count - first),
                  static_cast<const In*>(call.operands[0]),
                  static_cast<Out*>(call.operands[1]));
      }
    });
  }

 private:
  DType dtype_;
  Lines lines_;
};

}  // namespace

std::shared_ptr<const program::ExternCode> make_scan_routine(
    const CallRequest& request) {
  const ops::OpCall call{request.op, request.args};
  const Tensor& input = call.tensor(0);
  const Tensor& out = request.results[0].as_tensor();
  return std::make_shared<ScanRoutine>(input, out,
                                       wrap_dim(call.integer(1), input.dim()));
}

}  // namespace fxjit::kernels
