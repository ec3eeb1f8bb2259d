// Values in the text form of graphs, written and read one by one. Used by the
// text form and by archives.
#pragma once

#include <string>
#include <string_view>

#include "fxjit/value.h"

namespace fxjit::fx {

// Appends `value`, nodes as "%name". False, with `out` of no use, when part of
// it has no text: tensors, proxies, opaque objects.
bool append_value_text(std::string& out, const Value& value);
// As above, with tensors as "float32[2, 3]": what is known of a result.
bool append_result_text(std::string& out, const Value& value);
// A name as it stands behind '%', '$' or as a keyword: quoted unless plain.
void append_name_text(std::string& out, std::string_view name);

// ValueError with line and column for malformed text and for nodes.
Value parse_value(std::string_view text);

}  // namespace fxjit::fx
