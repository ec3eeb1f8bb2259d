// Enums that stand in texts by name, for people who read them; all others are
// numbers there.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "fxjit/error.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/program.h"

namespace fxjit::program::text {

template <typename E>
concept Worded =
    std::same_as<E, DType> || std::same_as<E, Prim> || std::same_as<E, Home>;

std::string_view word_of(DType dtype);
std::string_view word_of(Prim prim);
std::string_view word_of(Home home);

// How many there are of each.
int words(DType);
int words(Prim);
int words(Home);

template <Worded E>
E of_word(const std::string& word) {
  for (int i = 0; i < words(E{}); ++i)
    if (word_of(static_cast<E>(i)) == word) return static_cast<E>(i);
  throw UserError("a program's text: unknown word " + word);
}

}  // namespace fxjit::program::text
