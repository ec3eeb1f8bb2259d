// Compiled code by key: from memory, from disk, or compiled once.
#include "jit/engine/code_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "fxjit/error.h"
#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit {
namespace TEST_FILE {

namespace fs = std::filesystem;
constexpr uint64_t kPlenty = uint64_t{64} << 20;

IrModule adder(int addend) {
  return parse_ir("define i32 @add(i32 %x) {\n  %y = add i32 %x, " +
                      std::to_string(addend) + "\n  ret i32 %y\n}\n",
                  "adder");
}

class CodeCacheTest : public ::testing::Test {
 protected:
  CodeCacheTest() {
    std::string name =
        (fs::temp_directory_path() / "fxjit-code-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    disk_ = std::make_unique<support::ObjectCache>(
        support::ObjectCacheOptions{folder_});
  }
  ~CodeCacheTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::shared_ptr<const CompiledCode> get(CodeCache& cache, int addend) {
    return cache.get("adder " + std::to_string(addend), [&] {
      ++builds_;
      return adder(addend);
    });
  }

  static int call(const CompiledCode& code, int x) {
    return code.function<int(int)>("add")(x);
  }

  void damage_entries() {
    for (const auto& file : fs::directory_iterator(folder_)) {
      std::fstream bytes(file.path(),
                         std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(file.file_size() / 2));
      bytes.put('!');
    }
  }

  fs::path folder_;
  Compiler compiler_{EngineOptions{}};
  std::unique_ptr<support::ObjectCache> disk_;
  std::atomic<int> builds_ = 0;
};

TEST_F(CodeCacheTest, CompilesAKeyOnce) {
  CodeCache cache(compiler_, nullptr, kPlenty);
  const auto code = get(cache, 1);
  EXPECT_EQ(call(*code, 1), 2);
  EXPECT_EQ(get(cache, 1), code);
  EXPECT_EQ(call(*get(cache, 5), 1), 6);
  EXPECT_EQ(builds_, 2);
  EXPECT_EQ(cache.stats().memory_hits, 1u);
  EXPECT_EQ(cache.stats().compiles, 2u);
}

TEST_F(CodeCacheTest, LinksWhatAnotherProcessStored) {
  CodeCache first(compiler_, disk_.get(), kPlenty);
  EXPECT_EQ(get(first, 1)->origin(), CodeOrigin::compiled);
  CodeCache second(compiler_, disk_.get(), kPlenty);
  const auto code = get(second, 1);
  EXPECT_EQ(code->origin(), CodeOrigin::disk);
  EXPECT_EQ(call(*code, 1), 2);
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(second.stats().disk_hits, 1u);
}

TEST_F(CodeCacheTest, OtherCodegenOptionsAreOtherKeys) {
  CodeCache first(compiler_, disk_.get(), kPlenty);
  get(first, 1);
  EngineOptions options;
  options.tune_for_host = false;
  const Compiler generic(options);
  CodeCache second(generic, disk_.get(), kPlenty);
  EXPECT_EQ(get(second, 1)->origin(), CodeOrigin::compiled);
}

TEST_F(CodeCacheTest, DamagedEntriesAreCompiledAgain) {
  CodeCache first(compiler_, disk_.get(), kPlenty);
  get(first, 1);
  damage_entries();
  CodeCache second(compiler_, disk_.get(), kPlenty);
  const auto code = get(second, 1);
  EXPECT_EQ(code->origin(), CodeOrigin::compiled);
  EXPECT_EQ(call(*code, 1), 2);
  CodeCache third(compiler_, disk_.get(), kPlenty);
  EXPECT_EQ(get(third, 1)->origin(), CodeOrigin::disk);
}

TEST_F(CodeCacheTest, WholeEntryThatIsNoObjectIsCompiledAgain) {
  CodeCache cache(compiler_, disk_.get(), kPlenty);
  const std::string junk = "no objects here";
  disk_->store(support::make_cache_key(compiler_.code_key() + "\nadder 1"),
               std::as_bytes(std::span(junk.data(), junk.size())));
  EXPECT_EQ(call(*get(cache, 1), 1), 2);
  EXPECT_EQ(builds_, 1);
}

TEST_F(CodeCacheTest, KeepsNoMoreThanItsBound) {
  const uint64_t one =
      get(*std::make_unique<CodeCache>(compiler_, nullptr, kPlenty), 0)
          ->code_bytes();
  CodeCache cache(compiler_, nullptr, 2 * one);
  for (int i = 1; i <= 3; ++i) get(cache, i);
  EXPECT_EQ(cache.stats().bytes_kept, 2 * one);
  builds_ = 0;
  get(cache, 3);
  get(cache, 2);
  EXPECT_EQ(builds_, 0);
  get(cache, 1);  // Was dropped.
  EXPECT_EQ(builds_, 1);
}

TEST_F(CodeCacheTest, CodeInUseIsFoundThoughNotKept) {
  CodeCache cache(compiler_, nullptr, 0);
  auto code = get(cache, 1);
  EXPECT_EQ(cache.stats().bytes_kept, 0u);
  EXPECT_EQ(get(cache, 1), code);
  EXPECT_EQ(builds_, 1);
  code.reset();
  get(cache, 1);
  EXPECT_EQ(builds_, 2);
}

TEST_F(CodeCacheTest, ThreadsWaitForOneCompile) {
  CodeCache cache(compiler_, nullptr, kPlenty);
  std::vector<std::shared_ptr<const CompiledCode>> codes(8);
  {
    std::vector<std::jthread> threads;
    for (auto& code : codes) {
      threads.emplace_back([&] { code = get(cache, 1); });
    }
  }
  EXPECT_EQ(builds_, 1);
  EXPECT_THAT(codes, ::testing::Each(codes[0]));
}

TEST_F(CodeCacheTest, ThreadsWithDifferentKeysAndASmallBound) {
  CodeCache cache(compiler_, disk_.get(), 20'000);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 12; ++i) {
          const int addend = (t + i) % 6;
          if (call(*get(cache, addend), 100) != 100 + addend) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(CodeCacheTest, FailureReachesTheCallerAndIsNotKept) {
  CodeCache cache(compiler_, disk_.get(), kPlenty);
  const auto failing = []() -> IrModule { throw UserError("cannot emit"); };
  EXPECT_THROW(cache.get("adder 1", failing), UserError);
  EXPECT_EQ(call(*get(cache, 1), 1), 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
