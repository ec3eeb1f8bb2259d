// Compiles one function built with VectorBuilder at a chosen CPU level and
// hands it out as a C++ function. For the tests of everything in jit/emit/.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "jit/emit/vector_builder.h"
#include "jit/engine/compiler.h"
#include "tests/support/host_levels.h"

namespace fxjit::jit::testing {

using support::host_levels;

using KernelBody =
    std::function<void(VectorBuilder& b, std::span<Value* const> args)>;

// How an argument type appears in the IR.
enum class ArgKind { pointer, i32, i64, f32, f64 };

// The engine's code for `void kernel(args...)`; `body` need not return.
// Pointer arguments do not alias.
std::shared_ptr<CompiledCode> compile_kernel(CpuLevel level,
                                             std::span<const ArgKind> args,
                                             const KernelBody& body);

template <typename T>
constexpr ArgKind arg_kind() {
  if constexpr (std::is_pointer_v<T>) {
    return ArgKind::pointer;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return ArgKind::i32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return ArgKind::i64;
  } else if constexpr (std::is_same_v<T, float>) {
    return ArgKind::f32;
  } else {
    static_assert(std::is_same_v<T, double>, "no such argument");
    return ArgKind::f64;
  }
}

// Kernel<const float*, float*, int64_t> k(level, body); k(in, out, n);
template <typename... Args>
class Kernel {
 public:
  Kernel(CpuLevel level, const KernelBody& body) {
    const ArgKind kinds[] = {arg_kind<Args>()...};
    code_ = compile_kernel(level, kinds, body);
    function_ = code_->function<void(Args...)>("kernel");
  }

  void operator()(Args... args) const { function_(args...); }

 private:
  std::shared_ptr<CompiledCode> code_;
  void (*function_)(Args...) = nullptr;
};

// Name of a parameterised test's instance: "sse41", "avx2", "avx512".
std::string level_name(const ::testing::TestParamInfo<CpuLevel>& info);

}  // namespace fxjit::jit::testing
