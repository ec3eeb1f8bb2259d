// Questions about a bound call that shape rules and kernels share, and the
// decoration of errors with the call they come from.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "fxjit/op.h"

namespace fxjit::ops {

// What errors say of a call beside their text.
ErrorContext context_of(const OpCall& call);
ErrorContext context_of(std::string_view op, SourceLocation source);

// "[add %add_1] ".
std::string call_prefix(const OpCall& call);

// The tensors of arguments and results (nested too), in order.
std::vector<Tensor> tensors_in(std::span<const Value> values);
std::vector<Tensor> tensors_in(const Value& value);

// Whether the row has such a parameter and the call says True for it.
bool has_flag(const OpCall& call, std::string_view parameter);

// Whether any argument (nested too) is a tensor; a tensor without data.
bool has_tensor(const OpCall& call);
bool has_meta(const OpCall& call);

// Sizes, strides, offset and dtype without the data; of all tensors of a value,
// of which those without data stay the same.
Tensor as_meta(const Tensor& tensor);
Value metas_of(const Value& value);

// For the handler of an error: rethrows it, with the op and source of the call
// if it is not internal and names no op yet.
[[noreturn]] void rethrow_with_call(Error& error, const OpCall& call);

// RuntimeError that names the call, for memory that the system did not give.
[[noreturn]] void throw_no_memory(const OpCall& call);

// Runs fn(); errors that do not name an op yet get this call's op and source.
template <typename Fn>
Value with_call_context(const OpCall& call, Fn&& fn) {
  try {
    return fn();
  } catch (Error& error) {
    rethrow_with_call(error, call);
  } catch (const std::bad_alloc&) {
    throw_no_memory(call);
  } catch (const std::length_error&) {  // More elements than a vector may have.
    throw_no_memory(call);
  }
}

// Runs a decomposition of the call. The functions that it calls stand in lines
// of the library: errors name the line of the call instead, where that is
// known.
inline Value run_decomposition(const OpCall& call, DecomposeFn decompose) {
  try {
    return decompose(call);
  } catch (Error& error) {
    error.set_source(call.source);
    throw;
  }
}

// scalar_body() for a call whose result is known to have the dtype `result`.
ScalarBody scalar_body(const OpCall& call, DType result);

}  // namespace fxjit::ops
