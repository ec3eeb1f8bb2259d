// Tiles of 8-bit integers against sums of whole numbers, with and without the
// instruction that adds four products. Where this machine lacks it, a portable
// body takes its place, and an emulated CPU runs it as it is; what LLVM makes
// of it is looked at as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "src/program/integers/run.h"
#include "src/support/memory/aligned_block.h"
#include "src/weights/quads.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/emulated.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/analysed.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::IntegerForm;
using program::IntegerRun;
using program::IntegerStep;
using weights::Format;

bool is_dot(const llvm::Instruction& instruction) {
  const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().contains("vpdpbusd");
}

// Sums and four products of bytes each, without and with a sign.
llvm::Value* portable_dot(llvm::IRBuilder<>& b, const llvm::User& call) {
  auto* const type =
      llvm::cast<llvm::FixedVectorType>(call.getOperand(0)->getType());
  const int count = static_cast<int>(type->getNumElements());
  llvm::Type* const bytes =
      llvm::FixedVectorType::get(b.getInt8Ty(), 4 * count);
  llvm::Type* const wide =
      llvm::FixedVectorType::get(b.getInt32Ty(), 4 * count);
  llvm::Value* const products = b.CreateMul(
      b.CreateZExt(b.CreateBitCast(call.getOperand(1), bytes), wide),
      b.CreateSExt(b.CreateBitCast(call.getOperand(2), bytes), wide));
  llvm::Value* sums = call.getOperand(0);
  for (int part = 0; part < 4; ++part) {
    std::vector<int> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(4 * i + part);
    sums = b.CreateAdd(sums, b.CreateShuffleVector(products, lanes));
  }
  return sums;
}

// Returns how many there were.
int replace_dots(llvm::Function& function) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& each : llvm::instructions(function))
    if (is_dot(each)) found.push_back(&each);
  for (llvm::Instruction* const call : found) {
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(portable_dot(b, *call));
    call->eraseFromParent();
  }
  function.removeFnAttr("target-features");
  return static_cast<int>(found.size());
}

IrModule module_of(const IntegerForm& form, CpuLevel level) {
  IrModule ir = make_ir_module("kernel");
  llvm::Function* const function =
      make_function<program::IntegerFn>(*ir.module, "kernel");
  VectorBuilder b(*function, level);
  emit(b, form);
  return ir;
}

// How products are added by fours: not at all, or by what runs here or there.
enum class Dots : uint8_t { none, portable, emulated };

struct Problem {
  int64_t rows, columns, depth;
  DType lhs = DType::u8;
  bool extremes = false;  // Only the ends of the types' ranges.
};

class Product {
 public:
  explicit Product(const Problem& problem) : p_(problem) {
    std::mt19937 random(11);
    const auto draw = [&](int64_t count, std::vector<uint8_t>& to) {
      for (int64_t i = 0; i < count; ++i) {
        const auto byte = static_cast<uint8_t>(random() >> 8);
        constexpr uint8_t kEnds[] = {0, 0xff, 0x80, 0x7f};
        to.push_back(p_.extremes ? kEnds[byte % 4] : byte);
      }
    };
    draw(p_.rows * p_.depth, lhs_);
    draw(p_.depth * p_.columns, rhs_);
  }

  // Weights of `quads` are taken by dot products, or by magnitudes and signs.
  void expect_exact(Format format, CpuLevel level, Dots dots) const {
    const auto made = run<int32_t>(format, level, dots);
    for (int64_t m = 0; m < p_.rows; ++m)
      for (int64_t n = 0; n < p_.columns; ++n)
        ASSERT_EQ(made[static_cast<size_t>(m * p_.columns + n)], sum(m, n))
            << weights::format_name(format) << " " << cpu_level_name(level)
            << " row " << m << ", column " << n << " of " << p_.rows << " x "
            << p_.depth << " x " << p_.columns;
  }

  // Sums as u8, which are quantised and packed in registers.
  void expect_bytes(Format format, CpuLevel level, Dots dots) const {
    const auto made = run<uint8_t>(format, level, dots);
    for (int64_t m = 0; m < p_.rows; ++m)
      for (int64_t n = 0; n < p_.columns; ++n) {
        const float rounded =
            std::nearbyint(static_cast<float>(sum(m, n)) * kScale);
        ASSERT_EQ(int{made[static_cast<size_t>(m * p_.columns + n)]},
                  static_cast<int>(std::clamp(rounded, 0.0f, 255.0f)))
            << cpu_level_name(level) << " row " << m << ", column " << n;
      }
  }

