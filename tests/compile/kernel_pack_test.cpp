// Packs of kernels: taken instead of compiling, shipped or of the user's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::options_for;
using testing::random_tensor;
using testing::run_child;
using testing::TemporaryFolder;
using testing::value_difference;
using testing::WarningLog;

// What the next process would do: an engine of its own for each set of options.
bool from_pack(const CompileOptions& options) {
  const auto gm = fx::symbolic_trace(
      [w = random_tensor({8, 6})](Value x) {
        return softmax(F::gelu(F::linear(x, w)), -1);
      },
      {"x"}, "f");
  compile(*gm, options);
  const ValueList inputs{random_tensor({5, 6})};
  EXPECT_EQ(
      value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5, 1e-6),
      "");
  return profile(*gm, inputs, 1).from_disk_cache;
}

CompileOptions without_cache() {
  CompileOptions options = options_for(host_cpu_level());
  options.cache_folder = "";
  options.shipped_kernels = false;
  return options;
}

// A pack of the model's kernels, in a folder of its own.
std::string made_pack(const TemporaryFolder& folder, bool portable = false) {
  CompileOptions options = without_cache();
  options.portable_kernels = portable;
  options.cache_folder = folder.path() + "/cache";
  EXPECT_FALSE(from_pack(options));
  const std::string file = folder.path() + "/kernels.pack";
  EXPECT_GT(write_kernel_pack(*options.cache_folder, file), 0u);
  return file;
}

TEST(KernelPack, ServesWithoutACache) {
  const TemporaryFolder folder;
  CompileOptions options = without_cache();
  options.kernel_packs = {made_pack(folder)};
  EXPECT_TRUE(from_pack(options));
  options.kernel_packs.insert(options.kernel_packs.begin(), "/no/such.pack");
  WarningLog log;
  EXPECT_TRUE(from_pack(options));
  EXPECT_THAT(log.messages(),
              ::testing::ElementsAre(HasSubstr("/no/such.pack is not there")));
}

TEST(KernelPack, DamagedOnesAreReportedAndCompiled) {
  const TemporaryFolder folder;
  CompileOptions options = without_cache();
  options.kernel_packs = {made_pack(folder)};
  std::ofstream(options.kernel_packs[0]) << "damaged, but as long as a header";
  WarningLog log;
  EXPECT_FALSE(from_pack(options));
  EXPECT_THAT(
      log.messages(),
      ::testing::ElementsAre(HasSubstr("kernels.pack is no pack of kernels")));
}

TEST(KernelPack, OfPortableKernelsServesThisCpu) {
  const TemporaryFolder folder;
  CompileOptions options = without_cache();
  options.kernel_packs = {made_pack(folder, /*portable=*/true)};
  EXPECT_TRUE(from_pack(options));
}

TEST(KernelPack, OfNothingIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_kernel_pack(folder.path(), folder.path() + "/pack"),
               UserError);
}

TEST(Child, DISABLED_Shipped) {
  CompileOptions options = without_cache();
  options.shipped_kernels = std::getenv("FXJIT_TEST_NONE") == nullptr;
  std::cout << "from pack: " << from_pack(options) << "\n";
}

TEST(KernelPack, ShippedOnesAreTakenWhereWanted) {
  const TemporaryFolder folder;
  const std::string file = made_pack(folder);
  const auto said = [&](const std::string& name, const char* other = "_") {
    return run_child("Shipped", {{"FXJIT_KERNELS", name}, {other, "1"}}).output;
  };
  EXPECT_THAT(said(file), HasSubstr("from pack: 1"));
  EXPECT_THAT(said(file, "FXJIT_TEST_NONE"), HasSubstr("from pack: 0"));
  EXPECT_THAT(said(""), HasSubstr("from pack: 0"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
