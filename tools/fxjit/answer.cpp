#include "tools/fxjit/answer.h"

#include <string>

namespace fxjit::command {

nlohmann::json answer_of(Child& child, double seconds) {
  using nlohmann::json;
  json answer = json::parse(child.answer(seconds), nullptr, false);
  if (!answer.is_object()) throw ChildError("it printed damaged JSON");
  if (answer.contains("error") && answer["error"].is_string())
    throw ChildError(answer["error"].get<std::string>());
  return answer;
}

}  // namespace fxjit::command
