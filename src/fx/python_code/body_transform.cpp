#include "src/fx/python_code/body_transform.h"

#include <algorithm>

namespace fxjit::fx {
namespace {

constexpr std::string_view kCounter = "# COUNTER: ";

std::vector<std::string> lines_of(const std::string& body,
                                  const LineStarts& starts) {
  std::vector<std::string> lines;
  auto next = starts.begin();
  for (size_t at = 0; at < body.size();) {
    for (; next != starts.end() && next->first <= at; ++next)
      lines.push_back(std::string(kCounter) + std::to_string(next->second) +
                      "\n");
    const size_t end = std::min(body.find('\n', at), body.size() - 1) + 1;
    lines.push_back(body.substr(at, end - at));
    at = end;
  }
  return lines;
}

}  // namespace

std::string transform_body(const std::string& body, LineStarts* starts,
                           const BodyTransform& transform) {
  const std::vector<std::string> lines = transform(lines_of(body, *starts));
  starts->clear();
  std::string out;
  for (const std::string& line : lines) {
    if (line.starts_with(kCounter)) {
      starts->emplace_back(out.size(), std::stoi(line.substr(kCounter.size())));
    } else {
      out += line;
    }
  }
  return out;
}

}  // namespace fxjit::fx
