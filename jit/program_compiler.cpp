#include "jit/program_compiler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "jit/engine/ir_module.h"
#include "src/support/disk/object_cache.h"
#include "src/support/threads/run_tasks.h"

namespace fxjit::jit {
namespace {

using program::DriverForm;
using program::Program;

// A kernel to make, by the first step that needs it. The symbol does not depend
// on the program: others may ask for the same kernel.
struct WantedKernel {
  Effort effort;
  std::function<void(llvm::Module&, const std::string& symbol, CpuLevel)> emit;
  std::string key;
  std::string symbol;
};

std::string symbol_of(const char* kind, const std::string& key) {
  constexpr size_t kDigits = 12;
  return std::string("fxjit_") + kind + "_" +
         support::make_cache_key(key).hex().substr(0, kDigits);
}

IrModule emit_kernel(const WantedKernel& wanted, CpuLevel level) {
  IrModule ir = make_ir_module(wanted.symbol);
  ir.effort = wanted.effort;
  wanted.emit(*ir.module, wanted.symbol, level);
  return ir;
}

class Requests {
 public:
  Requests(const Program& program, const DriverForm* driver, CpuLevel level)
      : level_(level) {
    for (const program::Step& step : program.steps) add(*step.body);
    if (driver)  // Last in the list.
      enter(DriverForm::kName, std::make_shared<const DriverForm>(*driver));
  }

  const std::vector<WantedKernel>& list() const { return list_; }

  // By step, the kernels that it calls.
  std::vector<std::vector<int32_t>> of_step() const {
    std::vector<std::vector<int32_t>> steps;
    for (const size_t number : steps_) {
      const std::vector<size_t>& kernels = needs_[number].kernels;
      steps.emplace_back(kernels.begin(), kernels.end());
    }
    return steps;
  }

  // The code of every step, shared by equal ones; `code` is that of list().
  using Codes = std::vector<std::shared_ptr<const CompiledCode>>;
  std::vector<program::StepCode> resolve(const Codes& code) const {
    std::vector<program::StepCode> made;
    made.reserve(needs_.size());
    for (const StepNeeds& needs : needs_) {
      std::vector<void*> kernels;
      for (size_t at : needs.kernels)
        kernels.push_back(code[at]->lookup(list_[at].symbol));
      made.push_back(needs.code(kernels));
    }
    std::vector<program::StepCode> steps;
    steps.reserve(steps_.size());
    for (const size_t number : steps_) steps.push_back(made[number]);
    return steps;
  }

 private:
  struct StepNeeds {
    const program::StepBody* body;
    std::vector<size_t> kernels;  // Into the list.
    std::function<program::StepCode(const std::vector<void*>&)> code;
  };

  // Models have many equal steps, and to find out what one needs takes longer
  // than to compare it with those before.
  void add(const program::StepBody& body) {
    const auto same = [&](const StepNeeds& known) {
      return known.body == &body;
    };
    const auto equal = [&](const StepNeeds& known) {
      return *known.body == body;
    };
    auto known = std::ranges::find_if(needs_, same);
    if (known == needs_.end()) known = std::ranges::find_if(needs_, equal);
    steps_.push_back(static_cast<size_t>(known - needs_.begin()));
    if (known != needs_.end()) return;
    needs_.push_back({&body, {}, {}});
    std::visit([&](const auto& step) { add_needs(step, needs_.back()); }, body);
  }

  template <program::Skeleton S>
  void add_needs(const S& step, StepNeeds& needs) {
    using Form = typename S::Form;
    using Kernels = program::StepKernels<Form>;
    const auto needed = std::make_shared<const Kernels>(step.kernels(level_));
    for (const Form& form : needed->forms)
      needs.kernels.push_back(
          enter(S::kName, std::shared_ptr<const Form>(needed, &form)));
    needs.code = [needed](const std::vector<void*>& addresses) {
      std::vector<typename Form::Fn> kernels;
      for (void* address : addresses)
        kernels.push_back(reinterpret_cast<typename Form::Fn>(address));
      return needed->code(kernels);
    };
  }

  void add_needs(const program::ExternStep& step, StepNeeds& needs) {
    const auto* const call = std::get_if<program::CallSpec>(&step.what);
    if (call && !call->tail.empty())
      return add_needs(call->tail.front(), needs);
    needs.code = [](const auto&) { return program::StepCode(); };
  }

  template <typename Form>
  size_t enter(const char* kind, std::shared_ptr<const Form> form) {
    std::string key = form_key(*form);
    const auto [known, fresh] = known_.try_emplace(key, list_.size());
    if (!fresh) return known->second;
    const auto emit_form = [form](llvm::Module& module,
                                  const std::string& symbol, CpuLevel level) {
      VectorBuilder b(*make_function<typename Form::Fn>(module, symbol), level);
      emit(b, *form);
    };
    const bool is_driver = std::is_same_v<Form, DriverForm>;
    list_.push_back({is_driver ? Effort::fast_compile : Effort::fast_code,
                     emit_form, std::move(key), symbol_of(kind, known->first)});
    return known->second;
  }

  const CpuLevel level_;
  std::map<std::string, size_t> known_;
  std::vector<WantedKernel> list_;
  std::vector<StepNeeds> needs_;  // Of steps that differ.
  std::vector<size_t> steps_;     // By step, its number in `needs_`.
};

}  // namespace

ProgramCode compile_program(const Program& program, const DriverForm* driver,
                            const Compiler& compiler, CodeCache& cache,
                            int max_threads) {
  const CpuLevel level = compiler.options().cpu_level;
  const Requests requests(program, driver, level);
  ProgramCode result;
  result.code.resize(requests.list().size());
  // Not bool: written by several threads.
  std::vector<char> is_fresh(result.code.size());
  support::run_tasks(result.code.size(), max_threads, [&](size_t i) {
    const WantedKernel& wanted = requests.list()[i];
    bool fresh = false;
    result.code[i] = cache.get(
        wanted.key, [&] { return emit_kernel(wanted, level); }, &fresh);
    is_fresh[i] = fresh;
  });
  result.kernels = requests.resolve(result.code);
  if (driver)
    result.driver =
        result.code.back()->function<std::remove_pointer_t<program::DriverFn>>(
            requests.list().back().symbol);
  size_t fresh = 0, from_disk = 0;
  for (size_t i = 0; i < result.code.size(); ++i) {
    if (!is_fresh[i]) continue;
    const CompiledCode& code = *result.code[i];
    result.timings.emit_us += code.timings().emit_us;
    result.timings.optimise_us += code.timings().optimise_us;
    result.timings.codegen_us += code.timings().codegen_us;
    result.timings.link_us += code.timings().link_us;
    result.fresh_bytes += code.code_bytes();
    ++fresh;
    from_disk += code.origin() == CodeOrigin::disk;
  }
  result.from_disk = fresh > 0 && from_disk == fresh;
  return result;
}

ProgramText program_text(const Program& program, const DriverForm& driver,
                         const Compiler& compiler, int max_threads) {
  const CpuLevel level = compiler.options().cpu_level;
  const Requests requests(program, &driver, level);
  ProgramText text;
  text.kernels.resize(requests.list().size());
  support::run_tasks(text.kernels.size(), max_threads, [&](size_t i) {
    const WantedKernel& wanted = requests.list()[i];
    text.kernels[i] = {wanted.symbol,
                       compiler.text(emit_kernel(wanted, level))};
  });
  text.of_step = requests.of_step();
  text.driver = std::move(text.kernels.back());
  text.kernels.pop_back();
  return text;
}

}  // namespace fxjit::jit
