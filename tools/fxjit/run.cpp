#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/report.h"
#include "src/io/npy.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/doubles.h"
#include "tools/fxjit/sizes.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

namespace fs = std::filesystem;

// "[0.1, 0.2, 0.3, ...]": the first numbers.
std::string first_numbers(const Tensor& tensor, CarriedType type) {
  constexpr int64_t kShown = 6;
  const Tensor plain = doubles_of(tensor);
  double* const numbers = plain.data_as<double>();
  if (type == CarriedType::u64)
    for (int64_t i = 0; i < std::min<int64_t>(kShown, tensor.numel()); ++i)
      if (numbers[i] < 0) numbers[i] += 0x1p64;
  std::string text = "[";
  for (int64_t i = 0; i < std::min<int64_t>(kShown, tensor.numel()); ++i) {
    char number[64];
    if (is_complex(tensor.dtype()))
      std::snprintf(number, sizeof(number), "%.6g%+.6gj", numbers[2 * i],
                    numbers[2 * i + 1]);
    else
      std::snprintf(number, sizeof(number), "%.6g", numbers[i]);
    text += (i == 0 ? "" : ", ") + std::string(number);
  }
  return text + (tensor.numel() > kShown ? ", ...]" : "]");
}

void print(const std::string& name, const Value& value, CarriedType type) {
  if (!value.is_tensor()) {
    std::printf("%s: %s\n", name.c_str(), repr(value).c_str());
    return;
  }
  const Tensor& tensor = value.as_tensor();
  std::printf("%s: %s%s %s\n", name.c_str(),
              std::string(type == CarriedType::none ? dtype_name(tensor.dtype())
                                                    : carried_name(type))
                  .c_str(),
              tensor.sizes().str().c_str(),
              first_numbers(tensor, type).c_str());
}

// "native: 12 of 13 steps, 1 part by the interpreter".
void print_share(const fx::GraphModule& module) {
  size_t steps = 0, native = 0, interpreted = 0;
  for (const ProgramReport& program : make_report(module).programs) {
    if (!program.why_not.empty()) ++interpreted;
    for (const StepReport& step : program.steps) {
      ++steps;
      if (is_native(step.by)) ++native;
    }
  }
  std::printf("native: %zu of %zu steps", native, steps);
  if (interpreted > 0)
    std::printf(", %zu part%s by the interpreter", interpreted,
                interpreted == 1 ? "" : "s");
  std::printf("\n");
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("--output " + folder + ": " + error.message());
}

}  // namespace

void run(const RunOptions& options) {
  if (!options.output.empty()) make_folder(options.output);
  Progress progress;
  progress.say("loading " + options.model);
  const Model model(options.model, options.weights);
  const ValueList inputs = make_inputs(model, options.inputs);
  if (!options.interpret) {
    declare_sizes(model, options.inputs.sizes);
    CompileOptions compile_options;
    compile_options.threads = options.threads;
    compile(model.module(), compile_options);
  }
  progress.say(options.interpret ? "running" : "compiling and running");
  const ValueList results = fx::tree_leaves(model.call(inputs));
  progress.clear();
  const auto names = model.output_names(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const CarriedType type = model.output_type(i, results.size());
    print(names[i], results[i], type);
    if (options.output.empty() || !results[i].is_tensor()) continue;
    const fs::path file = fs::path(options.output) / (names[i] + ".npy");
    io::save_npy(file.string(), results[i].as_tensor(), type);
  }
  if (options.share && !options.interpret) print_share(model.module());
}

}  // namespace fxjit::command
