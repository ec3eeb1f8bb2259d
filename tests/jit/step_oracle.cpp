#include "tests/jit/step_oracle.h"

#include <algorithm>
#include <limits>

namespace fxjit::jit::testing {
namespace {

using program::Access;

// A line of positions over which reductions run.
struct Line {
  int64_t count = 0;  // May be 0; there is a position 0 all the same.
  std::function<Number(int32_t slot, int64_t position)> load;
  std::function<int64_t(int32_t dim, int64_t position)> index;
};

class LineEvaluator {
 public:
  LineEvaluator(const ScalarBody& body, const Line& line)
      : body_(body), line_(line) {
    const auto positions =
        static_cast<size_t>(std::max<int64_t>(1, line.count));
    for (const ScalarInstr& instr : body.instrs) {
      std::vector<Number> values(positions);
      if (is_reduction(instr.prim)) {
        std::fill(values.begin(), values.end(), reduce(instr));
      } else {
        for (size_t p = 0; p < positions; ++p) values[p] = one(instr, p);
      }
      values_.push_back(std::move(values));
    }
  }

  Number result(size_t r, int64_t position) const {
    return values_[static_cast<size_t>(body_.results[r])]
                  [static_cast<size_t>(position)];
  }

 private:
  const Number& arg(const ScalarInstr& instr, size_t a, size_t p) const {
    return values_[static_cast<size_t>(instr.args[a])][p];
  }
  DType arg_type(const ScalarInstr& instr, size_t a) const {
    return body_.instrs[static_cast<size_t>(instr.args[a])].type;
  }

  Number one(const ScalarInstr& instr, size_t p) const {
    const auto position = static_cast<int64_t>(p);
    switch (instr.prim) {
      case Prim::input:
        return line_.count == 0 ? Number{} : line_.load(instr.slot, position);
      case Prim::constant:
        return is_floating(instr.type) ? Number{rounded(instr), 0}
                                       : Number{0, instr.bits};
      case Prim::index:
        return {0, line_.index(instr.slot, position)};
      case Prim::select:
        return arg(instr, 0, p).whole ? arg(instr, 1, p) : arg(instr, 2, p);
      case Prim::cast:
        return cast_result(arg(instr, 0, p), arg_type(instr, 0), instr.type);
      default:
        return compute(instr, p);
    }
  }

  static double rounded(const ScalarInstr& instr) {
    return instr.type == DType::f32 ? static_cast<float>(instr.imm) : instr.imm;
  }

  Number compute(const ScalarInstr& instr, size_t p) const {
    const Number none;
    return prim_result(instr.prim, arg_type(instr, 0), arg(instr, 0, p),
                       prim_arity(instr.prim) > 1 ? arg(instr, 1, p) : none);
  }

  Number reduce(const ScalarInstr& instr) const {
    Number sum = identity(instr);
    for (int64_t p = 0; p < line_.count; ++p) {
      sum = prim_result(step(instr.prim), instr.type, sum,
                        arg(instr, 0, static_cast<size_t>(p)));
    }
    return sum;
  }

  static Prim step(Prim reduction) {
    switch (reduction) {
      case Prim::reduce_sum:
        return Prim::add;
      case Prim::reduce_prod:
        return Prim::mul;
      case Prim::reduce_max:
        return Prim::maximum;
      case Prim::reduce_min:
        return Prim::minimum;
      case Prim::reduce_any:
        return Prim::bit_or;
      default:
        return Prim::bit_and;
    }
  }

  static Number identity(const ScalarInstr& instr) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto bits = static_cast<int>(8 * dtype_size(instr.type));
    const bool is_unsigned =
        instr.type == DType::u8 || instr.type == DType::boolean;
    const int64_t greatest =
        instr.type == DType::boolean ? 1
        : is_unsigned                ? 255
                      : static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    switch (instr.prim) {
      case Prim::reduce_prod:
      case Prim::reduce_all:
        return {1, 1};
      case Prim::reduce_max:
        return {-infinity, is_unsigned ? 0 : -greatest - 1};
      case Prim::reduce_min:
        return {infinity, greatest};
      default:
        return {};
    }
  }

