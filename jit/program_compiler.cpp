#include "jit/program_compiler.h"

#include <map>
#include <string>
#include <variant>

#include "fxjit/error.h"
#include "jit/emit/attention.h"
#include "jit/emit/columns.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/rows.h"
#include "jit/emit/tile_kernel.h"
#include "jit/emit/winograd.h"
#include "jit/engine/compiler_llvm.h"

namespace fxjit::jit {
namespace {

using program::Program;
using program::StepBody;

using program::TileKernel;
using program::TileRun;
using program::TileStep;

// A kernel to make, by the first step that needs it, and its symbol.
struct KernelRequest {
  std::variant<const StepBody*, const TileKernel*> what;
  std::string symbol;
};

const char* kind_of(const StepBody& body) {
  struct Name {
    const char* operator()(const program::RowStep&) { return "rows"; }
    const char* operator()(const program::ColumnStep&) { return "columns"; }
    const char* operator()(const TileStep&) { return "tiles"; }
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
    void operator()(const program::AttentionStep& step) {
      emit_attention(b, step);
    }
    void operator()(const program::WinogradStep& step) {
      emit_winograd(b, step);
    }
    void operator()(const TileStep&) {
      throw InternalError("a tile step's code is that of its kernels");
    }
    void operator()(const program::ExternStep&) {
      throw InternalError("an extern step has no generated code");
    }
  };
  std::visit(Emit{b}, body);
}

IrModule emit_kernel(const KernelRequest& request, CpuLevel level) {
  IrModule ir = make_ir_module(request.symbol);
  llvm::Module& module = module_of(ir);
  if (const auto* tile = std::get_if<const TileKernel*>(&request.what)) {
    VectorBuilder builder(*make_tile_function(module, request.symbol, level),
                          level);
    emit_tile_kernel(builder, **tile);
  } else {
    VectorBuilder builder(*make_kernel_function(module, request.symbol, level),
                          level);
    emit_step(builder, *std::get<const StepBody*>(request.what));
  }
  return ir;
}

class Requests {
 public:
  Requests(const Program& program, CpuLevel level) {
    for (const program::Step& step : program.steps) add(step.body, level);
  }

  const std::vector<KernelRequest>& list() const { return list_; }
  const std::string& text() const { return text_; }

  // The code of every step, its kernels linked.
  std::vector<program::StepCode> resolve(const CompiledCode& code) const {
    std::vector<program::StepCode> steps;
    for (const StepNeeds& needs : steps_) {
      program::StepCode& step = steps.emplace_back();
      if (needs.run) {
        for (size_t i = 0; i < needs.kernels.size(); ++i)
          needs.run->set_kernel(i, address<program::TileFn>(code, needs, i));
        step = {program::run_tile_step, needs.run};
      } else if (!needs.kernels.empty()) {
        step.kernel = address<program::KernelFn>(code, needs, 0);
      }
    }
    return steps;
  }

 private:
  struct StepNeeds {
    std::shared_ptr<TileRun> run;  // Of tile steps.
    std::vector<size_t> kernels;   // Into the list.
  };

  void add(const StepBody& body, CpuLevel level) {
    StepNeeds& needs = steps_.emplace_back();
    if (const auto* tiles = std::get_if<TileStep>(&body)) {
      needs.run = std::make_shared<TileRun>(*tiles, level);
      for (const TileKernel& kernel : needs.run->kernels())
        needs.kernels.push_back(
            enter(program::tile_kernel_key(kernel), &kernel, "tile"));
    } else if (!std::holds_alternative<program::ExternStep>(body)) {
      needs.kernels.push_back(
          enter(program::step_key(body), &body, kind_of(body)));
    }
  }

  size_t enter(std::string key,
               std::variant<const StepBody*, const TileKernel*> what,
               const char* kind) {
    auto [known, fresh] = known_.try_emplace(std::move(key), list_.size());
    if (fresh) {
      list_.push_back({what, std::string("fxjit_") + kind + "_" +
                                 std::to_string(list_.size())});
      text_ += known->first + "\n";
    }
    return known->second;
  }

  template <typename Fn>
  Fn address(const CompiledCode& code, const StepNeeds& needs, size_t i) const {
    return reinterpret_cast<Fn>(code.lookup(list_[needs.kernels[i]].symbol));
  }

  std::map<std::string, size_t> known_;
  std::vector<KernelRequest> list_;
  std::vector<StepNeeds> steps_;
  std::string text_;
};

}  // namespace

ProgramCode compile_program(const Program& program, const Compiler& compiler,
                            CodeCache& cache, int max_threads) {
  const CpuLevel level = compiler.options().cpu_level;
  const Requests requests(program, level);
  ProgramCode result;
  result.kernels.resize(program.steps.size());
  if (requests.list().empty()) return result;
  result.code = cache.get(
      requests.text(),
      [&] {
        std::vector<IrModule> modules;
        for (const KernelRequest& request : requests.list())
          modules.push_back(emit_kernel(request, level));
        return modules;
      },
      SymbolTable(), max_threads);
  result.kernels = requests.resolve(*result.code);
  return result;
}

}  // namespace fxjit::jit
