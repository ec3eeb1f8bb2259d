#include "src/io/json_text.h"

#include <unordered_set>
#include <vector>

namespace fxjit::io {
namespace {

using nlohmann::json;

// Watches a parser: the names of the objects that are open, and the depth.
class Watcher {
 public:
  json::parser_callback_t callback() {
    return [this](int depth, json::parse_event_t event, json& parsed) {
      if (depth > kMaxJsonDepth) too_deep_ = true;
      if (event == json::parse_event_t::object_start) {
        names_.emplace_back();
      } else if (event == json::parse_event_t::object_end) {
        names_.pop_back();
      } else if (event == json::parse_event_t::key) {
        const auto& name = parsed.get_ref<const std::string&>();
        if (!names_.back().insert(name).second) repeated_ = name;
      }
      return !too_deep_;
    };
  }
  bool too_deep() const { return too_deep_; }
  const std::optional<std::string>& repeated() const { return repeated_; }

 private:
  std::vector<std::unordered_set<std::string>> names_;  // Of open objects.
  std::optional<std::string> repeated_;
  bool too_deep_ = false;
};

}  // namespace

JsonText read_json(std::string_view text) {
  // The parser takes a zero byte for the end of what it is given.
  if (text.find('\0') != text.npos)
    return {json(json::value_t::discarded), std::nullopt};
  Watcher watcher;
  JsonText result;
  result.value = json::parse(text.begin(), text.end(), watcher.callback(),
                             /*allow_exceptions=*/false);
  if (watcher.too_deep()) result.value = json(json::value_t::discarded);
  result.repeated = watcher.repeated();
  return result;
}

}  // namespace fxjit::io
