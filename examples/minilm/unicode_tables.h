// The generated tables behind unicode.h: sorted by first code point, their
// entries disjoint. Only unicode.cpp reads them; the definitions are written
// by reference/make_unicode_tables.py.
#pragma once

#include <cstdint>
#include <span>

#include "examples/minilm/unicode.h"

namespace minilm::unicode {

// Code points first..last, inclusive, are of a class other than kLetter.
struct ClassRange {
  char32_t first;
  char32_t last;
  CharClass char_class;
};

// first + i * step becomes target + i * target_step, for 0 <= i < count.
struct MappingRun {
  char32_t first;
  std::uint16_t count;
  std::uint8_t step;
  char32_t target;
  std::uint8_t target_step;
};

// One code point becomes two or three.
struct Expansion {
  char32_t first;
  std::uint8_t count;
  char32_t targets[3];
};

std::span<const ClassRange> class_ranges();
std::span<const MappingRun> mapping_runs();
std::span<const Expansion> expansions();

}  // namespace minilm::unicode
