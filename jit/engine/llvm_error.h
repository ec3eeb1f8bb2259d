// Turns LLVM's ways of failing into our exceptions. Used by the files of
// jit/engine/ only.
#pragma once

#include <llvm/Support/Error.h>

#include <string>
#include <string_view>
#include <utility>

#include "fxjit/error.h"

namespace fxjit::jit {

// LLVM gave up on the way. What it had in hand is in an unknown state: it must
// be leaked, not destroyed.
class LlvmFatalError : public InternalError {
 public:
  using InternalError::InternalError;
};

// Throws InternalError "[jit] <what>: <LLVM's text>" if `error` is one.
void throw_if(llvm::Error error, std::string_view what);

template <typename T>
T take(llvm::Expected<T> value, std::string_view what) {
  if (!value) throw_if(value.takeError(), what);
  return std::move(*value);
}

// While one lives on a thread, LLVM's fatal errors on that thread throw
// LlvmFatalError, and its failed allocations std::bad_alloc, in place of
// ending the process.
class FatalErrorScope {
 public:
  FatalErrorScope();
  ~FatalErrorScope();
  FatalErrorScope(const FatalErrorScope&) = delete;
  FatalErrorScope& operator=(const FatalErrorScope&) = delete;
};

}  // namespace fxjit::jit
