#include "src/fx/python_code/code_comments.h"

#include "src/fx/text/print_value.h"

namespace fxjit::fx {
namespace {

// The innermost frame of a recorded stack trace, or that there is none.
std::string summary_of(const std::string& trace) {
  constexpr std::string_view kNone = "No stacktrace found for following nodes";
  const size_t file = trace.rfind("File \"");
  if (file == trace.npos) return std::string(kNone);
  const size_t end = trace.find('\n', file);
  const std::string frame = trace.substr(file, end - file);
  const size_t quote = frame.find('"', 6);
  const size_t line = frame.find("line ", quote);
  const size_t in = frame.find(", in ", line);
  if (quote == frame.npos || line == frame.npos || in == frame.npos)
    return std::string(kNone);
  std::string code;
  if (end != trace.npos)
    code = trace.substr(trace.find_first_not_of(' ', end + 1));
  return "File: " + frame.substr(6, quote - 6) + ":" +
         frame.substr(line + 5, in - line - 5) + " in " + frame.substr(in + 5) +
         ", code: " + code.substr(0, code.find('\n'));
}

// What users noted of a node, long texts cut short.
std::string annotation_of(const Node& node) {
  constexpr size_t kLongest = 40;
  const Value* const custom = node.meta().find("custom");
  if (!custom || !custom->is_dict() || custom->size() == 0) return "";
  ValueDict notes = custom->as_dict();
  for (auto& [key, note] : notes) {
    std::string text;
    append_str(text, note);
    if (text.size() > kLongest) note = text.substr(0, kLongest) + "...";
  }
  std::string text = " Annotation: ";
  append_repr(text, Value::dict(std::move(notes)));
  return text;
}

}  // namespace

std::string comment_of(const Node& node) {
  return "#" + annotation_of(node) + " " + summary_of(node.stack_trace());
}

}  // namespace fxjit::fx
