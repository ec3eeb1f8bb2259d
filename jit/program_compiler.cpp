#include "jit/program_compiler.h"

#include <deque>
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
#include "src/support/object_cache.h"
#include "src/support/run_tasks.h"

namespace fxjit::jit {
namespace {

using program::Program;
using program::StepBody;

using program::TileKernel;
using program::TileRun;
using program::TileStep;
using program::WinogradForm;
using program::WinogradStep;

// A kernel to make, by the first step that needs it. The symbol does not depend
// on the program: others may ask for the same kernel.
struct KernelRequest {
  using What =
      std::variant<const StepBody*, const TileKernel*, const WinogradForm*>;
  What what;
  std::string key;
  std::string symbol;
};

std::string symbol_of(const char* kind, const std::string& key) {
  constexpr size_t kDigits = 12;
  return std::string("fxjit_") + kind + "_" +
         support::make_cache_key(key).hex().substr(0, kDigits);
}

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
    void operator()(const WinogradStep&) {
      throw InternalError("a Winograd step's code is that of its form");
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
    if (const auto* form = std::get_if<const WinogradForm*>(&request.what))
      emit_winograd(builder, **form);
    else
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

  // The code of every step; `code` is that of list().
  using Codes = std::vector<std::shared_ptr<const CompiledCode>>;
  std::vector<program::StepCode> resolve(const Codes& code) const {
    std::vector<program::StepCode> steps;
    for (const StepNeeds& needs : steps_) {
      program::StepCode& step = steps.emplace_back();
      if (needs.run) {
        for (size_t i = 0; i < needs.kernels.size(); ++i)
          needs.run->set_kernel(i, address<program::TileFn>(code, needs, i));
        step = {program::run_tile_step, needs.run};
      } else if (!needs.kernels.empty()) {
        step = {address<program::KernelFn>(code, needs, 0), needs.numbers};
      }
    }
    return steps;
  }

 private:
  struct StepNeeds {
    std::shared_ptr<TileRun> run;            // Of tile steps.
    std::shared_ptr<const int64_t> numbers;  // Of Winograd steps.
    std::vector<size_t> kernels;             // Into the list.
  };

  void add(const StepBody& body, CpuLevel level) {
    StepNeeds& needs = steps_.emplace_back();
    if (const auto* tiles = std::get_if<TileStep>(&body)) {
      needs.run = std::make_shared<TileRun>(*tiles, level);
      for (const TileKernel& kernel : needs.run->kernels())
        needs.kernels.push_back(
            enter(program::tile_kernel_key(kernel), &kernel, "tile"));
    } else if (const auto* winograd = std::get_if<WinogradStep>(&body)) {
      const auto numbers = std::make_shared<const std::vector<int64_t>>(
          program::winograd_numbers(*winograd, level));
      needs.numbers = {numbers, numbers->data()};
      const WinogradForm& form =
          forms_.emplace_back(program::winograd_form(*winograd, level));
      needs.kernels.push_back(
          enter(program::winograd_form_key(form), &form, "winograd"));
    } else if (!std::holds_alternative<program::ExternStep>(body)) {
      needs.kernels.push_back(
          enter(program::step_key(body), &body, kind_of(body)));
    }
  }

  size_t enter(std::string key, KernelRequest::What what, const char* kind) {
    const auto [known, fresh] = known_.try_emplace(key, list_.size());
    if (fresh)
      list_.push_back({what, std::move(key), symbol_of(kind, known->first)});
    return known->second;
  }

  template <typename Fn>
  Fn address(const Codes& code, const StepNeeds& needs, size_t i) const {
    const size_t at = needs.kernels[i];
    return reinterpret_cast<Fn>(code[at]->lookup(list_[at].symbol));
  }

  std::deque<WinogradForm> forms_;  // The list points into it.
  std::map<std::string, size_t> known_;
  std::vector<KernelRequest> list_;
  std::vector<StepNeeds> steps_;
};

// Each kernel from the cache, or compiled, by several threads.
class Compilation {
 public:
  Compilation(const Requests& requests, CpuLevel level, CodeCache& cache)
      : requests_(requests),
        level_(level),
        cache_(cache),
        code_(requests.list().size()),
        fresh_(code_.size()) {}

  ProgramCode run(int max_threads) {
    support::run_tasks(code_.size(), max_threads, [this](size_t i) { get(i); });
    return finish();
  }

 private:
  void get(size_t i) {
    const KernelRequest& request = requests_.list()[i];
    bool fresh = false;
    code_[i] = cache_.get(
        request.key,
        [&] {
          std::vector<IrModule> modules;
          modules.push_back(emit_kernel(request, level_));
          return modules;
        },
        SymbolTable(), 1, &fresh);
    fresh_[i] = fresh;
  }

  ProgramCode finish() {
    ProgramCode result;
    result.kernels = requests_.resolve(code_);
    size_t fresh = 0, from_disk = 0;
    for (size_t i = 0; i < code_.size(); ++i) {
      if (!fresh_[i]) continue;
      const CompileTimings& timings = code_[i]->timings();
      result.timings.emit_us += timings.emit_us;
      result.timings.optimise_us += timings.optimise_us;
      result.timings.codegen_us += timings.codegen_us;
      result.timings.link_us += timings.link_us;
      result.fresh_bytes += code_[i]->code_bytes();
      ++fresh;
      from_disk += code_[i]->origin() == CodeOrigin::disk;
    }
    result.from_disk = fresh > 0 && from_disk == fresh;
    result.code = std::move(code_);
    return result;
  }

  const Requests& requests_;
  CpuLevel level_;
  CodeCache& cache_;
  Requests::Codes code_;
  std::vector<char> fresh_;  // Not bool: written by several threads.
};

}  // namespace

ProgramCode compile_program(const Program& program, const Compiler& compiler,
                            CodeCache& cache, int max_threads) {
  const CpuLevel level = compiler.options().cpu_level;
  const Requests requests(program, level);
  return Compilation(requests, level, cache).run(max_threads);
}

}  // namespace fxjit::jit
