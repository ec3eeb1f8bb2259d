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
#include "src/program/columns/form.h"
#include "src/program/rows/form.h"
#include "src/program/tiles/run.h"
#include "src/support/disk/object_cache.h"
#include "src/support/threads/run_tasks.h"

namespace fxjit::jit {
namespace {

using program::AttentionKernel;
using program::AttentionRun;
using program::ColumnForm;
using program::Program;
using program::RowForm;
using program::StepBody;
using program::TileKernel;
using program::TileRun;
using program::WinogradForm;
using program::WinogradStep;

// A kernel to make, by the first step that needs it. The symbol does not depend
// on the program: others may ask for the same kernel.
struct WantedKernel {
  using What =
      std::variant<const RowForm*, const ColumnForm*, const TileKernel*,
                   const AttentionKernel*, const WinogradForm*>;
  What what;
  std::string key;
  std::string symbol;
};

std::string symbol_of(const char* kind, const std::string& key) {
  constexpr size_t kDigits = 12;
  return std::string("fxjit_") + kind + "_" +
         support::make_cache_key(key).hex().substr(0, kDigits);
}

// What differs from kind to kind of a kernel: the beginning of its symbol, the
// function it lies in, its code.
struct Emitter {
  llvm::Module& module;
  const std::string& symbol;
  CpuLevel level;

  void operator()(const RowForm* form) const { whole_step(emit_rows, *form); }
  void operator()(const ColumnForm* form) const {
    whole_step(emit_columns, *form);
  }
  void operator()(const WinogradForm* form) const {
    whole_step(emit_winograd, *form);
  }
  void operator()(const TileKernel* kernel) const {
    task(emit_tile_kernel, *kernel);
  }
  void operator()(const AttentionKernel* kernel) const {
    task(emit_attention, *kernel);
  }

 private:
  template <typename What>
  void whole_step(void (*emit)(VectorBuilder&, const What&),
                  const What& what) const {
    VectorBuilder b(*make_kernel_function(module, symbol, level), level);
    emit(b, what);
  }
  template <typename What>
  void task(void (*emit)(VectorBuilder&, const What&), const What& what) const {
    VectorBuilder b(*make_task_function(module, symbol, level), level);
    emit(b, what);
  }
};

IrModule emit_kernel(const WantedKernel& wanted, CpuLevel level) {
  IrModule ir = make_ir_module(wanted.symbol);
  std::visit(Emitter{module_of(ir), wanted.symbol, level}, wanted.what);
  return ir;
}

class Requests {
 public:
  Requests(const Program& program, CpuLevel level) {
    for (const program::Step& step : program.steps) add(step.body, level);
  }

  const std::vector<WantedKernel>& list() const { return list_; }

  // By step, the kernels that it calls.
  std::vector<std::vector<int32_t>> of_step() const {
    std::vector<std::vector<int32_t>> steps;
    for (const StepNeeds& needs : steps_)
      steps.emplace_back(needs.kernels.begin(), needs.kernels.end());
    return steps;
  }

  // The code of every step; `code` is that of list().
  using Codes = std::vector<std::shared_ptr<const CompiledCode>>;
  std::vector<program::StepCode> resolve(const Codes& code) const {
    std::vector<program::StepCode> steps;
    for (const StepNeeds& needs : steps_) {
      program::StepCode& step = steps.emplace_back();
      if (needs.tiles) {
        for (size_t i = 0; i < needs.kernels.size(); ++i)
          needs.tiles->set_kernel(i, address<program::TileFn>(code, needs, i));
        step = {program::run_tile_step, needs.tiles, nullptr};
      } else if (needs.attention) {
        needs.attention->set_code(
            address<program::AttentionFn>(code, needs, 0));
        step = {program::run_attention_step, needs.attention, nullptr};
      } else if (!needs.kernels.empty()) {
        step = {address<program::KernelFn>(code, needs, 0), needs.arguments,
                nullptr};
      }
    }
    return steps;
  }

 private:
  struct StepNeeds {
    std::shared_ptr<TileRun> tiles;            // Of tile steps.
    std::shared_ptr<AttentionRun> attention;   // Of attention steps.
    std::shared_ptr<const int64_t> arguments;  // Of other generated steps.
    std::vector<size_t> kernels;               // Into the list.
  };

  // Forms stay where they are while the list points to them.
  struct Adder {
    Requests& to;
    StepNeeds& needs;
    CpuLevel level;

    void operator()(const program::RowStep& step) const {
      needs.arguments = shared(program::step_arguments(step));
      const RowForm& form =
          to.rows_.emplace_back(program::row_form(step, level));
      add(program::form_key(form), &form, "rows");
    }
    void operator()(const program::ColumnStep& step) const {
      needs.arguments = shared(program::step_arguments(step));
      const ColumnForm& form =
          to.columns_.emplace_back(program::column_form(step, level));
      add(program::form_key(form), &form, "columns");
    }
    void operator()(const program::TileStep& step) const {
      needs.tiles = std::make_shared<TileRun>(step, level);
      for (const TileKernel& kernel : needs.tiles->kernels())
        add(program::tile_kernel_key(kernel), &kernel, "tile");
    }
    void operator()(const program::AttentionStep& step) const {
      needs.attention = std::make_shared<AttentionRun>(step, level);
      const AttentionKernel& kernel = needs.attention->kernel();
      add(program::attention_kernel_key(kernel), &kernel, "attention");
    }
    void operator()(const WinogradStep& step) const {
      needs.arguments = shared(program::winograd_numbers(step, level));
      const WinogradForm& form =
          to.winograds_.emplace_back(program::winograd_form(step, level));
      add(program::winograd_form_key(form), &form, "winograd");
    }
    void operator()(const program::ExternStep&) const {}

   private:
    void add(std::string key, WantedKernel::What what, const char* kind) const {
      needs.kernels.push_back(to.enter(std::move(key), what, kind));
    }
    static std::shared_ptr<const int64_t> shared(std::vector<int64_t> numbers) {
      const auto owner =
          std::make_shared<const std::vector<int64_t>>(std::move(numbers));
      return {owner, owner->data()};
    }
  };

  void add(const StepBody& body, CpuLevel level) {
    StepNeeds& needs = steps_.emplace_back();
    std::visit(Adder{*this, needs, level}, body);
  }

  size_t enter(std::string key, WantedKernel::What what, const char* kind) {
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

  std::deque<RowForm> rows_;
  std::deque<ColumnForm> columns_;
  std::deque<WinogradForm> winograds_;
  std::map<std::string, size_t> known_;
  std::vector<WantedKernel> list_;
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
    const WantedKernel& wanted = requests_.list()[i];
    bool fresh = false;
    code_[i] = cache_.get(
        wanted.key,
        [&] {
          std::vector<IrModule> modules;
          modules.push_back(emit_kernel(wanted, level_));
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

ProgramText program_text(const Program& program, const Compiler& compiler,
                         int max_threads) {
  const CpuLevel level = compiler.options().cpu_level;
  const Requests requests(program, level);
  ProgramText text;
  text.kernels.resize(requests.list().size());
  support::run_tasks(text.kernels.size(), max_threads, [&](size_t i) {
    const WantedKernel& wanted = requests.list()[i];
    text.kernels[i] = {wanted.symbol,
                       compiler.text(emit_kernel(wanted, level))};
  });
  text.of_step = requests.of_step();
  return text;
}

}  // namespace fxjit::jit
