// The JIT engine on small textual IR: compile, link, call, fail, unmap.
#include "jit/engine/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "fxjit/error.h"
#include "jit/engine/ir_module.h"
#include "tests/jit/build_ir.h"

namespace fxjit::jit {
namespace TEST_FILE {

using ::testing::HasSubstr;

constexpr const char* kAddOne = R"(
define i32 @add_one(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}
)";

IrModule one_module(std::string_view text, std::string_view name = "test") {
  return parse_ir(text, name);
}

template <typename Error, typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The permissions of the mapping that holds `address`, as "r-xp".
std::string permissions_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    char permissions[8] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, permissions) !=
        3) {
      continue;
    }
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (begin <= at && at < end) return permissions;
  }
  return "unmapped";
}

long resident_bytes() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Engine, CompilesAndCalls) {
  const Compiler compiler{EngineOptions{}};
  const auto code = build(compiler, one_module(kAddOne));
  EXPECT_EQ(code->function<int(int)>("add_one")(41), 42);
  EXPECT_GT(code->code_bytes(), 0u);
}

TEST(Engine, CodeOutlivesItsCompiler) {
  std::shared_ptr<CompiledCode> code;
  {
    const Compiler compiler{EngineOptions{}};
    code = build(compiler, one_module(kAddOne));
  }
  EXPECT_EQ(code->function<int(int)>("add_one")(1), 2);
}

TEST(Engine, UnknownLookupNamesTheSymbol) {
  const Compiler compiler{EngineOptions{}};
  const auto code = build(compiler, one_module(kAddOne));
  EXPECT_THAT(message_of<InternalError>([&] { code->lookup("nothing"); }),
              HasSubstr("nothing"));
}

constexpr const char* kCallsOutside = R"(
declare i32 @outside(i32)
define i32 @call_outside(i32 %x) {
  %y = call i32 @outside(i32 %x)
  ret i32 %y
}
)";

TEST(Engine, UnknownSymbolIsNamed) {
  const Compiler compiler{EngineOptions{}};
  const std::string message = message_of<InternalError>(
      [&] { build(compiler, one_module(kCallsOutside)); });
  EXPECT_THAT(message, HasSubstr("outside"));
  EXPECT_THAT(message, HasSubstr("unknown symbol"));
}

TEST(Engine, DoesNotSearchTheProcess) {
  const Compiler compiler{EngineOptions{}};
  const auto modules = [] {
    return one_module(R"(
declare i32 @getpid()
define i32 @pid() {
  %p = call i32 @getpid()
  ret i32 %p
}
)");
  };
  EXPECT_THROW(build(compiler, modules()), InternalError);
}

TEST(Engine, RuntimeFunctionsOfLibmAreKnown) {
  const Compiler compiler{EngineOptions{}};
  const auto code = build(compiler, one_module(R"(
declare float @llvm.exp.f32(float)
define float @exponential(float %x) {
  %y = call float @llvm.exp.f32(float %x)
  ret float %y
}
)"));
  EXPECT_EQ(code->function<float(float)>("exponential")(1.5f), std::exp(1.5f));
}

TEST(Engine, InvalidModuleShowsTheVerifiersText) {
  const Compiler compiler{EngineOptions{}};
  const std::string message = message_of<InternalError>([&] {
    compiler.compile(one_module(R"(
define i32 @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  %x = add i32 1, 2
  br label %b
b:
  ret i32 %x
}
)",
                                "broken"));
  });
  EXPECT_THAT(message, HasSubstr("broken"));
  EXPECT_THAT(message, HasSubstr("does not dominate"));
}

TEST(Engine, TextThatIsNoIrIsTheUsersError) {
  EXPECT_THAT(message_of<UserError>([] { parse_ir("\n%%", "bad"); }),
              HasSubstr("bad:2"));
}

#if defined(__SANITIZE_ADDRESS__)
using AllowLeaks = __lsan::ScopedDisabler;
#else
struct AllowLeaks {
  ~AllowLeaks() {}
};
#endif

TEST(Engine, FatalErrorOfLlvmIsAnException) {
  const AllowLeaks allow_leaks;  // LLVM's state is unknown then, and kept.
  EngineOptions options;
  options.cpu_level = CpuLevel::sse41;
  const Compiler compiler(options);
  const std::string message = message_of<InternalError>([&] {
    compiler.compile(one_module(R"(
declare <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float>, <16 x float>, i16)
define <16 x float> @f(<16 x float> %x) {
  %y = call <16 x float> @llvm.x86.avx512.rcp14.ps.512(<16 x float> %x, <16 x float> %x, i16 -1)
  ret <16 x float> %y
}
)"));
  });
  EXPECT_THAT(message, HasSubstr("[jit] LLVM: "));
  // The engine still works.
  const auto code = build(compiler, one_module(kAddOne));
  EXPECT_EQ(code->function<int(int)>("add_one")(1), 2);
}

