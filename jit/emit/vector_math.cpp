#include "jit/emit/vector_math.h"

#include <llvm/IR/Module.h>

#include <numbers>
#include <string>

#include "jit/emit/vector_math_native.h"

namespace fxjit::jit {
namespace {

constexpr double kSqrt2OverPi = 0x1.9884533d43651p-1;
constexpr double kGeluTanhCubic = 0.044715;

bool is_f32(const Value* x) {
  return x->getType()->getScalarType()->isFloatTy();
}

Values map_each(const Values& values,
                llvm::function_ref<Value*(Value*)> function) {
  Values results;
  for (Value* value : values) results.push_back(function(value));
  return results;
}

// Applies `function`, made for exactly one machine vector, to arguments of any
// one lane count.
Value* map_native(VectorBuilder& b, const Values& args,
                  llvm::function_ref<Value*(const Values&)> function) {
  const int native = b.lanes();
  const int count = VectorBuilder::lane_count(args[0]);
  const auto part = [&](auto cut) { return function(map_each(args, cut)); };
  if (!args[0]->getType()->isVectorTy()) {
    return b.lane(part([&](Value* x) { return b.splat(x); }), 0);
  }
  if (count == native) return function(args);
  if (count < native) {
    return b.slice(part([&](Value* x) { return b.resize(x, native); }), 0,
                   count);
  }
  const int half = count / 2;
  const auto side = [&](int first) {
    const auto cut = [&](Value* x) { return b.slice(x, first, half); };
    return map_native(b, map_each(args, cut), function);
  };
  Value* low = side(0);
  return b.concat(low, side(half));
}

Value* map_native(VectorBuilder& b, Value* x,
                  llvm::function_ref<Value*(Value*)> function) {
  return map_native(b, Values{x},
                    [&](const Values& args) { return function(args[0]); });
}

llvm::FunctionCallee declare_libm(VectorBuilder& b, std::string name,
                                  llvm::Type* type, int arity) {
  if (type->isFloatTy()) name += 'f';
  const std::vector<llvm::Type*> parameters(size_t(arity), type);
  llvm::FunctionCallee callee = b.module().getOrInsertFunction(
      name, llvm::FunctionType::get(type, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();  // Nobody reads errno.
  function->setWillReturn();
  return callee;
}

Value* one_plus(VectorBuilder& b, Value* x) { return b.add(b.like(x, 1), x); }

// One function's tables of two lengths.
template <int kShortDegree, int kLongDegree>
struct Tables {
  const SmoothTable<16, kShortDegree>& shorter;
  const SmoothTable<32, kLongDegree>& longer;

  Value* look_up(VectorBuilder& b, Value* x, native::NanResult nan) const {
    return b.long_tables() ? native::smooth(b, x, longer, nan)
                           : native::smooth(b, x, shorter, nan);
  }
};

// Both gelus: relu(x) less an even bump that vanishes on both sides. The signs
// of zeros count here, so that gelu(-0) is -0, and relu carries NaN.
Value* relu_less_bump(VectorBuilder& b, Value* x, const Tables<5, 4>& bump) {
  return map_native(b, x, [&](Value* part) {
    Value* height = bump.look_up(b, part, native::NanResult::lose);
    Value* relu = native::relu_by_product(b, part);
    return b.sub(relu, height);
  });
}

template <int kShortDegree, int kLongDegree>
Value* odd_smooth(VectorBuilder& b, Value* x,
                  const Tables<kShortDegree, kLongDegree>& tables) {
  return map_native(b, x, [&](Value* part) {
    Value* magnitude = tables.look_up(b, part, native::NanResult::keep);
    return b.copysign(magnitude, part);
  });
}

}  // namespace

Value* emit_exp(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "exp", {x});
  return map_native(b, x, [&](Value* part) { return native::exp(b, part); });
}

Value* emit_exp_softmax(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "exp", {x});
  return map_native(b, x, [&](Value* part) {
    return native::exp(b, part, native::ExpRange::not_positive,
                       native::ExpAccuracy::softmax);
  });
}

Value* emit_log(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "log", {x});
  return map_native(b, x, [&](Value* part) { return native::log(b, part); });
}

Value* emit_expm1(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "expm1", {x});
  return map_native(b, x, [&](Value* part) { return native::expm1(b, part); });
}

