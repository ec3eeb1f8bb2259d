// Compiling a GraphModule: installs native code as its forward in place of the
// interpreter. The module's graph and printed code stay as they are; an edit
// followed by recompile() drops the native code.
//
// A program is made for each tuple of input shapes (and of arguments that are
// not tensors). Calls that cannot be compiled (wrapped functions, assertions on
// tensors, writes to memory that is not contiguous) run by the interpreter, in
// their order, between native parts with programs of their own. All functions
// are thread-safe beside calls of the module. Calls by several threads that
// write the same input or buffer race for its elements, as they do in torch; a
// call that fails may put back elements that another has written since.
//
// fork() waits for compilations of other threads, ten seconds at most; the
// child may do all that the parent may, with threads of its own. Calls of other
// threads may go on while the process exits.
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
#include "fxjit/named_sizes.h"

namespace fxjit {

// The least stack of a thread that calls a compiled module, runs the
// interpreter or calls ops; what functions of the user's need comes on top.
// Compiling, also by a first call, takes a stack of its own where the thread
// has little. Tracing, editing and reading graphs need 256 KiB.
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
  // Names for sizes that change from call to call: an entry for each tensor and
  // each other value among the inputs, in order, counted through lists and
  // dicts; more may be left out at the end. An entry that names a dim replaces
  // what the model's file says of the input. A call whose sizes are outside of
  // a range, or differ where they have one name, throws RuntimeError.
  std::vector<InputSizes> sizes;
  // Every sum of a matrix product is added up in order of depth, in one chain.
  // A row then gives bitwise the same result alone and in any batch. Costs time
  // where few rows are computed together.
  bool strict_sums = false;
  // What computes matrix products: loops generated for each, or oneDNN where it
  // can (f32 on avx512 with a bias, gelu or additions behind; generated loops
  // elsewhere). `automatic` takes the one measured faster, which is `generated`
  // for f32 (docs/decisions/generated_products.md).
  enum class Contraction { automatic, generated, onednn };
  Contraction contraction = Contraction::automatic;
  // How f32 convolutions are computed. `automatic` uses Winograd's transforms,
  // F(2x2) and F(4x4), for 3x3 windows of stride 1 where they take less time.
  // That is two to three times as fast, but rounds up to twice as much; one NaN
  // or infinity reaches all results of its tile of 4 x 4 pixels, and infinities
  // may become NaN. `direct` never uses them, nor does strict_sums.
  enum class Convolution { automatic, direct };
  Convolution convolution = Convolution::automatic;
  // How weights of products of few rows (up to 6) are stored. Such products
  // take as long as the weights take to arrive from memory, so weights of 2 MiB
  // and more are stored in fewer bytes; smaller ones, too, if all of them
  // together exceed the second-level cache.
  //
  // `exact` keeps every number. It takes half of the bytes if all numbers are
  // numbers of f16 or bf16, as in checkpoints of such types. It takes 7/8 for
  // up to 3 rows if the weights have few different exponents, as most have
  // (avx512 only). `rounded` stores all others as fixed-point numbers of 24
  // bits, 3/4 of the bytes, for up to 4 rows (2 on avx2). A weight is then off
  // by less than 2^-22 of the largest one of its output, and results by less
  // than sums of f32 lose anyway; factors above 2^100 may overflow. Weights of
  // a wider spread, for which that would not hold, stay exact.
  //
  // If products of more rows use the weights as well, both formats are kept,
  // but never 3/4 or 7/8 beside f32. strict_sums switches all of this off.
  enum class NarrowWeights : uint8_t { never, exact, rounded };
  NarrowWeights narrow_weights = NarrowWeights::rounded;
  // Whether products of 8-bit integers use the instruction that adds four of
  // them in 32 bits (AVX-VNNI on avx2, AVX512-VNNI on avx512), where the CPU has
  // it. The results are the same.
  bool dot_products = true;
  // Whether they use tile registers (AMX int8) for more than a few rows, with
  // avx512 where the CPU has them and the system lets this process use them.
  // A few rows are products by the instruction above, without which there are
  // no tiles. The results are the same.
  bool tile_products = true;
  // The most bytes of compiled programs (steps, code, primitives and working
  // memory) that a module keeps; beyond it the least recently used are dropped.
  // Programs of named sizes, which are made anew in a millisecond, get 1/32 of
  // it (docs/sizes.md). Weights do not count. On top come free output blocks, an eighth of the cap
  // at most, and what all modules share: up to 40 MB of code, primitives and
  // free memory.
  size_t memory_cap = size_t{256} << 20;
  // Folder of compiled objects. Nothing: $FXJIT_CACHE, else the XDG cache
  // folder; empty text: no disk cache.
  std::optional<std::string> cache_folder;
  // Files made by write_kernel_pack(). Kernels are taken from them before the
  // cache is asked or anything is compiled. A file that cannot be used is
  // reported by a warning.
  std::vector<std::string> kernel_packs;
  // Whether to use the pack that was made when the library was built, with the
  // kernels of common layers for the CPU of that machine. It lies beside the
  // library, in fxjit/kernels.pack, or where $FXJIT_KERNELS says (empty:
  // nowhere).
  bool shipped_kernels = true;
  // Generates code for any CPU of the level instead of scheduling it for this
  // machine's. Meant for packs that are made for other machines.
  bool portable_kernels = false;
  // The most iterations that a loop of control flow (fx/control_flow.h) may
  // take; the next one throws RuntimeError. 0: no limit.
  int64_t loop_limit = 0;
  // Called before each iteration of such a loop, by the threads that call the
  // module. If it returns true, the call ends with a RuntimeError.
  std::function<bool()> interrupted;
  // Passes to leave out, by name (see optional_passes()).
  std::vector<std::string> disabled_passes;
  // Folder for graphs before and after each pass, LLVM IR and assembly; empty:
  // $FXJIT_DUMP, else none.
  std::string dump_folder;
  // Makes generated code visible to `perf` and gdb.
  bool debug_support = false;
};

