#include "jit/program_compiler.h"

#include <map>
#include <string>

#include "fxjit/error.h"
#include "jit/emit/attention.h"
#include "jit/emit/columns.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/rows.h"
#include "jit/emit/tiles.h"
#include "jit/emit/winograd.h"
#include "jit/engine/compiler_llvm.h"

namespace fxjit::jit {
namespace {

using program::Program;
using program::StepBody;

// A kernel to make: the first step with its key, and its symbol.
struct KernelRequest {
  const StepBody* body;
  std::string symbol;
};

const char* kind_of(const StepBody& body) {
  struct Name {
    const char* operator()(const program::RowStep&) { return "rows"; }
    const char* operator()(const program::ColumnStep&) { return "columns"; }
    const char* operator()(const program::TileStep&) { return "tiles"; }
    const char* operator()(const program::AttentionStep&) {
      return "attention";
    }
    const char* operator()(const program::WinogradStep&) { return "winograd"; }
    const char* operator()(const program::ExternStep&) { return "extern"; }
  };
  return std::visit(Name{}, body);
}

void emit_step(VectorBuilder& b, const StepBody& body) {
  struct Emit {
    VectorBuilder& b;
    void operator()(const program::RowStep& step) { emit_rows(b, step); }
    void operator()(const program::ColumnStep& step) { emit_columns(b, step); }
    void operator()(const program::TileStep& step) { emit_tiles(b, step); }
    void operator()(const program::AttentionStep& step) {
      emit_attention(b, step);
    }
    void operator()(const program::WinogradStep& step) {
      emit_winograd(b, step);
    }
    void operator()(const program::ExternStep&) {
      throw InternalError("an extern step has no generated code");
    }
  };
  std::visit(Emit{b}, body);
}

IrModule emit_kernel(const KernelRequest& request, CpuLevel level) {
  IrModule module = make_ir_module(request.symbol);
  llvm::Function* function =
      make_kernel_function(module_of(module), request.symbol, level);
  VectorBuilder builder(*function, level);
  emit_step(builder, *request.body);
  return module;
}

class Requests {
 public:
  explicit Requests(const Program& program) {
    for (const program::Step& step : program.steps) {
      if (std::holds_alternative<program::ExternStep>(step.body)) {
        index_.push_back(-1);
        continue;
      }
      std::string key = program::step_key(step.body);
      auto [known, fresh] =
          known_.try_emplace(std::move(key), static_cast<int>(list_.size()));
      if (fresh) {
        list_.push_back({&step.body, std::string("fxjit_") +
                                         kind_of(step.body) + "_" +
                                         std::to_string(list_.size())});
        text_ += known->first + "\n";
      }
      index_.push_back(known->second);
    }
  }

  const std::vector<KernelRequest>& list() const { return list_; }
  const std::vector<int>& index() const { return index_; }  // By step.
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, int> known_;
  std::vector<KernelRequest> list_;
  std::vector<int> index_;
  std::string text_;
};

}  // namespace

ProgramCode compile_program(const Program& program, const Compiler& compiler,
                            CodeCache& cache, int max_threads) {
  const Requests requests(program);
  ProgramCode result;
  result.kernels.assign(program.steps.size(), nullptr);
  if (requests.list().empty()) return result;
  const CpuLevel level = compiler.options().cpu_level;
  result.code = cache.get(
      requests.text(),
      [&] {
        std::vector<IrModule> modules;
        for (const KernelRequest& request : requests.list())
          modules.push_back(emit_kernel(request, level));
        return modules;
      },
      SymbolTable(), max_threads);
  for (size_t i = 0; i < program.steps.size(); ++i)
    if (const int kernel = requests.index()[i]; kernel >= 0)
      result.kernels[i] = reinterpret_cast<program::KernelFn>(
          result.code->lookup(requests.list()[kernel].symbol));
  return result;
}

}  // namespace fxjit::jit
