#include "src/ops/aten/split_text.h"

namespace fxjit::ops {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text) {
  constexpr std::string_view kOpen = "([", kClose = ")]";
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (quote != 0 ? c == quote : (c == '\'' || c == '"'))
      quote = quote != 0 ? 0 : c;
    if (kOpen.find(c) != kOpen.npos) ++depth;
    if (kClose.find(c) != kClose.npos) --depth;
    if (i < text.size() && (c != ',' || depth > 0 || quote != 0)) continue;
    const std::string_view part = trimmed(text.substr(start, i - start));
    if (!part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

}  // namespace fxjit::ops