  const ScalarBody& body_;
  const Line& line_;
  std::vector<std::vector<Number>> values_;
};

// Calls fn for every index tuple of `sizes`, in row-major order.
void for_each_point(const Dims& sizes,
                    const std::function<void(const Dims&)>& fn) {
  Dims point(sizes.size(), 0);
  for (int64_t i = 0; i < numel(sizes); ++i) {
    fn(point);
    for (int d = sizes.size() - 1; d >= 0 && ++point[d] == sizes[d]; --d) {
      point[d] = 0;
    }
  }
}

int64_t dot(const Dims& strides, const Dims& point) {
  int64_t sum = 0;
  for (int d = 0; d < strides.size(); ++d) sum += strides[d] * point[d];
  return sum;
}

Number load(const Operands& operands, size_t slot, DType dtype,
            int64_t offset) {
  const auto* base = static_cast<const std::byte*>(operands[slot]);
  return read_number(dtype,
                     base + offset * static_cast<int64_t>(dtype_size(dtype)));
}

int64_t offset_of(const Access& access, const Dims& outer, const Dims& reduce,
                  int64_t inner) {
  return dot(access.outer, outer) + dot(access.reduce, reduce) +
         access.inner * inner;
}

// Element of input `slot` with its gather, if any.
Number load_input(const std::vector<Access>& inputs, const Operands& operands,
                  size_t slot, const Dims& outer, const Dims& reduce,
                  int64_t inner) {
  const Access& access = inputs[slot];
  int64_t offset = offset_of(access, outer, reduce, inner);
  if (access.gather_slot >= 0) {
    const auto at = static_cast<size_t>(access.gather_slot);
    const int64_t index = load(operands, at, inputs[at].dtype,
                               offset_of(inputs[at], outer, reduce, inner))
                              .whole;
    const bool inside = index >= 0 && index < access.gather_limit;
    offset += (inside ? index : 0) * access.gather_stride;
  }
  return load(operands, slot, access.dtype, offset);
}

template <typename Step>
Expected make_expected(const Step& step, size_t r, int64_t offset,
                       const Number& number) {
  const auto id = static_cast<size_t>(step.body.results[r]);
  return {r, offset, number, step.body.instrs[id].type};
}

}  // namespace

std::vector<Expected> expected_results(const program::RowStep& step,
                                       const Operands& operands) {
  std::vector<Expected> all;
  for_each_point(step.outer, [&](const Dims& outer) {
    Line line;
    line.count = step.inner;
    line.load = [&](int32_t slot, int64_t position) {
      return load_input(step.inputs, operands, static_cast<size_t>(slot), outer,
                        Dims(), position);
    };
    line.index = [&](int32_t dim, int64_t position) -> int64_t {
      return dim < outer.size() ? outer[dim] : Size(position);
    };
    const LineEvaluator values(step.body, line);
    for (size_t r = 0; r < step.outputs.size(); ++r) {
      const Access& access = step.outputs[r];
      const int64_t count = access.inner == 0 ? 1 : step.inner;
      for (int64_t i = 0; i < count; ++i) {
        all.push_back(make_expected(
            step, r, offset_of(access, outer, Dims(), i), values.result(r, i)));
      }
    }
  });
  return all;
}

std::vector<Expected> expected_results(const program::ColumnStep& step,
                                       const Operands& operands) {
  std::vector<Expected> all;
  Dims kept = step.outer;
  kept.push_back(step.inner);
  std::vector<Dims> points;
  for_each_point(step.reduce, [&](const Dims& p) { points.push_back(p); });
  for_each_point(kept, [&](const Dims& point) {
    Dims outer = point;
    outer.resize(step.outer.size());
    const int64_t inner = point.back();
    const auto reduced = [&](int64_t position) {
      return points.empty() ? Dims(step.reduce.size(), 0)
                            : points[static_cast<size_t>(position)];
    };
    Line line;
    line.count = static_cast<int64_t>(points.size());
    line.load = [&](int32_t slot, int64_t position) {
      return load_input(step.inputs, operands, static_cast<size_t>(slot), outer,
                        reduced(position), inner);
    };
    line.index = [&](int32_t dim, int64_t position) -> int64_t {
      if (dim < outer.size()) return outer[dim];
      const int at = dim - outer.size();
      return at < step.reduce.size() ? reduced(position)[at] : Size(inner);
    };
    const LineEvaluator values(step.body, line);
    for (size_t r = 0; r < step.outputs.size(); ++r) {
      all.push_back(make_expected(
          step, r, offset_of(step.outputs[r], outer, Dims(), inner),
          values.result(r, 0)));
    }
  });
  return all;
}

}  // namespace fxjit::jit::testing
