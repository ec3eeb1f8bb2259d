// `fxjit inspect` with --html, --trace or --compiled-graph: the model is
// compiled and measured once, or twice to compare, and written to files.
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "fxjit/error.h"
#include "fxjit/version.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/page/graph_files.h"
#include "tools/fxjit/page/page_data.h"
#include "tools/fxjit/page/trace.h"
#include "tools/fxjit/page/write_page.h"
#include "tools/fxjit/sizes.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

// A page has room for this much compressed code beside its other data.
constexpr size_t kCodeBytes = size_t{6} << 20;

RunSetting setting_of(const InspectOptions& options) {
  return {options.threads, options.disabled, false};
}

std::string inputs_text(const Model& model) {
  std::string text;
  for (const ModelInput& input : model.inputs())
    text += (text.empty() ? "" : ", ") + input.text;
  return text.empty() ? "none" : text;
}

void check_inputs(const Model& model, const Model& other) {
  bool same = model.inputs().size() == other.inputs().size();
  for (size_t i = 0; same && i < model.inputs().size(); ++i)
    same = model.inputs()[i].name == other.inputs()[i].name;
  if (!same)
    throw UserError("[inspect] --compare " + other.path() +
                    ": its inputs are " + inputs_text(other) + "; those of " +
                    model.path() + " are " + inputs_text(model));
}

// What --compare asks for.
struct Second {
  std::optional<RunSetting> setting;
  std::string page;   // An earlier page's path.
  std::string model;  // Another model's.
};

int threads_of(const std::string& text) {
  constexpr int kMost = 1024;
  int count = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count < 0 || count > kMost)
    throw UserError("[inspect] --compare threads=" + text +
                    ": expected a number from 0 to 1024");
  return count;
}

Second second_of(const InspectOptions& options) {
  constexpr std::string_view kThreads = "threads=";
  Second second;
  if (options.compare == "unfused") {
    second.setting = setting_of(options);
    second.setting->unfused = true;
  } else if (options.compare.starts_with(kThreads)) {
    second.setting = setting_of(options);
    second.setting->threads =
        threads_of(options.compare.substr(kThreads.size()));
  } else if (options.compare.ends_with(".html")) {
    second.page = options.compare;
  } else {
    second.model = options.compare;
  }
  return second;
}

// "fused, 1 thread: 12.3 us a call"
std::string times_text(const MeasuredRun& run) {
  constexpr double kMilli = 1000;
  const double took = run.inspection.profile.call_microseconds;
  char text[48];
  if (took < kMilli)
    std::snprintf(text, sizeof text, ": %.1f us a call", took);
  else
    std::snprintf(text, sizeof text, ": %.2f ms a call", took / kMilli);
  return run.title + text;
}

class Writer {
 public:
  Writer(const InspectOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        model_(options.model, options.weights),
        inputs_(make_inputs(model_, options.inputs)) {
    declare_sizes(model_, options.inputs.sizes);
  }

  void run() {
    if (!options_.compare.empty()) second_ = second_of(options_);
    if (!second_.page.empty()) earlier_ = read_page(second_.page);
    if (!second_.model.empty()) {
      progress_.say("loading " + second_.model);
      other_ = std::make_unique<Model>(second_.model, "");
      check_inputs(model_, *other_);
    }
    progress_.say("compiling and measuring");
    runs_.push_back(measure_run(model_, inputs_, setting_of(options_)));
    if (other_) {
      runs_.push_back(measure_other());
    } else if (second_.setting) {
      runs_.push_back(measure_run(model_, inputs_, *second_.setting));
    }
    progress_.say("writing");
    write();
  }

 private:
  MeasuredRun measure_other() const {
    try {
      MeasuredRun run = measure_run(*other_, inputs_, setting_of(options_));
      run.title = std::filesystem::path(second_.model).filename().string();
      return run;
    } catch (const Error& error) {
      throw UserError("[inspect] --compare " + second_.model +
                      ", with the inputs of " + model_.path() + ": " +
                      error.what());
    }
  }

  void write() {
    progress_.clear();
    for (const MeasuredRun& run : runs_)
      std::printf("%s\n", times_text(run).c_str());
    if (!options_.html.empty()) write_html();
    if (!options_.trace.empty()) {
      write_trace(runs_, options_.trace);
      say(options_.trace, "a trace for ui.perfetto.dev");
    }
    if (!options_.compiled_graph.empty()) {
      write_compiled_graph(model_, runs_[0], options_.compiled_graph);
      say(options_.compiled_graph, "the compiled graph");
    }
  }

  const fx::Graph& graph_of(size_t run) const {
    return (run == 1 && other_ ? *other_ : model_).module().graph();
  }

  void write_html() {
    std::vector<const MeasuredRun*> measured;
    json runs = json::array();
    for (size_t i = 0; i < runs_.size(); ++i) {
      measured.push_back(&runs_[i]);
      runs.push_back(run_data(runs_[i], graph_of(i)));
    }
    json kernels = kernel_data(measured, kCodeBytes);
    if (!second_.page.empty()) add_earlier(runs, kernels);
    json data = {{"fxjit", FXJIT_VERSION_STRING},
                 {"model", model_data(model_, inputs_)},
                 {"captured", captured_data(model_, inputs_)},
                 {"runs", std::move(runs)},
                 {"kernels", std::move(kernels)}};
    if (data["runs"].size() > 1)
      data["comparison"] = comparison(data["runs"][0], data["runs"][1]);
    const std::string name =
        std::filesystem::path(options_.model).filename().string();
    const size_t bytes = write_page(data, name, options_.html);
    char words[96];
    std::snprintf(words, sizeof words, "%zu steps, %.2f MB",
                  data["runs"][0]["steps"].size(),
                  static_cast<double>(bytes) / 1e6);
    say(options_.html, words);
  }

  void add_earlier(json& runs, json& kernels) const {
    const json& inputs = earlier_["model"]["inputs"];
    if (inputs != model_data(model_, inputs_)["inputs"])
      throw UserError("[inspect] --compare " + second_.page +
                      ": its run had other inputs: " + inputs.dump());
    json run = earlier_["runs"][0];
    run["title"] = std::filesystem::path(second_.page).filename().string() +
                   ": " + run["title"].get<std::string>();
    runs.push_back(std::move(run));
    for (const auto& [symbol, code] : earlier_["kernels"].items())
      if (!kernels.contains(symbol)) kernels[symbol] = code;
  }

  void say(const std::string& path, const std::string& words) const {
    progress_.clear();
    std::printf("%s: %s\n", path.c_str(), words.c_str());
  }

  const InspectOptions& options_;
  Progress& progress_;
  Model model_;
  ValueList inputs_;
  Second second_;
  json earlier_;
  std::unique_ptr<Model> other_;
  std::vector<MeasuredRun> runs_;
};

}  // namespace

void write_inspection(const InspectOptions& options) {
  const std::string& graph = options.compiled_graph;
  if (!graph.empty() && !graph.ends_with(".onnx") && !graph.ends_with(".dot"))
    throw UserError("[inspect] --compiled-graph " + graph +
                    ": expected a file named .onnx or .dot");
  Progress progress;
  progress.say("loading " + options.model);
  Writer(options, progress).run();
}

}  // namespace fxjit::command
