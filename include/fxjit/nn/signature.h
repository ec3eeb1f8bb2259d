// The declared arguments of a function or of a module's forward: what Python
// learns by inspecting a signature.
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/value.h"

namespace fxjit::nn {

struct ArgSpec {
  // "x"; "*args" takes further positional, "**kwargs" further named arguments;
  // "*" alone is no argument: those behind it are given by keyword only.
  std::string name;
  std::optional<Value> default_value;
  bool keyword_only = false;  // Set by Signature: stands behind "*", "*args".

  ArgSpec(const char* name) : name(name) {}             // NOLINT
  ArgSpec(std::string name) : name(std::move(name)) {}  // NOLINT
  ArgSpec(std::string name, Value default_value)
      : name(std::move(name)), default_value(std::move(default_value)) {}

  bool is_varargs() const { return name.starts_with('*') && !is_varkeywords(); }
  bool is_varkeywords() const { return name.starts_with("**"); }
};

// What Python would take as the arguments of a `def`, such as {"x", "*",
// "scale"} for `def forward(self, x, *, scale)`: SyntaxError with Python's
// text, the argument and the line that declares it for anything else.
class Signature {
 public:
  Signature() = default;
  Signature(std::initializer_list<ArgSpec> args,  // NOLINT: converts by intent
            SourceLocation source = std::source_location::current())
      : Signature(std::vector<ArgSpec>(args), source) {}
  explicit Signature(std::vector<ArgSpec> args,
                     SourceLocation source = std::source_location::current());
  // As they are: for inputs that no function declares.
  static Signature unchecked(std::vector<ArgSpec> args);

  // Without the "*" that marks arguments as keyword-only.
  const std::vector<ArgSpec>& args() const { return args_; }
  size_t size() const { return args_.size(); }

  // Positions in the order of Python's variables: "*args" and "**kwargs" last.
  std::vector<size_t> python_order() const;

  // One value per declared argument: defaults filled in, "*args" as a tuple,
  // "**kwargs" as a dict. TypeError with Python's wording for a method called
  // `function`.
  std::vector<Value> bind(const ValueList& args, const Kwargs& kwargs,
                          std::string_view function) const;

 private:
  std::vector<ArgSpec> args_;
};

}  // namespace fxjit::nn
