#include "tools/fxjit/sizes.h"

#include <algorithm>
#include <charconv>

#include "fxjit/error.h"
#include "fxjit/named_sizes.h"
#include "tools/fxjit/inputs.h"

namespace fxjit::command {
namespace {

[[noreturn]] void fail_size(std::string_view size) {
  throw UserError("--sizes " + std::string(size) +
                  ": expected a name, NAME:LEAST..MOST, * or a number");
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

std::optional<NamedSize> read_size(std::string_view text) {
  if (text.empty() || whole_number(text)) return std::nullopt;
  if (text == "*") return NamedSize{};
  const size_t colon = text.find(':');
  NamedSize size{std::string(text.substr(0, colon))};
  if (size.name.empty()) fail_size(text);
  if (colon == text.npos) return size;
  const std::string_view range = text.substr(colon + 1);
  const size_t dots = range.find("..");
  if (dots == range.npos) fail_size(text);
  const std::string_view least = range.substr(0, dots),
                         most = range.substr(dots + 2);
  size.least = least.empty() ? 0 : whole_number(least).value_or(-1);
  if (!most.empty()) size.most = whole_number(most).value_or(-1);
  if (size.least < 0 || size.most.value_or(0) < 0) fail_size(text);
  return size;
}

InputSizes read_sizes(std::string_view text) {
  InputSizes sizes;
  for (;;) {
    const size_t comma = text.find(',');
    sizes.push_back(read_size(text.substr(0, comma)));
    if (comma == text.npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

void declare_sizes(const Model& model, const std::vector<std::string>& texts) {
  const auto named = by_input(texts, "sizes", model);
  const auto placeholders = model.module().graph().placeholders();
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const std::string* const text = find_input(named, model.inputs()[i]);
    if (!text) continue;
    fx::Node& node = *placeholders.at(i);
    InputSizes sizes = declared_sizes(node);
    const InputSizes given = read_sizes(*text);
    sizes.resize(std::max(sizes.size(), given.size()));
    for (size_t d = 0; d < given.size(); ++d)
      if (given[d]) sizes[d] = given[d];
    fxjit::declare_sizes(node, sizes);
  }
}

}  // namespace fxjit::command
