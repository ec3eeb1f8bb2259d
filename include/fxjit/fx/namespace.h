// Unique Python identifiers, by torch.fx's rule: illegal characters become "_",
// and names that are taken, keywords, builtins or used by generated code get a
// number. Used by Graph for its nodes; names are never given back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fxjit/fx/string_pool.h"

namespace fxjit::fx {

class Namespace {
 public:
  // `candidate` made a legal and unused name, which lives as long as this.
  std::string_view create_name(std::string_view candidate);
  void reserve(std::string_view name) { used_.intern(name); }
  bool contains(std::string_view name) const { return used_.contains(name); }

 private:
  struct Base {
    int64_t count = 0;     // Highest number given out, as torch counts.
    bool illegal = false;  // The bare base may not be a name.
  };
  Base& base_of(std::string_view text);
  std::string_view number_until_free(std::string_view base, int64_t* number);

  StringPool used_;
  StringPool base_names_;
  std::unordered_map<std::string_view, Base> bases_;
};

// "PascalCase" to "pascal_case", "ALL_CAPS" to "all_caps".
std::string snake_case(std::string_view text);
// True for Python keywords, builtins and the globals of generated code.
bool is_illegal_name(std::string_view name);
bool is_identifier(std::string_view text);

}  // namespace fxjit::fx
