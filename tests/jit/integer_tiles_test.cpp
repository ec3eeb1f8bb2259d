// Tiles of 8-bit integers against sums of whole numbers, with and without the
// instruction that adds four products, and in tile registers. Where this
// machine lacks them, portable bodies take their place, and an emulated CPU
// runs the former as it is; what LLVM makes of them is looked at as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
#include "src/weights/packing.h"
#include "tests/jit/build_ir.h"
#include "tests/jit/emulated.h"
#include "tests/jit/jit_test_util.h"
#include "tests/jit/portable_dots.h"
#include "tests/jit/portable_tiles.h"
#include "tests/support/analysed.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::IntegerForm;
using program::IntegerRun;
using program::IntegerStep;
using weights::Format;

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
  DType rhs = DType::i8;
  // The depth is so many runs, and rows are, with numbers between that nobody
  // reads.
  int64_t runs = 1;

  int64_t run() const { return depth / runs; }
  int64_t run_stride() const { return runs == 1 ? depth : run() + 5; }
  int64_t row() const { return runs * run_stride(); }
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
    draw(p_.rows * p_.row(), lhs_);
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

  static int number(uint8_t bits, DType dtype) {
    return dtype == DType::u8 ? int{bits} : int{static_cast<int8_t>(bits)};
  }

  uint8_t lhs_at(int64_t m, int64_t k) const {
    const int64_t place = k / p_.run() * p_.run_stride() + k % p_.run();
    return lhs_[static_cast<size_t>(m * p_.row() + place)];
  }

  int32_t sum(int64_t m, int64_t n) const {
    int32_t total = 0;
    for (int64_t k = 0; k < p_.depth; ++k)
      total += number(lhs_at(m, k), p_.lhs) *
               number(rhs_[static_cast<size_t>(k * p_.columns + n)], p_.rhs);
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
    step.row_axes = {{p_.rows, p_.row()}};
    step.depth_axes = {{p_.run(), 1}};
    if (p_.runs > 1)
      step.depth_axes.insert(step.depth_axes.begin(),
                             {p_.runs, p_.run_stride()});
    step.lhs = p_.lhs, step.rhs = p_.rhs;
    step.weights = format;
    step.has_dots = dots != Dots::none;
    step.outputs = {{result, 0, p_.columns, 1}};
    step.epilogue = result_body(result);
    return program::analysed(step, level);
  }

  weights::Weight weight(Format format) const {
    weights::Weight made;
    made.spec.depth = p_.depth, made.spec.columns = p_.columns;
    made.pieces = {Tensor::empty({p_.depth, p_.columns}, p_.rhs)};
    std::memcpy(made.pieces[0].data(), rhs_.data(), rhs_.size());
    made.coding = weights::find_quad_coding(made, {&format, 1});
    return made;
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
      if (dots != Dots::emulated) {
        llvm::Function& kernel = *ir.module->getFunction("kernel");
        const int replaced =
            testing::replace_dots(kernel) + testing::replace_tiles(kernel);
        EXPECT_EQ(replaced > 0, dots == Dots::portable);
      }
      codes.push_back(build(compiler, std::move(ir)));
      const auto code =
          codes.back()->function<void(const program::IntegerCall*)>("kernel");
      kernels.push_back(
          dots == Dots::emulated
              ? testing::Emulated<const program::IntegerCall*>::of(code)
              : testing::runnable(level, code));
    }
    loops.set_code(kernels);
    const weights::Weight weight = this->weight(format);
    support::AlignedBlock packed(weights::padded_bytes(weight, level));
    weights::pack_weight(weight, level, packed.data());
    std::vector<Result> out(static_cast<size_t>(p_.rows * p_.columns));
    const program::StepPlan plan = made.plan(level);
    support::AlignedBlock scratch(plan.scratch_bytes + 1);
    void* const operands[] = {const_cast<uint8_t*>(lhs_.data()), packed.data(),
                              out.data()};
    int32_t status = 0;
    const program::StepCall call{operands, scratch.data(), &status, &loops};
    loops.run(call, 0, plan.tasks);
    EXPECT_EQ(testing::tile_errors(), "");
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

// What fills up tiles of rows, columns and depth, and blocks of two of them.
const Problem kTileProblems[] = {{1, 20, 37},
                                 {4, 130, 64, DType::i8},
                                 {5, 16, 1},
                                 {16, 32, 64},
                                 {17, 33, 130, DType::i8},
                                 {40, 57, 256, DType::u8, true},
                                 {9, 12, 100, DType::i8, true},
                                 {33, 40, 128, DType::u8, true, DType::u8},
                                 {3, 7, 70, DType::i8, true, DType::u8},
                                 {23, 49, 65, DType::i8, false, DType::u8},
                                 {19, 20, 128, DType::u8, false, DType::i8, 2},
                                 {2, 20, 192, DType::i8, false, DType::i8, 3}};

TEST(IntegerTiles, SumsAreExactInTileRegisters) {
  for (CpuLevel level : testing::host_levels()) {
    if (level == CpuLevel::sse41) continue;
    for (const Problem& problem : kTileProblems) {
      Product(problem).expect_exact(Format::tiles, level, Dots::portable);
      Product(problem).expect_bytes(Format::tiles, level, Dots::portable);
    }
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
  if (!testing::has_emulator()) GTEST_SKIP() << testing::emulator_absence();
  for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
    for (const Problem& problem : {Problem{1, 20, 37},
                                   {3, 5, 1},
                                   {17, 33, 40, DType::i8},
                                   {33, 12, 64, DType::u8, true},
                                   {2, 8, 19, DType::i8, true}})
      Product(problem).expect_exact(Format::quads, level, Dots::emulated);
}

TEST(IntegerTiles, TileRegistersAreRightOnAnEmulatedCpu) {
  if (!testing::has_emulator()) GTEST_SKIP() << testing::emulator_absence();
  for (const Problem& problem : kTileProblems)
    Product(problem).expect_exact(Format::tiles, CpuLevel::avx512,
                                  Dots::emulated);
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
  if (!testing::has_emulator()) GTEST_SKIP() << testing::emulator_absence();
  if (levels.empty()) GTEST_SKIP() << "this machine has all levels";
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

TEST(IntegerTiles, RegistersAreReleased) {
  for (int vectors : {1, 2}) {
    IntegerForm form;
    form.vectors = vectors, form.adds = program::QuadSums::tiles;
    form.outputs = {{DType::i32, 0, 1, 1}};
    ScalarBuilder body;
    form.epilogue = body.finish({body.input(0, DType::i32)});
    EngineOptions options;
    options.cpu_level = CpuLevel::avx512;
    const std::string text =
        Compiler(options).text(module_of(form, CpuLevel::avx512)).assembly;
    for (const char* instruction :
         {"ldtilecfg", "tilezero", "tileloadd", "tdpbusd", "tilestored"})
      EXPECT_THAT(text, ::testing::HasSubstr(instruction));
    EXPECT_GT(text.find("tilerelease"), text.rfind("tilestored"));
    EXPECT_EQ(text.find("tilerelease"), text.rfind("tilerelease"));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
