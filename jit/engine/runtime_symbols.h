// The closed set of outside symbols that generated code may call. There is no
// process-wide search: what is not here cannot be linked.
#pragma once

#include <string>

namespace fxjit::jit {

// What emitters and LLVM itself call: scalar functions of libm, memcpy and its
// kin, half-precision conversions, what drivers call, and under a sanitizer its
// runtime. Null for other names.
void* runtime_symbol(const std::string& name);

}  // namespace fxjit::jit
