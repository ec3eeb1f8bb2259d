// Which backend cases pass, and why the others do not: claims.txt.
#pragma once

#include <map>
#include <string>

namespace fxjit::testing_onnx {

// By key ("node/test_abs"): empty for a case that passes, interpreted and
// compiled; else the reason, as text that the failure contains.
using Claims = std::map<std::string, std::string>;

Claims read_claims();
void write_claims(const std::string& path, const Claims& claims);

}  // namespace fxjit::testing_onnx
