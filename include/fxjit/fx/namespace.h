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
  // Names live in `strings`, which must outlive the namespace.
  explicit Namespace(StringPool& strings) : strings_(strings) {}

  // `candidate` made a legal and unused name.
  std::string_view create_name(std::string_view candidate);
  void reserve(std::string_view name) { used_.intern(name); }

 private:
  int64_t& count_of(std::string_view base);

  StringPool& strings_;
  StringPool used_;
  std::unordered_map<std::string_view, int64_t> base_count_;
};

// "PascalCase" to "pascal_case", "ALL_CAPS" to "all_caps".
std::string snake_case(std::string_view text);
// True for Python keywords, builtins and the globals of generated code.
bool is_illegal_name(std::string_view name);
bool is_identifier(std::string_view text);

}  // namespace fxjit::fx
