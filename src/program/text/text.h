// Programs as JSON and back: for tests, dumps and files.
#pragma once

#include <string>
#include <string_view>

#include "src/program/steps/program.h"

namespace fxjit::program {

// Nothing is lost: read_text(write_text(p)) == p. NotImplementedError for
// what has no text: objects of the user's among a call's arguments, names that
// are not UTF-8.
std::string write_text(const Program& program);

// UserError for what write_text() does not give.
Program read_text(std::string_view text);

}  // namespace fxjit::program
