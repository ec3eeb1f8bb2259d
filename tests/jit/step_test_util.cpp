#include "tests/jit/step_test_util.h"
#include "tests/jit/build_ir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/ir_module.h"
#include "src/program/steps/steps.h"
#include "tests/jit/emulated.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit::testing {
namespace {

using program::Access;
using program::ColumnStep;
using program::RowStep;
using support::GuardedBytes;

constexpr std::byte kUntouched{0xa5};

using program::StepBody;

void emit_step(VectorBuilder& b, const RowStep& step) {
  emit(b, program::row_form(step, b.level()));
}
void emit_step(VectorBuilder& b, const ColumnStep& step) {
  emit(b, program::column_form(step, b.level()));
}
template <typename Step>
void emit_step(VectorBuilder&, const Step&) {
  FAIL() << "no such step here";
}

std::vector<int64_t> arguments_of(const StepBody& step) {
  if (const auto* rows = std::get_if<RowStep>(&step))
    return program::step_arguments(*rows);
  return program::step_arguments(std::get<ColumnStep>(step));
}

int64_t reach(const Dims& strides, const Dims& sizes) {
  int64_t last = 0;
  for (int d = 0; d < strides.size(); ++d) {
    last += strides[d] * std::max<int64_t>(0, sizes[d] - 1);
  }
  return last;
}

// Elements that an access may touch.
int64_t extent(const Access& access, const Dims& outer, const Dims& reduce,
               int64_t inner) {
  int64_t last = reach(access.outer, outer) + reach(access.reduce, reduce) +
                 access.inner * std::max<int64_t>(0, inner - 1);
  if (access.gather_slot >= 0) {
    last += access.gather_stride * (access.gather_limit - 1);
  }
  return last + 1;
}

const Dims& reduce_dims(const ColumnStep& step) { return step.reduce; }
Dims reduce_dims(const RowStep&) { return {}; }

double rounding(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

// Of all types that values pass through.
double coarsest_rounding(const ScalarBody& body) {
  double unit = 0;
  for (const ScalarInstr& instr : body.instrs) {
    if (is_floating(instr.type)) unit = std::max(unit, rounding(instr.type));
  }
  return unit;
}

bool agrees(const Expected& want, DType dtype, const Number& got, double unit,
            const CheckOptions& options) {
  if (!is_floating(dtype)) {
    return got.whole == cast_result(want.number, want.type, dtype).whole;
  }
  const double expected = as_double(want.type, want.number);
  if (std::isnan(expected)) return std::isnan(got.real);
  if (std::isinf(expected)) return got.real == expected;
  unit = std::max(unit, rounding(dtype));
  const double scale = std::max(std::fabs(expected), options.scale);
  return std::fabs(got.real - expected) <= options.units * unit * scale;
}

// One step with its operands.
template <typename Step>
class Check {
 public:
  Check(const Step& step, const CheckOptions& options,
        GuardedBytes::Tight tight)
      : step_(step), options_(options), tight_(tight) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      inputs_.push_back(allocate(step.inputs[i]));
      fill(i);
      addresses_.push_back(inputs_.back()->data());
      copies_.emplace_back(inputs_.back()->data(),
                           inputs_.back()->data() + inputs_.back()->size());
    }
    for (const Access& access : step.outputs) {
      outputs_.push_back(allocate(access));
      addresses_.push_back(outputs_.back()->data());
    }
    want_ = expected_results(step, {addresses_.begin(), addresses_.end()});
  }

  void run(const StepKernel& kernel) {
    clear();
    EXPECT_EQ(kernel.run(addresses_, 0, kernel.tasks()), options_.status);
    compare();
    const auto whole = snapshot();
    clear();
    for (int64_t first = 0, n = 1; first < kernel.tasks(); first += n, ++n) {
      kernel.run(addresses_, first, std::min(first + n, kernel.tasks()));
    }
    EXPECT_TRUE(whole == snapshot()) << "differs when cut into tasks";
    for (size_t i = 0; i < inputs_.size(); ++i) {
      EXPECT_EQ(std::memcmp(inputs_[i]->data(), copies_[i].data(),
                            inputs_[i]->size()),
                0)
          << "input " << i << " changed";
    }
  }

 private:
  std::unique_ptr<GuardedBytes> allocate(const Access& access) {
    const int64_t elements =
        extent(access, step_.outer, reduce_dims(step_), step_.inner);
    return std::make_unique<GuardedBytes>(
        static_cast<size_t>(elements) * dtype_size(access.dtype), tight_);
  }

  void fill(size_t slot) {
    const DType dtype = step_.inputs[slot].dtype;
    const size_t size = dtype_size(dtype);
    for (size_t i = 0; i < inputs_[slot]->size() / size; ++i) {
      const auto at = static_cast<int64_t>(i);
      write_number(
          dtype, inputs_[slot]->data() + i * size,
          options_.fill ? options_.fill(slot, at) : sample(dtype, slot, at));
    }
  }

