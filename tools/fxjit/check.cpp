// Holds a compiled model against the interpreter or another runtime.
#include "fxjit/check.h"

#include <cstdio>
#include <filesystem>

#include "fxjit/error.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/places.h"
#include "tools/fxjit/reference.h"
#include "tools/fxjit/sizes.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

namespace fs = std::filesystem;

// One value for each placeholder of the model's graph.
ValueList placeholders_of(const Model& model, const ValueList& inputs) {
  ValueList args = inputs;
  if (const imported::Program* const program = model.program()) {
    const auto [positional, keywords] = program->arguments_of(inputs);
    args = program->bind(positional, keywords);
  }
  const fx::CodeGen& codegen = model.module().graph().codegen();
  if (const nn::Signature* const own = codegen.signature())
    return codegen.process_inputs(own->bind(args, {}, "forward"));
  return model.module().bind_inputs(args, {});
}

fxjit::CheckOptions library_options(const CheckOptions& options) {
  fxjit::CheckOptions made;
  made.compile.threads = options.threads;
  made.compile.disabled_passes = options.disabled;
  made.tolerance = options.tolerance;
  return made;
}

// Whether the file, loaded and compiled, still gives another result.
bool shows_it(const std::string& file, const ValueList& inputs,
              const CheckOptions& options) {
  const Model model(file, "");
  fxjit::CheckOptions again = library_options(options);
  again.reduce = false;
  const ValueList values = placeholders_of(model, inputs);
  return !fxjit::check(model.module(), values, again).agrees();
}

void write_found(const CheckResult& result, const CheckOptions& options,
                 const std::string& folder) {
  std::string arguments = save_reduced(result, options.output);
  std::string file = (fs::path(options.output) / "model.fx").string();
  if (options.format != "fx") {
    const std::string saved = file;
    file = (fs::path(options.output) / ("model." + options.format)).string();
    export_module(*result.reduced, result.reduced_inputs, file, options,
                  folder);
    arguments.replace(0, saved.size(), file);
  }
  // Against another runtime, the interpreter is wrong as well.
  const bool shown =
      result.interpreter_too || shows_it(file, result.reduced_inputs, options);
  std::printf("written: %s%s\n  fxjit check %s\n", file.c_str(),
              shown ? "" : ", which does not show it any more: see model.fx",
              arguments.c_str());
}

}  // namespace

std::vector<std::string> reference_names() {
  return {"interpreter", "onnxruntime", "torch"};
}

std::vector<std::string> reduced_formats() { return {"fx", "pt2", "onnx"}; }

bool check(const CheckOptions& options) {
  const TemporaryFolder folder;
  Progress progress;
  progress.say("loading " + options.model);
  const Model model(options.model, options.weights);
  declare_sizes(model, options.inputs.sizes);
  const ValueList inputs = make_inputs(model, options.inputs);
  const ValueList values = placeholders_of(model, inputs);
  fxjit::CheckOptions checked = library_options(options);
  ReferenceValues reference;
  if (options.against != "interpreter") {
    progress.say("running " + options.against);
    reference = reference_values(model, inputs, options, folder.path());
    checked.reference = &reference;
  }
  progress.say("compiling and comparing");
  const CheckResult result = fxjit::check(model.module(), values, checked);
  progress.clear();
  if (checked.reference)
    std::printf("beside %s, %zu values inside of the model\n",
                reference.name.c_str(), reference.nodes.size());
  std::fputs(result.text().c_str(), stdout);
  if (!options.output.empty() && result.reduced)
    write_found(result, options, folder.path());
  return result.agrees();
}

}  // namespace fxjit::command
