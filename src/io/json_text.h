// Reads JSON strictly: what parsers pass over in silence (names given twice, a
// zero byte as an end, nesting without limit) is told to the caller.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fxjit::io {

// How many objects and arrays may lie in one another. A text that nests deeper
// is no JSON to this reader.
inline constexpr int kMaxJsonDepth = 200;

struct JsonText {
  // Discarded (nlohmann's is_discarded()) where the text is not JSON as a
  // whole.
  nlohmann::json value;
  // A name that one object of the text has twice, if there is any.
  std::optional<std::string> repeated;
};

// The value of `text`. Throws nothing for text that is no JSON. The memory it
// takes is bounded by a multiple of the text's size.
JsonText read_json(std::string_view text);

}  // namespace fxjit::io