  void clear() {
    for (const auto& output : outputs_) {
      std::fill_n(output->data(), output->size(), kUntouched);
    }
  }

  std::vector<std::byte> snapshot() const {
    std::vector<std::byte> all;
    for (const auto& output : outputs_) {
      all.insert(all.end(), output->data(), output->data() + output->size());
    }
    return all;
  }

  void compare() {
    std::vector<std::vector<bool>> written;
    for (const auto& output : outputs_) written.emplace_back(output->size());
    const double unit = coarsest_rounding(step_.body);
    int shown = 0;
    for (const Expected& want : want_) {
      const DType dtype = step_.outputs[want.output].dtype;
      const size_t size = dtype_size(dtype);
      const size_t at = static_cast<size_t>(want.offset) * size;
      const std::byte* place = outputs_[want.output]->data() + at;
      std::fill_n(written[want.output].begin() + std::ptrdiff_t(at), size,
                  true);
      const Number got = read_number(dtype, place);
      const bool plain_bool =
          dtype != DType::boolean || std::to_integer<int>(*place) <= 1;
      if ((!agrees(want, dtype, got, unit, options_) || !plain_bool) &&
          ++shown < 4) {
        ADD_FAILURE() << "output " << want.output << " element " << want.offset
                      << ": got " << as_double(dtype, got) << ", want "
                      << as_double(want.type, want.number) << "\n"
                      << step_.body.str();
      }
    }
    for (size_t r = 0; r < outputs_.size(); ++r) {
      for (size_t i = 0; i < outputs_[r]->size(); ++i) {
        if (written[r][i] || outputs_[r]->data()[i] == kUntouched) continue;
        ADD_FAILURE() << "output " << r << ": byte " << i << " touched";
        return;
      }
    }
  }

  const Step& step_;
  const CheckOptions& options_;
  GuardedBytes::Tight tight_;
  std::vector<std::unique_ptr<GuardedBytes>> inputs_;
  std::vector<std::unique_ptr<GuardedBytes>> outputs_;
  std::vector<std::vector<std::byte>> copies_;
  std::vector<void*> addresses_;
  std::vector<Expected> want_;
};

template <typename Step>
void check_all_levels(const Step& step, const CheckOptions& options) {
  Check<Step> begins(step, options, GuardedBytes::Tight::begin);
  Check<Step> ends(step, options, GuardedBytes::Tight::end);
  for (CpuLevel level :
       options.levels.empty() ? host_levels() : options.levels) {
    SCOPED_TRACE(std::string(cpu_level_name(level)) + ", inner " +
                 std::to_string(step.inner));
    const StepKernel kernel(step, level);
    begins.run(kernel);
    ends.run(kernel);
  }
}

}  // namespace

Number sample(DType dtype, size_t slot, int64_t i) {
  auto bits = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u +
              (slot + 1) * 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 29;
  bits *= 0x94d049bb133111ebu;
  bits >>= 40;
  const double unit = static_cast<double>(bits) * 0x1p-24;
  if (dtype == DType::boolean) return {0, unit < 0.4};
  if (!is_floating(dtype)) {
    const int64_t value = static_cast<int64_t>(unit * 40) - 20;
    return {0, dtype == DType::u8 ? value + 20 : value};
  }
  return {unit * 6 - 3, 0};
}

StepKernel::StepKernel(program::StepBody step, CpuLevel level) {
  program::analyse(step, program::Machine{.level = level});
  arguments_ = arguments_of(step);
  plan_ = program::step_plan(step, level);
  IrModule ir = make_ir_module("step");
  llvm::Function* function =
      make_function<program::KernelFn>(*ir.module, "kernel");
  {
    VectorBuilder b(*function, level);
    std::visit([&](const auto& body) { emit_step(b, body); }, step);
  }
  EngineOptions options;
  options.cpu_level = level;
  code_ = build(Compiler(options), std::move(ir));
  function_ = runnable(
      level, code_->function<void(const program::StepCall*, int64_t, int64_t)>(
                 "kernel"));
}

int32_t StepKernel::run(const std::vector<void*>& operands, int64_t begin,
                        int64_t end) const {
  // What a vector may read beyond its row is part of the plan.
  const GuardedBytes scratch((plan_.scratch_bytes + 63) / 64 * 64);
  int32_t status = program::kOk;
  const program::StepCall call{operands.data(), scratch.data(), &status,
                               arguments_.data()};
  function_(&call, begin, end);
  return status;
}

void check_step(const RowStep& step, const CheckOptions& options) {
  check_all_levels(step, options);
}

void check_step(const ColumnStep& step, const CheckOptions& options) {
  check_all_levels(step, options);
}

program::Access row_access(Dims outer, int64_t inner, DType dtype) {
  Access access;
  access.dtype = dtype;
  access.outer = outer;
  access.inner = inner;
  return access;
}

program::Access column_access(Dims outer, Dims reduce, int64_t inner,
                              DType dtype) {
  Access access = row_access(outer, inner, dtype);
  access.reduce = reduce;
  return access;
}

}  // namespace fxjit::jit::testing