 private:
  static constexpr float kScale = 0x1p-8f;

  int32_t sum(int64_t m, int64_t n) const {
    int32_t total = 0;
    for (int64_t k = 0; k < p_.depth; ++k) {
      const uint8_t a = lhs_[static_cast<size_t>(m * p_.depth + k)];
      const uint8_t b = rhs_[static_cast<size_t>(k * p_.columns + n)];
      total += (p_.lhs == DType::u8 ? int{a} : int{static_cast<int8_t>(a)}) *
               static_cast<int8_t>(b);
    }
    return total;
  }

  static ScalarBody result_body(DType result) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::i32);
    if (result == DType::i32) return b.finish({x});
    x = b.apply(Prim::round,
                b.cast(x, DType::f32) * b.constant(kScale, DType::f32));
    const Scalar least = b.constant(0, DType::f32);
    const Scalar most = b.constant(255, DType::f32);
    x = b.select(b.apply(Prim::gt, x, least), x, least);
    x = b.select(b.apply(Prim::lt, x, most), x, most);
    return b.finish({b.cast(x, result)});
  }

  IntegerStep step(Format format, CpuLevel level, Dots dots,
                   DType result) const {
    IntegerStep step;
    step.rows = p_.rows, step.columns = p_.columns, step.depth = p_.depth;
    step.row_axes = {{p_.rows, p_.depth}};
    step.depth_axes = {{p_.depth, 1}};
    step.lhs = p_.lhs;
    step.weights = format;
    step.has_dots = dots != Dots::none;
    step.outputs = {{result, 0, p_.columns, 1}};
    step.epilogue = result_body(result);
    return program::analysed(step, level);
  }

  template <typename Result>
  std::vector<Result> run(Format format, CpuLevel level, Dots dots) const {
    constexpr bool kBytes = sizeof(Result) == 1;
    const IntegerStep made =
        step(format, level, dots, kBytes ? DType::u8 : DType::i32);
    IntegerRun loops(made, level);
    EngineOptions options;
    options.cpu_level = level;
    const Compiler compiler(options);
    std::vector<std::shared_ptr<CompiledCode>> codes;
    std::vector<program::IntegerFn> kernels;
    for (const IntegerForm& form : loops.forms()) {
      IrModule ir = module_of(form, level);
      if (dots != Dots::emulated)
        EXPECT_EQ(replace_dots(*ir.module->getFunction("kernel")) > 0,
                  dots == Dots::portable);
      codes.push_back(build(compiler, std::move(ir)));
      const auto code =
          codes.back()->function<void(const program::IntegerCall*)>("kernel");
      kernels.push_back(
          dots == Dots::emulated
              ? testing::Emulated<const program::IntegerCall*>::of(code)
              : testing::runnable(level, code));
    }
    loops.set_code(kernels);
    const weights::ByteMatrix matrix{rhs_.data(), false,      p_.depth,
                                     p_.columns,  p_.columns, 1};
    const int group = weights::quad_group(format);
    support::AlignedBlock packed(static_cast<size_t>(
        weights::QuadLayout(p_.depth, p_.columns,
                            weights::count_fixes(matrix, group))
            .bytes));
    weights::pack_quads(matrix, group, packed.data());
    std::vector<Result> out(static_cast<size_t>(p_.rows * p_.columns));
    const program::StepPlan plan = made.plan(level);
    support::AlignedBlock scratch(plan.scratch_bytes + 1);
    void* const operands[] = {const_cast<uint8_t*>(lhs_.data()), packed.data(),
                              out.data()};
    int32_t status = 0;
    const program::StepCall call{operands, scratch.data(), &status, &loops};
    loops.run(call, 0, plan.tasks);
    return out;
  }

  const Problem p_;
  std::vector<uint8_t> lhs_, rhs_;
};

