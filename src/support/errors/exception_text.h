// What was thrown, in words, for handlers that report exceptions of any type:
// callbacks of the user's may throw what they like.
#pragma once

#include <string>

namespace fxjit::support {

// The text of the exception that is being handled: what() of an std::exception,
// else the name of its type. Called in a catch block only.
std::string exception_text();

}  // namespace fxjit::support