// No emitter writes any that has text, so LLVM's parser of assembly is left out
// of the library.
TEST(Engine, InlineAssemblyIsRefused) {
  const AllowLeaks allowed;
  const Compiler compiler{EngineOptions{}};
  EXPECT_THAT(message_of<InternalError>([&] {
                compiler.compile(one_module(R"(
define void @f() {
  call void asm sideeffect "nop", ""()
  ret void
}
)"));
              }),
              HasSubstr("Inline asm not supported"));
}

TEST(Engine, PagesAreNeverWritableAndExecutable) {
  const Compiler compiler{EngineOptions{}};
  const auto code = build(compiler, one_module(R"(
@table = constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0]
@counter = global i32 0
define ptr @get() {
  ret ptr @table
}
)"));
  EXPECT_EQ(permissions_of(code->lookup("get")), "r-xp");
  EXPECT_EQ(permissions_of(code->lookup("table")), "r--p");
  EXPECT_EQ(permissions_of(code->lookup("counter")), "rw-p");
  EXPECT_EQ(code->function<void*()>("get")(), code->lookup("table"));
}

TEST(Engine, DestroyingCodeUnmapsIt) {
  const Compiler compiler{EngineOptions{}};
  const CompiledObject object = compiler.compile(one_module(kAddOne));
  auto code = compiler.link(object);
  const void* const function = code->lookup("add_one");
  code.reset();
  EXPECT_THAT(permissions_of(function), ::testing::Not(HasSubstr("x")));
}

TEST(Engine, RepeatedLinkingDoesNotGrow) {
  if (build_sanitizer() != Sanitizer::none) {
    GTEST_SKIP() << "sanitizers hold freed memory back";
  }
  const Compiler compiler{EngineOptions{}};
  const CompiledObject object = compiler.compile(one_module(kAddOne));
  const auto link_many = [&](int count) {
    for (int i = 0; i < count; ++i) compiler.link(object);
  };
  link_many(100);
  const long before = resident_bytes();
  link_many(1000);
  EXPECT_LT(resident_bytes() - before, 1 << 20);
}

TEST(Engine, RepeatedCompilationDoesNotGrow) {
  if (build_sanitizer() != Sanitizer::none) {
    GTEST_SKIP() << "sanitizers hold freed memory back";
  }
  const Compiler compiler{EngineOptions{}};
  const auto compile_many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      build(compiler, one_module(kAddOne));
    }
  };
  compile_many(50);
  const long before = resident_bytes();
  compile_many(200);
  EXPECT_LT(resident_bytes() - before, 4 << 20);
}

TEST(Engine, ObjectsAreReproducible) {
  const Compiler one{EngineOptions{}};
  const Compiler other{EngineOptions{}};
  const CompiledObject object = one.compile(one_module(kCallsOutside));
  EXPECT_EQ(object.bytes, other.compile(one_module(kCallsOutside)).bytes);
}

// Code generators serve many modules, one after the other.
TEST(Engine, ModulesLeaveNoTraceInTheNext) {
  const Compiler fresh{EngineOptions{}};
  const auto want = fresh.compile(one_module(kCallsOutside)).bytes;
  const Compiler used{EngineOptions{}};
  used.compile(one_module(R"(
@table = private constant [2 x double] [double 1.0, double 2.0]
declare double @llvm.fma.f64(double, double, double)
define double @add_one(double %x) {
  %at = getelementptr double, ptr @table, i64 1
  %y = load double, ptr %at
  %z = call double @llvm.fma.f64(double %x, double %y, double 7.5)
  ret double %z
}
)"));
  const AllowLeaks allowed;
  message_of<InternalError>([&] {
    used.compile(one_module(R"(
define void @f() {
  call void asm sideeffect "nop", ""()
  ret void
}
)"));
  });
  EXPECT_EQ(used.compile(one_module(kCallsOutside)).bytes, want);
  EXPECT_EQ(used.compile(one_module(kCallsOutside)).bytes, want);
}

TEST(Engine, DamagedObjectIsAnErrorNotACrash) {
  const Compiler compiler{EngineOptions{}};
  const CompiledObject object{
      "\x7f"
      "ELF, or so it says"};
  EXPECT_THROW(compiler.link(object), InternalError);
}

TEST(Engine, ServesManyThreadsAtOnce) {
  const Compiler compiler{EngineOptions{}};
  constexpr int kThreads = 8;
  std::vector<int> results(kThreads);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) {
        const auto code = build(compiler, one_module(kAddOne));
        results[i] = code->function<int(int)>("add_one")(i);
      }
    });
  }
  threads.clear();
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(results[i], i + 1);
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

// Exit status: 0 denied as specified, 1 not, 2 this kernel cannot deny it.
[[noreturn]] void try_without_executable_memory() {
  constexpr unsigned long kRefuseExecGain = 1;
  if (prctl(PR_SET_MDWE, kRefuseExecGain, 0, 0, 0) != 0) _exit(2);
  const Compiler compiler{EngineOptions{}};
  try {
    build(compiler, one_module(kAddOne));
  } catch (const RuntimeError&) {
    _exit(0);
  }
  _exit(1);
}

TEST(EngineDeathTest, DeniedExecutableMemoryIsARuntimeError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      try_without_executable_memory(),
      [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) != 1; },
      "");
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