TEST(IntegerTiles, SumsAreExactInEachFormat) {
  for (CpuLevel level : testing::host_levels())
    for (const Problem& problem : {Problem{1, 20, 37},
                                   {3, 5, 1},
                                   {17, 33, 40, DType::i8},
                                   {9, 12, 64, DType::u8, true},
                                   {2, 8, 19, DType::i8, true}})
      for (Format format :
           {Format::quads1, Format::quads2, Format::quads4, Format::quads}) {
        if (format == Format::quads && level == CpuLevel::sse41) continue;
        Product(problem).expect_exact(
            format, level,
            format == Format::quads ? Dots::portable : Dots::none);
      }
}

TEST(IntegerTiles, RowsTakeWeightsAsTheyAre) {
  for (CpuLevel level : testing::host_levels())
    for (DType lhs : {DType::u8, DType::i8})
      for (bool extremes : {false, true})
        for (const Problem& sizes : {Problem{5, 1, 1},
                                     {9, 33, 37},
                                     {17, 16, 64},
                                     {40, 7, 130}}) {
          Problem problem = sizes;
          problem.lhs = lhs, problem.extremes = extremes;
          Product(problem).expect_exact(Format::quads, level, Dots::none);
        }
}

// As many groups of columns as are taken at once, fewer and more.
TEST(IntegerTiles, SingleRowsTakeWeightsAsTheyAre) {
  for (CpuLevel level : testing::host_levels())
    for (DType lhs : {DType::u8, DType::i8})
      for (bool extremes : {false, true})
        for (const Problem& sizes : {Problem{1, 1, 1},
                                     {1, 31, 37},
                                     {1, 32, 64},
                                     {1, 79, 130},
                                     {1, 3, 1000}}) {
          Problem problem = sizes;
          problem.lhs = lhs, problem.extremes = extremes;
          Product(problem).expect_exact(Format::quads, level, Dots::none);
        }
}

// AVX-VNNI beside AVX2, and AVX512-VNNI.
TEST(IntegerTiles, FourProductsAreRightOnAnEmulatedCpu) {
  if (!testing::has_emulator())
    GTEST_SKIP() << "there is no build/emulator, which scripts/setup makes";
  for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
    for (const Problem& problem : {Problem{1, 20, 37},
                                   {3, 5, 1},
                                   {17, 33, 40, DType::i8},
                                   {33, 12, 64, DType::u8, true},
                                   {2, 8, 19, DType::i8, true}})
      Product(problem).expect_exact(Format::quads, level, Dots::emulated);
}

TEST(IntegerTiles, ResultsOfEightBits) {
  std::vector<CpuLevel> levels = testing::host_levels();
  for (CpuLevel level : testing::emulated_levels()) levels.push_back(level);
  for (CpuLevel level : levels)
    for (const Problem& problem : {Problem{1, 40, 37},
                                   {17, 33, 40, DType::i8},
                                   {33, 41, 64, DType::u8, true}}) {
      for (Format format : {Format::quads1, Format::quads})
        Product(problem).expect_bytes(format, level, Dots::none);
      if (testing::has_emulator() && level != CpuLevel::sse41)
        Product(problem).expect_bytes(Format::quads, level, Dots::emulated);
    }
}

TEST(IntegerTiles, OtherLevelsAreRightOnAnEmulatedCpu) {
  const std::vector<CpuLevel> levels = testing::emulated_levels();
  if (levels.empty())
    GTEST_SKIP() << "there is no build/emulator, which scripts/setup makes, or "
                    "this machine has all levels";
  for (CpuLevel level : levels)
    for (const Problem& problem : {Problem{1, 79, 130},
                                   {3, 5, 1},
                                   {17, 33, 40, DType::i8},
                                   {33, 12, 64, DType::u8, true}})
      for (Format format :
           {Format::quads1, Format::quads2, Format::quads4, Format::quads})
        Product(problem).expect_exact(format, level, Dots::none);
}

TEST(IntegerTiles, FourProductsAreOneInstruction) {
  for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
    for (int vectors : {0, 1, 2}) {
      IntegerForm form;
      form.vectors = vectors, form.adds = program::QuadSums::dot;
      form.outputs = {{DType::i32, 0, 1, 1}};
      ScalarBuilder body;
      form.epilogue = body.finish({body.input(0, DType::i32)});
      EngineOptions options;
      options.cpu_level = level;
      const std::string text =
          Compiler(options).text(module_of(form, level)).assembly;
      EXPECT_THAT(text, ::testing::HasSubstr("vpdpbusd"));
      EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("vpmaddubsw")));
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
