// Faults planted in generated code, which the sanitizer of the build must see.
// Skipped where there is none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "jit/engine/compiler.h"

#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit {
namespace TEST_FILE {

// Stores and loads as kernels have them: scalar, a vector, a masked tail, every
// other element.
constexpr const char* kStores = R"(
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>)
declare void @llvm.masked.scatter.v16f32.v16p0(<16 x float>, <16 x ptr>, i32, <16 x i1>)
declare <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x float>)

define void @store_one(ptr %x, i64 %i) {
  %p = getelementptr float, ptr %x, i64 %i
  store float 1.0, ptr %p
  ret void
}
define void @store_vector(ptr %x, i64 %i) {
  %p = getelementptr float, ptr %x, i64 %i
  store <16 x float> zeroinitializer, ptr %p, align 4
  ret void
}
define void @load_vector(ptr %x, i64 %i) {
  %p = getelementptr float, ptr %x, i64 %i
  %v = load <16 x float>, ptr %p, align 4
  store <16 x float> %v, ptr %x, align 4
  ret void
}
define void @store_masked(ptr %x, i16 %bits) {
  %m = bitcast i16 %bits to <16 x i1>
  call void @llvm.masked.store.v16f32.p0(<16 x float> zeroinitializer, ptr %x, i32 4, <16 x i1> %m)
  ret void
}
define void @load_masked(ptr %x, i16 %bits, ptr %out) {
  %m = bitcast i16 %bits to <16 x i1>
  %v = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %x, i32 4, <16 x i1> %m, <16 x float> zeroinitializer)
  store <16 x float> %v, ptr %out, align 4
  ret void
}
define void @scatter(ptr %x, i16 %bits) {
  %m = bitcast i16 %bits to <16 x i1>
  %p = getelementptr float, ptr %x, <16 x i64> <i64 0, i64 2, i64 4, i64 6, i64 8, i64 10, i64 12, i64 14, i64 16, i64 18, i64 20, i64 22, i64 24, i64 26, i64 28, i64 30>
  call void @llvm.masked.scatter.v16f32.v16p0(<16 x float> zeroinitializer, <16 x ptr> %p, i32 4, <16 x i1> %m)
  ret void
}
define void @gather(ptr %x, i16 %bits, ptr %out) {
  %m = bitcast i16 %bits to <16 x i1>
  %p = getelementptr float, ptr %x, <16 x i64> <i64 0, i64 2, i64 4, i64 6, i64 8, i64 10, i64 12, i64 14, i64 16, i64 18, i64 20, i64 22, i64 24, i64 26, i64 28, i64 30>
  %v = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %p, i32 4, <16 x i1> %m, <16 x float> zeroinitializer)
  store <16 x float> %v, ptr %out, align 4
  ret void
}
)";

std::shared_ptr<CompiledCode> stores(const Compiler& compiler) {
  return build(compiler, parse_ir(kStores, "stores"));
}

class PlantedFaultDeathTest : public ::testing::Test {
 protected:
  PlantedFaultDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    code_ = stores(compiler_);
  }

  void at(const char* name, float* x, int64_t i) const {
    code_->function<void(float*, int64_t)>(name)(x, i);
  }
  void masked(float* x, uint16_t bits,
              const char* name = "store_masked") const {
    code_->function<void(float*, uint16_t)>(name)(x, bits);
  }
  void load(const char* name, const float* x, uint16_t bits) const {
    float out[16];
    code_->function<void(const float*, uint16_t, float*)>(name)(x, bits, out);
  }

  Compiler compiler_{EngineOptions{}};
  std::shared_ptr<CompiledCode> code_;
};

TEST_F(PlantedFaultDeathTest, AddressSanitizerSeesStoresOutOfBounds) {
  // The lower of two: behind the higher one memory may end, and a fault there
  // is none of the sanitizer's.
  std::vector<float> one(32), other(32);
  std::vector<float>& x = one.data() < other.data() ? one : other;
  at("store_one", x.data(), 31);
  at("store_vector", x.data(), 16);
  at("load_vector", x.data(), 16);
  masked(x.data() + 30, 0b11);
  load("load_masked", x.data() + 30, 0b11);
  masked(x.data() + 28, 0b11, "scatter");
  load("gather", x.data() + 28, 0b11);
  if (build_sanitizer() != Sanitizer::address) {
    GTEST_SKIP() << "needs the asan preset";
  }
  EXPECT_DEATH(at("store_one", x.data(), 32), "heap-buffer-overflow");
  EXPECT_DEATH(at("store_vector", x.data(), 17), "heap-buffer-overflow");
  EXPECT_DEATH(at("load_vector", x.data(), 17), "heap-buffer-overflow");
  EXPECT_DEATH(masked(x.data() + 30, 0b111), "heap-buffer-overflow");
  EXPECT_DEATH(load("load_masked", x.data() + 30, 0b111),
               "heap-buffer-overflow");
  EXPECT_DEATH(masked(x.data() + 28, 0b111, "scatter"), "heap-buffer-overflow");
  EXPECT_DEATH(load("gather", x.data() + 28, 0b111), "heap-buffer-overflow");
}

// Runs `first` and `second` on two threads with no order between them, and
// ends the process; ThreadSanitizer makes its exit status 66 after a report.
template <typename First, typename Second>
[[noreturn]] void race(First first, Second second) {
  std::thread one(first);
  std::thread other(second);
  one.join();
  other.join();
  std::exit(0);
}

TEST_F(PlantedFaultDeathTest, ThreadSanitizerSeesRaces) {
  if (build_sanitizer() != Sanitizer::thread) {
    GTEST_SKIP() << "needs the tsan preset";
  }
  static std::vector<float> x(64);
  const ::testing::ExitedWithCode reported(66), clean(0);
  const auto store = [&](const char* name, int64_t i) {
    return [this, name, i] { at(name, x.data(), i); };
  };
  const auto store_masked = [&](uint16_t bits) {
    return [this, bits] { masked(x.data(), bits); };
  };
  EXPECT_EXIT(race(store("store_one", 3), store("store_one", 3)), reported,
              "data race");
  EXPECT_EXIT(race(store("store_vector", 0), store("store_vector", 15)),
              reported, "data race");
  EXPECT_EXIT(race(store("load_vector", 16), store("store_vector", 16)),
              reported, "data race");
  EXPECT_EXIT(race(store_masked(0b1100), store_masked(0b0110)), reported,
              "data race");
  EXPECT_EXIT(race(store_masked(0b1100), store_masked(0b0011)), clean, "");
  const auto scatter = [&](float* first, uint16_t bits) {
    return [this, first, bits] { masked(first, bits, "scatter"); };
  };
  const auto gather = [&](uint16_t bits) {
    return [this, bits] { load("gather", x.data(), bits); };
  };
  EXPECT_EXIT(race(scatter(x.data(), 0b1100), scatter(x.data(), 0b0110)),
              reported, "data race");
  EXPECT_EXIT(race(scatter(x.data(), 0b1100), gather(0b0100)), reported,
              "data race");
  EXPECT_EXIT(race(scatter(x.data(), 0b1100), gather(0b0011)), clean, "");
  EXPECT_EXIT(race(scatter(x.data(), 0xff), scatter(x.data() + 1, 0xff)), clean,
              "");
  EXPECT_EXIT(race(store("store_vector", 0), store("store_vector", 16)), clean,
              "");
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
