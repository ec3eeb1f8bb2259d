#include "tools/fxjit/command_line.h"

#include "fxjit/compile.h"

namespace fxjit::command {
namespace {

struct Examples {
  const char* command;
  const char* lines;
};

constexpr Examples kExamples[] = {
    {"fxjit",
     "fxjit inspect model.onnx\n"
     "fxjit run model.pt2 --input x=x.npy --output results\n"
     "fxjit bench model.pt2 --against onnxruntime,openvino,torch\n"
     "fxjit check model.onnx --against onnxruntime\n"},
    {"run",
     "fxjit run model.onnx --share\n"
     "fxjit run model.pt2 --input x=x.npy --output results\n"
     "fxjit run model.pt2 --input 'ids=[[101, 7592, 102]]'\n"
     "fxjit run model.pt2 --shape x=8x3x224x224 --weights other.safetensors\n"},
    {"inspect",
     "fxjit inspect model.pt2\n"
     "fxjit inspect model.pt2 --compile --shape x=1x3x224x224\n"
     "fxjit inspect model.onnx --compile --sizes x=batch,3,height,width\n"
     "fxjit inspect model.pt2 --html page.html\n"
     "fxjit inspect model.pt2 --html page.html --compare unfused\n"
     "fxjit inspect model.pt2 --trace trace.json --compiled-graph model.onnx\n"
     "fxjit inspect model.pt2 --ir | less\n"
     "fxjit inspect model.pt2 --json | jq .inputs\n"
     "fxjit inspect model.pt2 --dot | dot -Tsvg > graph.svg\n"},
    {"bench",
     "fxjit bench model.pt2 --threads 2\n"
     "fxjit bench model.pt2 --disable fuse_attention --steps\n"
     "fxjit bench model.pt2 --against onnxruntime,openvino --onnx model.onnx\n"
     "fxjit bench model.pt2 --against torch --python venv/bin/python \\\n"
     "    --chart times.svg\n"},
    {"check",
     "fxjit check model.pt2\n"
     "fxjit check model.onnx --input x=x.npy --against onnxruntime\n"
     "fxjit check model.pt2 --against torch --python venv/bin/python\n"
     "fxjit check model.pt2 --output found --format pt2\n"}};

constexpr const char* kExitCodes =
    "0  done\n"
    "1  the model, an input or a file is wrong, the call failed, (bench) a\n"
    "   runtime could not be measured or gave another answer, or (check) a\n"
    "   result differs\n"
    "2  the command line is wrong\n";

std::string indented(const std::string& lines) {
  std::string text = "  ";
  for (const char c : lines)
    text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  text.resize(text.size() - 2);
  return text;
}

std::string footer(const CLI::App& command) {
  return "Examples:\n" + indented(examples_of(command)) + "\nExit codes:\n" +
         indented(exit_codes());
}

template <typename Options>
void add_model(CLI::App& command, Options& options) {
  command
      .add_option("MODEL", options.model,
                  "A .pt2 file of torch.export.save, an .onnx model, or a file "
                  "of fx::save")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--weights", options.weights,
                  "Tensors that replace those of the same names in a .pt2 file")
      ->type_name("FILE.safetensors");
  command
      .add_option("--input", options.inputs.values,
                  "The value of an input: a file, or numbers: rate=16000, "
                  "'ids=[[101, 7592, 102]]'")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE.npy");
  command
      .add_option(
          "--shape", options.inputs.shapes,
          "The size of an input that is made up: x=1x3x224x224, "
          "x=int64:1x16 for another type, 'x=int64:1x16<1000' for numbers "
          "below 1000")
      ->allow_extra_args(false)
      ->type_name("NAME=SIZES");
  command
      .add_option(
          "--sizes", options.inputs.sizes,
          "Which sizes of an input change from call to call: a name for "
          "each dim, with a range where one is known, * for any, a "
          "number or nothing for a dim that stays: "
          "x=batch,3,height:32..1024,*")
      ->allow_extra_args(false)
      ->type_name("NAME=SIZES");
  command
      .add_option("--seed", options.inputs.seed,
                  "Makes up other numbers (default 1)")
      ->type_name("N");
}

template <typename Options>
void add_threads(CLI::App& command, Options& options, const char* meaning) {
  command.add_option("--threads", options.threads, meaning)
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "run", "Runs a model once, on given inputs or on numbers made up");
  add_model(command, options);
  command
      .add_option("--output", options.output,
                  "Where each result is written as NAME.npy")
      ->type_name("FOLDER");
  add_threads(command, options,
              "Threads of the call; 0, the default: all CPUs");
  command.add_flag("--interpret", options.interpret,
                   "Compile nothing: run by the interpreter");
  command.add_flag("--share", options.share,
                   "Print how many steps run as native code");
}

