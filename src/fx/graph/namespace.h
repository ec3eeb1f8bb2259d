// Unique Python identifiers, by torch.fx's rule: illegal characters become "_",
// and names that are taken, keywords, builtins or used by generated code get a
// number. Used by Graph for its nodes; names are never given back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/fx/graph/string_pool.h"

namespace fxjit::fx {

// The number behind a name's last "_", of any length.
class NameNumber {
 public:
  void assign(std::string_view digits);
  void increment();
  void append_to(std::string& out) const;

 private:
  int64_t value_ = 0;
  std::string long_;  // Instead of `value_` where that is too small.
};

class Namespace {
 public:
  // `candidate` made a legal and unused name, which lives as long as this.
  std::string_view create_name(std::string_view candidate);
  void reserve(std::string_view name) { used_.intern(name); }
  bool contains(std::string_view name) const { return used_.contains(name); }

 private:
  struct Base {
    NameNumber count;      // The last number given out, as torch counts.
    bool illegal = false;  // The bare base may not be a name.
  };
  Base& base_of(std::string_view text);
  std::string_view number_until_free(std::string_view base, NameNumber& number);

  StringPool used_;
  StringPool base_names_;
  std::unordered_map<std::string_view, Base> bases_;
};

// "PascalCase" to "pascal_case", "ALL_CAPS" to "all_caps".
std::string snake_case(std::string_view text);
// Of Python 3.11.
bool is_keyword(std::string_view name);
// True for Python keywords, builtins and the globals of generated code.
bool is_illegal_name(std::string_view name);
// Python's str.isidentifier; beyond ASCII every character counts as a letter.
bool is_identifier(std::string_view text);

}  // namespace fxjit::fx
