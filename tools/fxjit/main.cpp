// fxjit: runs, inspects and measures a model file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "tools/fxjit/commands.h"

namespace fxjit::command {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2 };

constexpr const char* kFooter = R"(
Exit codes: 0 done; 1 the model, an input or a file is wrong, or the call failed;
2 the command line is wrong.

Examples:
  fxjit inspect model.pt2
  fxjit run model.pt2 --input x=x.npy --output results
  fxjit run model.pt2 --shape x=8x3x224x224 --weights other.safetensors
  fxjit bench model.pt2 --threads 2
)";

struct Commands {
  RunOptions run;
  InspectOptions inspect;
  BenchOptions bench;
};

template <typename Options>
void add_model(CLI::App& command, Options& options) {
  command
      .add_option("MODEL", options.model,
                  "A .pt2 file of torch.export.save, or one of fx::save")
      ->required();
  command.add_option("--weights", options.weights,
                     "A .safetensors file whose tensors replace those of the "
                     "same names");
  command.add_option("--input", options.inputs.files,
                     "NAME=FILE.npy: the value of an input");
  command.add_option(
      "--shape", options.inputs.shapes,
      "NAME=1x3x224x224: the size of an input that is made up "
      "(int64:1x16 for another type, int64:1x16<1000 for numbers "
      "below 1000)");
  command.add_option("--seed", options.inputs.seed,
                     "Of the numbers made up (default 1)");
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "run", "Runs a model once, on files or on numbers made up");
  add_model(command, options);
  command.add_option("--output", options.output,
                     "A folder: each result is written to NAME.npy in it");
  command
      .add_option("--threads", options.threads,
                  "Threads of the call; 0, the default: all CPUs")
      ->check(CLI::Range(0, 1024));
  command.add_flag("--interpret", options.interpret, "Compile nothing");
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "inspect", "Shows inputs, outputs, weights and ops of a model");
  add_model(command, options);
  command.add_flag("--compile", options.compile,
                   "Compile it and show what was fused and what stays with the "
                   "interpreter");
  command.add_flag("--graph", options.graph, "Print the graph as well");
  CLI::Option* dot = command.add_flag(
      "--dot", options.dot, "The graph in Graphviz's language instead");
  command.add_flag("--json", options.json, "All as JSON instead")
      ->excludes(dot);
}

void add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "bench",
      "Measures a model interpreted, compiled unfused and compiled fused");
  add_model(command, options);
  command
      .add_option("--threads", options.threads,
                  "Threads of a call (default 1); 0: all CPUs")
      ->check(CLI::Range(0, 1024));
  command
      .add_option("--seconds", options.seconds,
                  "Time for each of the three (default 1)")
      ->check(CLI::Range(0.001, 3600.0));
  command
      .add_option("--disable", options.disabled,
                  "A pass to leave out; may be given several times")
      ->check(CLI::IsMember(optional_passes()));
  CLI::Option* steps =
      command.add_flag("--steps", options.steps,
                       "Show each step of the compiled programs: time, "
                       "operations, bytes, rates");
  command.add_flag("--json", options.json, "The table as JSON")
      ->excludes(steps);
}

int run_command(int argc, char** argv) {
  CLI::App app("Runs PyTorch programs natively: no Python, no PyTorch.",
               "fxjit");
  app.footer(kFooter);
  app.set_version_flag("--version", [] { return version_text(); });
  app.require_subcommand(1);
  Commands commands;
  add_run(app, commands.run);
  add_inspect(app, commands.inspect);
  add_bench(app, commands.bench);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (app.got_subcommand("run")) run(commands.run);
  if (app.got_subcommand("inspect")) inspect(commands.inspect);
  if (app.got_subcommand("bench")) bench(commands.bench);
  return kDone;
}

}  // namespace
}  // namespace fxjit::command

int main(int argc, char** argv) {
  using namespace fxjit::command;  // NOLINT: the one function of this file
  try {
    return run_command(argc, argv);
  } catch (const fxjit::Error& error) {
    std::fprintf(stderr, "fxjit: %s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "fxjit: out of memory\n");
  }
  return kFailed;
}
