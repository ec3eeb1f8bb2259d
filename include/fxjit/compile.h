// Compiling a GraphModule: installs native code as its forward in place of the
// interpreter. The module's graph and printed code stay as they are; an edit
// followed by recompile() drops the native code.
//
// A program is made for each tuple of input shapes (and of arguments that are
// not tensors). Calls that cannot be compiled (wrapped functions, assertions on
// tensors, writes to memory that is not contiguous) run by the interpreter, in their order,
// between native parts with programs of their own. All functions are
// thread-safe beside calls of the module. Calls by several threads that write
// the same input or buffer race for its elements, as they do in torch; a call
// that fails may put back elements that another has written since.
//
// fork() waits for compilations of other threads, ten seconds at most; the child
// may do all that the parent may, with threads of its own. Calls of other threads
// may go on while the process exits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/fx/graph_module.h"

namespace fxjit {

// The least stack of a thread that calls a compiled module, runs the
// interpreter or calls ops; what functions of the user's need comes on top.
// Compiling, also by a first call, takes a stack of its own where the thread has
// little. Tracing, editing and reading graphs need 256 KiB.
inline constexpr size_t kCallStackBytes = size_t{64} << 10;

// How a module is compiled. The defaults suit a server or a program that calls
// one model at a time.
struct CompileOptions {
  // Threads of one call, the calling one included; 0: all CPUs that the process
  // may use (affinity and cgroup quota).
  int threads = 0;
  // Narrower than the host's level for tests; never wider.
  std::optional<CpuLevel> cpu_level;
  // What a call with shapes not seen before does: `behind` answers by the
  // interpreter while one background thread compiles, `wait` compiles first.
  enum class NewShape { wait, behind };
  NewShape new_shape = NewShape::wait;
  // Sums of matrix products in order of depth, one chain each, so that a row
  // gives bitwise the same result alone and in any batch. Costs time where few
  // rows are computed together.
  bool strict_sums = false;
  // What computes matrix products: loops generated for each, or oneDNN where it
  // can (f32 on avx512 with a bias, gelu or additions behind; generated loops
  // elsewhere). `automatic` takes the one measured faster, which is `generated`
  // for f32 (docs/decisions/generated_products.md).
  enum class Contraction { automatic, generated, onednn };
  Contraction contraction = Contraction::automatic;
  // How f32 convolutions are computed. `automatic` transforms 3x3 windows of
  // stride 1 where that takes less time (Winograd's F(2x2) and F(4x4)): two to
  // three times as fast, but it rounds up to twice as much, one NaN or infinity
  // reaches all results of its tile of 4 x 4 pixels, and infinities may become
  // NaN. `direct`, and strict_sums, leave that out.
  enum class Convolution { automatic, direct };
  Convolution convolution = Convolution::automatic;
  // Products of up to 6 rows by weights of 2 MiB and more, or by more weights
  // together than the second-level cache holds, take as long as the weights
  // take to arrive, so they are kept in fewer bytes. `exact` keeps the
  // same numbers: in half of the bytes where all are numbers of f16 or bf16 (as
  // in checkpoints of such types), in 7/8 for up to 3 rows where they have few
  // different exponents (as most have; avx512 only). `rounded` keeps others in
  // 3/4 for up to 4 rows (avx2: 2), as fixed-point numbers of 24 bits. Each is
  // off by less than 2^-22 of the largest of its output, results by less than
  // sums of f32 lose otherwise; factors above 2^100 may overflow. Weights of a
  // wider spread, for which that would not hold, stay exact. Where products of
  // more rows use weights too, both forms are kept, but never 3/4 or 7/8 beside
  // f32 that is there before. strict_sums leaves all of this out.
  enum class NarrowWeights : uint8_t { never, exact, rounded };
  NarrowWeights narrow_weights = NarrowWeights::rounded;
  // Bytes of compiled programs (steps, code, primitives and working memory) kept
  // per module; the least recently used beyond it are dropped. Weights do not
  // count. Free output blocks come on top, an eighth of it at most, and what all
  // modules share: up to 40 MB of code, primitives and free memory.
  size_t memory_cap = size_t{256} << 20;
  // Folder of compiled objects. Nothing: $FXJIT_CACHE, else the XDG cache
  // folder; empty text: no disk cache.
  std::optional<std::string> cache_folder;
  // Files of write_kernel_pack() to take kernels from before the cache is asked
  // and anything compiled. One that cannot be used is reported by a warning.
  std::vector<std::string> kernel_packs;
  // The same with the kernels of common layers that were compiled when the
  // library was built, for the CPU of that machine; they lie beside it, in
  // fxjit/kernels.pack, or where $FXJIT_KERNELS says (empty: nowhere).
  bool shipped_kernels = true;
  // Code that is not scheduled for the CPU of this machine, but serves any of the
  // level: what packs for other machines are made of.
  bool portable_kernels = false;
  // How many iterations a loop of control flow (fx/control_flow.h) may take: the
  // next is a RuntimeError. 0: as many as it takes.
  int64_t loop_limit = 0;
  // Asked before each iteration; where it holds, the call ends with a
  // RuntimeError. Called by the threads that call the module.
  std::function<bool()> interrupted;
  // Passes to leave out, by name (see optional_passes()).
  std::vector<std::string> disabled_passes;
  // Folder for graphs before and after each pass, LLVM IR and assembly; empty:
  // $FXJIT_DUMP, else none.
  std::string dump_folder;
  // Makes generated code visible to `perf` and gdb.
  bool debug_support = false;
};

// Writes what a folder of CompileOptions::cache_folder holds to one file, whole
// or not at all, and returns the number of kernels: an application that ships
// it answers at once where the same build of the library runs on the same CPU
// (portable_kernels: on any of the level), and compiles elsewhere. Throws UserError when the folder has no kernels or
// cannot be read, or the file cannot be written.
size_t write_kernel_pack(const std::string& cache_folder,
                         const std::string& file);

// Prepares `module` for compiled calls. Compiles nothing yet. Does nothing when
// FXJIT_BACKEND=interpreter is set. Throws UserError for bad options.
void compile(fx::GraphModule& module, const CompileOptions& options = {});

// Compiles for inputs like these (values of the placeholders, tensors real or
// meta) and waits for it. False, and a warning logged, when these inputs stay
// with the interpreter. Only up to the first node that does: what follows it is
// compiled when a call comes there. UserError when the module was not compiled.
bool prepare(fx::GraphModule& module, std::span<const Value> inputs);

// A call with its results in memory of the caller's: the i-th tensor that the
// module returns, counted through lists and dicts, is written to outputs[i],
// straight by the compiled program where that is dense in row-major order,
// begins at a multiple of 64 bytes and shares no memory with an input, by a copy
// at the end elsewhere. Returns what the module returns, with `outputs` as its
// tensors. UserError when count, dtypes or sizes differ from the result's, or an
// output is read only, shares elements with itself or another output; nothing is
// written then. Outputs must not be memory of the module's parameters.
Value call_into(fx::GraphModule& module, const ValueList& args,
                std::span<const Tensor> outputs);

// What was compiled, for each shape: steps, which ops each holds, which are
// native; and why something is not. A node that stays with the interpreter ends
// a part of the graph; the next part is listed under the shapes that came out.
// Empty when nothing was compiled.
std::string report(const fx::GraphModule& module);

// One step of a compiled program, as the median over calls.
struct StepProfile {
  std::string label;               // "matmul+add+gelu"
  std::vector<std::string> nodes;  // Nodes of the module's graph it computes.
  bool native = true;              // False: an eager function.
  double microseconds = 0;
  // Floating-point operations of one call (a smooth function counts as many
  // multiply-adds as take its time), and bytes read and written, each once.
  double flops = 0;
  double bytes = 0;
  double gflops = 0;     // 10^9 floating-point operations a second.
  double gigabytes = 0;  // 10^9 bytes a second, each byte once.
  // Least time that the machine's arithmetic and bandwidth, as measured,
  // would allow, over the time taken. 0 for nodes of the interpreter.
  double of_limit = 0;
  // For a step of a branch or a loop's body: see StepReport. Operations, bytes
  // and rates are those of all its calls.
  std::string body = {};
  double calls = 1;
};

// What profile() measured. Times are of wall clock.
struct Profile {
  double call_microseconds = 0;  // Whole call, median.
  std::vector<StepProfile> steps;
  size_t arena_bytes = 0;
  size_t packed_bytes = 0;
  // Where the time of the compilation went, in milliseconds.
  double passes_ms = 0, emit_ms = 0, optimise_ms = 0, codegen_ms = 0,
         link_ms = 0, pack_ms = 0;
  bool from_disk_cache = false;  // Or from a pack of kernels.
};

// Runs the compiled program for these inputs `calls` times with a clock around
// each step. UserError when they have no compiled program.
Profile profile(fx::GraphModule& module, std::span<const Value> inputs,
                int calls = 20);

// A table with a line for each step, and one for all of them: time, operations,
// bytes, rates and share of the limit. Fewer bytes for the same result is what
// fusing gains, fewer operations per second is what it may cost.
std::string profile_text(const Profile& profile);

// Names that CompileOptions::disabled_passes and FXJIT_DISABLE accept.
std::vector<std::string> optional_passes();

// Versions of fxjit, LLVM and oneDNN, CPU level, huge pages and executable
// memory as found, a line each.
std::string version_text();

}  // namespace fxjit
