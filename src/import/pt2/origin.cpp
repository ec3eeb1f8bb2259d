#include "src/import/pt2/origin.h"

#include <charconv>

#include "src/fx/graph/lasting_text.h"

namespace fxjit::import {
namespace {

constexpr std::string_view kFile = "File \"";
constexpr std::string_view kLine = "\", line ";

bool is_of_torch(std::string_view file) {
  return file.starts_with("torch/") ||
         file.find("site-packages/torch/") != file.npos ||
         file.find("dist-packages/torch/") != file.npos;
}

}  // namespace

SourceLocation innermost_source(std::string_view trace) {
  std::string_view innermost;
  int innermost_line = 0;
  bool outside = false;
  for (size_t at = trace.find(kFile); at != trace.npos;
       at = trace.find(kFile, at)) {
    at += kFile.size();
    const size_t end = trace.find(kLine, at);
    if (end == trace.npos) break;
    const std::string_view file = trace.substr(at, end - at);
    at = end + kLine.size();
    int line = 0;
    const auto [stop, error] =
        std::from_chars(trace.data() + at, trace.data() + trace.size(), line);
    if (error != std::errc() || line <= 0) continue;
    const bool of_user = !is_of_torch(file);
    if (outside && !of_user) continue;
    outside = of_user;
    innermost = file;
    innermost_line = line;
  }
  SourceLocation source;
  if (innermost_line == 0) return source;
  source.file = fx::lasting_text(innermost);
  source.line = innermost_line;
  return source;
}

fx::ModuleStack read_module_stack(std::string_view text) {
  fx::ModuleStack stack;
  while (!text.empty()) {
    const std::string_view frame = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(frame.size() + 1, text.size()));
    const size_t first = frame.find(','), last = frame.rfind(',');
    if (first == frame.npos || first == last) continue;
    fx::ModuleFrame read{std::string(frame.substr(0, first)),
                         std::string(frame.substr(first + 1, last - first - 1)),
                         std::string(frame.substr(last + 1))};
    // The exporter's word for nodes that no module has made.
    if (read.key.starts_with("_empty_nn_module_stack")) continue;
    stack.push_back(std::move(read));
  }
  return stack;
}

}  // namespace fxjit::import