void add_disable(CLI::App& command, std::vector<std::string>& disabled) {
  command
      .add_option("--disable", disabled,
                  "A pass to leave out; may be given several times")
      ->check(CLI::IsMember(optional_passes()))
      ->allow_extra_args(false)
      ->type_name("PASS");
}

// What `inspect` writes of a compiled and measured model.
void add_measured(CLI::App& command, InspectOptions& options) {
  command
      .add_option(
          "--html", options.html,
          "Measure the model and write a page with graphs, steps, times, "
          "code and memory; it needs no network")
      ->type_name("FILE.html");
  command
      .add_option("--trace", options.trace,
                  "Write the steps of a call as a trace for Perfetto")
      ->type_name("FILE.json");
  command
      .add_option("--compiled-graph", options.compiled_graph,
                  "Write the graph of steps for Netron (.onnx) or Graphviz "
                  "(.dot)")
      ->type_name("FILE.onnx");
  command
      .add_option("--compare", options.compare,
                  "Show a second run beside the first: unfused, threads=N, "
                  "another model with the same inputs, or a page written "
                  "before")
      ->type_name("WHAT");
  add_threads(command, options, "Threads of a call (default 1); 0: all CPUs");
  add_disable(command, options.disabled);
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "inspect",
      "Shows inputs, outputs, weights and ops of a model, and what it was "
      "compiled to");
  add_model(command, options);
  command.add_flag("--compile", options.compile,
                   "Compile it and show what was fused and what stays with the "
                   "interpreter");
  command.add_flag("--graph", options.graph, "Print the graph as well");
  CLI::Option* dot = command.add_flag(
      "--dot", options.dot, "Print the graph in Graphviz's language instead");
  CLI::Option* json =
      command.add_flag("--json", options.json, "Print all as JSON instead")
          ->excludes(dot);
  command
      .add_flag("--ir", options.ir,
                "Compile it and print the LLVM IR of a call instead: the "
                "driver that calls the kernels, then the kernels")
      ->excludes(dot)
      ->excludes(json);
  add_measured(command, options);
}

// Python with other runtimes, and how long it may take.
template <typename Options>
void add_python(CLI::App& command, Options& options) {
  command
      .add_option("--python", options.python,
                  "The Python that has the packages of other runtimes "
                  "(default python3)")
      ->type_name("PROGRAM");
  command
      .add_option("--peer-timeout", options.peer_timeout,
                  "How long another runtime may take for an answer before it "
                  "is ended (default 300)")
      ->check(CLI::Range(0.1, 86400.0))
      ->type_name("SECONDS");
}