// The logarithm of 1 + x as rounded, and what rounding took from it.
Value* emit_log1p(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "log1p", {x});
  Value* sum = one_plus(b, x);
  Value* lost = b.div(b.sub(x, b.sub(sum, b.like(x, 1))), sum);
  Value* log = emit_log(b, sum);
  const double infinity = std::numeric_limits<double>::infinity();
  Value* is_regular =
      b.bit_and(b.lt(b.like(x, 0), sum), b.lt(sum, b.like(x, infinity)));
  return b.copysign(b.select(is_regular, b.add(log, lost), log), x);
}

Value* emit_sigmoid(VectorBuilder& b, Value* x) {
  return emit_sigmoid_product(b, b.like(x, 1), x);
}

Value* emit_silu(VectorBuilder& b, Value* x) {
  return emit_sigmoid_product(b, x, x);
}

// factor / (1 + e^-x)
Value* emit_sigmoid_product(VectorBuilder& b, Value* factor, Value* x) {
  if (!is_f32(x) || b.level() == CpuLevel::avx512)
    return b.div(factor, one_plus(b, emit_exp(b, b.neg(x))));
  return map_native(b, {factor, x}, [&](const Values& args) {
    return b.div(b.mul(args[0], b.like(args[0], 0.5)),
                 native::half_plus_exp(b, args[1]));
  });
}

// n / d / (1 + e) = n / (d + d e)
Value* emit_gate(VectorBuilder& b, Value* x, Value* y) {
  if (!is_f32(x)) return b.mul(emit_tanh(b, x), emit_sigmoid(b, y));
  return map_native(b, {x, y}, [&](const Values& args) {
    Value* power = native::exp(b, b.neg(args[1]));
    const native::TanhRatio tanh = native::tanh_ratio(b, args[0]);
    Value* divisor = b.fma(tanh.divisor, power, tanh.divisor);
    return b.div(tanh.dividend, divisor);
  });
}

Value* emit_tanh(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "tanh", {x});
  return odd_smooth(b, x, Tables<6, 5>{kTanh16, kTanh32});
}

Value* emit_erf(VectorBuilder& b, Value* x) {
  if (!is_f32(x)) return emit_libm(b, "erf", {x});
  return odd_smooth(b, x, Tables<6, 4>{kErf16, kErf32});
}

Value* emit_gelu(VectorBuilder& b, Value* x) {
  if (is_f32(x)) return relu_less_bump(b, x, {kGelu16, kGelu32});
  // By the complement, which keeps the tail of negative arguments.
  Value* scaled = b.mul(x, b.like(x, -1 / std::numbers::sqrt2));
  Value* twice_phi = emit_libm(b, "erfc", {scaled});
  return b.mul(b.mul(x, b.like(x, 0.5)), twice_phi);
}

Value* emit_gelu_tanh(VectorBuilder& b, Value* x) {
  if (is_f32(x)) return relu_less_bump(b, x, {kGeluTanh16, kGeluTanh32});
  Value* cubic = b.mul(b.like(x, kGeluTanhCubic), b.mul(x, b.mul(x, x)));
  Value* inner = b.mul(b.like(x, kSqrt2OverPi), b.add(x, cubic));
  return b.mul(b.mul(x, b.like(x, 0.5)), one_plus(b, emit_tanh(b, inner)));
}

Value* emit_rsqrt(VectorBuilder& b, Value* x) {
  return b.div(b.like(x, 1), b.sqrt(x));
}

// A loop over the lanes through the stack: a call per lane in line would be
// long, and the calls are what takes the time.
Value* emit_libm(VectorBuilder& b, std::string_view name, const Values& args) {
  llvm::Type* type = args[0]->getType();
  llvm::Type* element = type->getScalarType();
  const auto callee =
      declare_libm(b, std::string(name), element, int(args.size()));
  if (!type->isVectorTy()) return b.ir().CreateCall(callee, args);
  Values slots;
  for (Value* arg : args) {
    slots.push_back(b.stack_slot(type));
    b.store_raw(arg, slots.back(), 16);
  }
  const int lanes = VectorBuilder::lane_count(args[0]);
  b.loop(b.i64(0), b.i64(lanes), b.i64(1), [&](Value* i) {
    Values scalars;
    for (Value* slot : slots) {
      scalars.push_back(b.load_raw(element, b.offset(slot, element, i)));
    }
    b.store_raw(b.ir().CreateCall(callee, scalars),
                b.offset(slots[0], element, i));
  });
  return b.load_raw(type, slots[0], 16);
}

}  // namespace fxjit::jit