// Writes the kernels in a folder of CompileOptions::cache_folder to one file,
// whole or not at all, and returns their number. An application that ships the
// file need not compile them if the same build of the library runs on the same
// CPU (with portable_kernels: on any CPU of the level). Throws UserError if the
// folder has no kernels or cannot be read, or if the file cannot be written.
size_t write_kernel_pack(const std::string& cache_folder,
                         const std::string& file);

// Prepares `module` for compiled calls. Compiles nothing yet. Does nothing when
// FXJIT_BACKEND=interpreter is set. Throws UserError for bad options.
void compile(fx::GraphModule& module, const CompileOptions& options = {});

// Compiles for inputs like these, one value for each placeholder (tensors may
// be meta), and waits for it. Returns false, and logs a warning, if these
// inputs stay with the interpreter. If a node stays with the interpreter, only
// the part before it is compiled; what follows is compiled when a call comes
// there. Throws UserError if the module was not compiled.
bool prepare(fx::GraphModule& module, std::span<const Value> inputs);

// Calls the module with results in the caller's memory. The i-th tensor of the
// result, counted through lists and dicts, is written to outputs[i]. The
// compiled program writes it directly if outputs[i] is row-major, begins at a
// multiple of 64 bytes and shares no memory with an input; otherwise it is
// copied at the end. Returns what the module returns, with `outputs` as its
// tensors. Throws UserError, and writes nothing, if count, dtypes or sizes
// differ from the result's, or if an output is read-only or shares elements
// with itself or another output. Outputs must not be memory of the module's
// parameters.
Value call_into(fx::GraphModule& module, const ValueList& args,
                std::span<const Tensor> outputs);

// A text on what was compiled for each tuple of input shapes: the steps, which
// ops each holds, which are native, and why others are not. A node that stays
// with the interpreter ends a part of the graph; the next part is listed under
// the shapes that came out of it. Empty if nothing was compiled.
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
