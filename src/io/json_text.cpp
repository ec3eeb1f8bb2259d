#include "src/io/json_text.h"

#include <unordered_set>
#include <vector>

namespace fxjit::io {

JsonText read_json(std::string_view text) {
  using nlohmann::json;
  JsonText result{json(json::value_t::discarded), std::nullopt};
  // The parser takes a zero byte for the end of what it is given.
  if (text.find('\0') != text.npos) return result;
  std::vector<std::unordered_set<std::string>> names;  // Of open objects.
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxJsonDepth) too_deep = true;
    if (event == json::parse_event_t::object_start) {
      names.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      names.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.back().insert(name).second) result.repeated = name;
    }
    return !too_deep;
  };
  json value = json::parse(text.begin(), text.end(), watch,
                           /*allow_exceptions=*/false);
  if (!too_deep) result.value = std::move(value);
  return result;
}

}  // namespace fxjit::io
