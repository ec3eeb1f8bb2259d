// The text of a CheckResult, and its files.
#include <filesystem>
#include <fstream>

#include "fxjit/check.h"
#include "fxjit/error.h"
#include "fxjit/fx/archive.h"
#include "src/io/npy.h"

namespace fxjit {
namespace {

namespace fs = std::filesystem;

// "a", "a or b", "a, b or c"
std::string one_of(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == words.size() ? " or "
                                     : ", ") +
            words[i];
  return text;
}

// The innermost frame of a Python traceback and its line of code.
std::string last_frame(const std::string& trace) {
  const size_t begin = trace.rfind("File \"");
  if (begin == trace.npos) return "";
  std::string text;
  for (const char c : trace.substr(begin)) {
    if (c == ' ' && text.ends_with(": ")) continue;  // The code's indentation.
    text += c == '\n' ? std::string(": ") : std::string(1, c);
  }
  while (text.ends_with(": ") || text.ends_with(' ')) text.pop_back();
  if (text.ends_with(':')) text.pop_back();
  return text;
}

std::string node_text(const CheckResult::Node& node) {
  std::string text =
      "first node: %" + node.report.name + " = " + node.report.target + "\n";
  if (!node.report.file.empty())
    text += "  " + node.report.file + ":" + std::to_string(node.report.line) +
            "\n";
  const std::string frame = last_frame(node.trace);
  if (!frame.empty()) text += "  " + frame + "\n";
  return text + "  " + node.difference + "\n";
}

std::string pass_text(const CheckResult& result) {
  if (result.pass.empty())
    return "pass: none: the code of the step is wrong, not the graph\n";
  std::string text = "pass: " + result.pass + ": ";
  text += result.graph_shows_pass
              ? "the graph is right before it and wrong after it"
              : "the graph is right after every pass, so that the code made of "
                "it is wrong";
  if (!result.right_without.empty())
    text += "; the result is right without " + one_of(result.right_without);
  return text + "\n";
}

std::string step_text(const StepReport& step) {
  std::string text = "step: " + step.label + " (" + step.kernel + "):";
  for (const NodeReport& node : step.nodes) text += " %" + node.name;
  return text + "\n";
}

size_t calls_of(const fx::Graph& graph) {
  size_t calls = 0;
  for (const fx::Node* node : graph.nodes())
    calls += !node->is(fx::Opcode::placeholder) &&
             !node->is(fx::Opcode::get_attr) && !node->is(fx::Opcode::output);
  return calls;
}

std::string reduced_text(const CheckResult& result) {
  const fx::Graph& graph = result.reduced->graph();
  const size_t calls = calls_of(graph);
  std::string text = "smallest graph: " + std::to_string(calls) +
                     (calls == 1 ? " call\n" : " calls\n") + graph.str() + "\n";
  const auto placeholders = graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const Value& input = result.reduced_inputs[i];
    text += "  " + std::string(placeholders[i]->name()) + ": " +
            (input.is_tensor() ? input.as_tensor().describe() : repr(input)) +
            "\n";
  }
  return text;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw UserError(path.string() + ": cannot be written");
}

}  // namespace

std::string CheckResult::text() const {
  if (agrees())
    return "all agree: " + std::to_string(results) +
           (results == 1 ? " result" : " results") + "; bounds " + bounds +
           "\n";
  std::string text = "wrong: " + difference + "\nbounds: " + bounds + "\n";
  if (node) text += node_text(*node);
  text += interpreter_too
              ? "pass: none: the interpreter gives the same, so that the op, or "
                "the reader of the file, is wrong\n"
              : pass_text(*this);
  if (step) text += step_text(*step);
  if (reduced) text += reduced_text(*this);
  return text;
}

std::string save_reduced(const CheckResult& result, const std::string& folder) {
  if (!result.reduced)
    throw UserError("[check] there is no reduced module to be written");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("[check] " + folder + ": " + error.message());
  const fs::path at(folder);
  const std::string model = (at / "model.fx").string();
  fx::save(*result.reduced, model);
  std::string arguments = model;
  const auto placeholders = result.reduced->graph().placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const std::string name(placeholders[i]->name());
    const Value& input = result.reduced_inputs[i];
    std::string text = repr(input);
    if (input.is_tensor()) {
      text = (at / (name + ".npy")).string();
      io::save_npy(text, input.as_tensor());
    }
    arguments += " --input " + name + "=" + text;
  }
  write_text(at / "check.txt", result.text());
  return arguments;
}

}  // namespace fxjit