// Options about other runtimes.
void add_peers(CLI::App& command, BenchOptions& options) {
  command
      .add_option("--against", options.against,
                  "Other runtimes to measure, with commas between")
      ->delimiter(',')
      ->check(CLI::IsMember(peer_names()))
      ->allow_extra_args(false)
      ->type_name("PEERS");
  command
      .add_option("--onnx", options.onnx,
                  "What onnxruntime and openvino read (default: MODEL with the "
                  "ending .onnx, else one is made by torch)")
      ->check(CLI::ExistingFile)
      ->type_name("FILE.onnx");
  add_python(command, options);
  command
      .add_option("--tolerance", options.tolerance,
                  "The largest difference from the interpreter's answer, "
                  "relative to the largest number of a result (default 1e-4; "
                  "3e-2 with weights of half precision)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("NUMBER");
}

void add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "bench",
      "Measures a model interpreted, compiled unfused and compiled fused, and "
      "other runtimes beside it");
  add_model(command, options);
  add_threads(command, options, "Threads of a call (default 1); 0: all CPUs");
  command
      .add_option("--seconds", options.seconds,
                  "Time for each way of running it (default 1)")
      ->check(CLI::Range(0.001, 3600.0))
      ->type_name("SECONDS");
  command
      .add_option("--rounds", options.rounds,
                  "Rounds, in each of which every runtime has a turn "
                  "(default 5)")
      ->check(CLI::Range(1, 10000))
      ->type_name("N");
  add_disable(command, options.disabled);
  add_peers(command, options);
  CLI::Option* steps =
      command.add_flag("--steps", options.steps,
                       "Show each step of the compiled programs: time, "
                       "operations, bytes, rates");
  command.add_flag("--json", options.json, "Print the table as JSON")
      ->excludes(steps);
  command.add_option("--chart", options.chart, "Draw the median times as bars")
      ->type_name("FILE.svg");
}

void add_check(CLI::App& app, CheckOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "check",
      "Runs a model compiled and by the interpreter, or another runtime, and "
      "says which node, pass and step a wrong number comes from");
  add_model(command, options);
  command
      .add_option("--against", options.against,
                  "What is held to be right (default interpreter); torch reads "
                  ".pt2, onnxruntime .onnx")
      ->check(CLI::IsMember(reference_names()))
      ->type_name("REFERENCE");
  command
      .add_option("--tolerance", options.tolerance,
                  "How far numbers may differ, relative to the greatest of a "
                  "tensor (default: for each number, as far as rounding may "
                  "carry it)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("NUMBER");
  command
      .add_option("--output", options.output,
                  "Where something differs, the smallest model that shows it "
                  "and its inputs are written there")
      ->type_name("FOLDER");
  command
      .add_option("--format", options.format,
                  "Of the model written (default fx, of fx::save); pt2 and "
                  "onnx are made by torch")
      ->check(CLI::IsMember(reduced_formats()))
      ->type_name("FORMAT");
  add_threads(command, options,
              "Threads of the call; 0, the default: all CPUs");
  add_disable(command, options.disabled);
  add_python(command, options);
}

}  // namespace

void describe(CLI::App& app, Commands& commands) {
  app.set_version_flag(
      "--version", [] { return version_text(); },
      "Print versions and the CPU level, and exit");
  app.require_subcommand(0, 1);
  app.add_option("--generate", commands.document)
      ->check(CLI::IsMember({"man", "completion"}))
      ->group("");  // For the build; not shown.
  add_run(app, commands.run);
  add_inspect(app, commands.inspect);
  add_bench(app, commands.bench);
  add_check(app, commands.check);
  app.footer(footer(app));
  for (CLI::App* command : app.get_subcommands({}))
    command->footer(footer(*command));
}

std::string examples_of(const CLI::App& command) {
  for (const auto& [name, lines] : kExamples)
    if (command.get_name() == name) return lines;
  return "";
}

std::string exit_codes() { return kExitCodes; }

std::vector<OptionFacts> options_of(const CLI::App& command) {
  std::vector<OptionFacts> facts;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    OptionFacts one;
    for (const std::string& name : option->get_snames())
      one.words += "-" + name + " ";
    for (const std::string& name : option->get_lnames())
      one.words += "--" + name + " ";
    one.words.pop_back();
    one.meaning = option->get_description();
    const bool flag = option->get_items_expected_max() == 0;
    if (!flag) one.kind = option->get_type_name();
    one.kind = one.kind.substr(0, one.kind.find(':'));
    one.names = one.words + (one.kind.empty() ? "" : " " + one.kind);
    if (one.kind == "PASS") one.choices = optional_passes();
    if (one.kind == "PEERS") one.choices = peer_names();
    if (one.kind == "REFERENCE") one.choices = reference_names();
    if (one.kind == "FORMAT") one.choices = reduced_formats();
    facts.push_back(std::move(one));
  }
  return facts;
}

}  // namespace fxjit::command
