// What a node calls: the text of a placeholder, attribute, method, module or
// output; a spelling of the op table; or a function wrapped by the user.
//
// A Target is a view. Text given to Graph::create_node is copied into the
// graph; text read from a node lives as long as the node's graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fxjit/op.h"
#include "fxjit/value.h"

namespace fxjit::fx {

// The kinds of nodes, torch.fx's six and the sentinel of the node list.
enum class Opcode : uint8_t {
  placeholder,
  get_attr,
  call_function,
  call_method,
  call_module,
  output,
  root,
};

std::string_view opcode_name(Opcode op);  // "call_function", ...
// ValueError on an unknown name.
Opcode opcode_from_name(std::string_view name);

// A function outside the op table that graphs may call (see fx::wrap). Made by
// `define_function`, never destroyed; its address is its identity.
struct Function {
  std::string name;  // As printed and as written in generated code.
  std::function<Value(const ValueList&, const Kwargs&)> run;
  ops::Purity purity = ops::Purity::pure;

  // A leaf of all traces (see fx::wrap); stays so for good.
  bool is_wrapped() const { return wrapped_.load(std::memory_order_relaxed); }
  void set_wrapped() const { wrapped_.store(true, std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> wrapped_{false};
};

// Registers `run` under `name`; a second definition of a name replaces the
// callable and keeps the address. Thread-safe, but not beside running calls of
// the same function.
const Function& define_function(
    std::string name, std::function<Value(const ValueList&, const Kwargs&)> run,
    ops::Purity purity = ops::Purity::pure);
const Function* find_defined_function(std::string_view name);

class Target {
 public:
  Target() = default;
  Target(std::string_view text) : text_(text) {}    // NOLINT
  Target(const std::string& text) : text_(text) {}  // NOLINT
  Target(const char* text) : text_(text) {}         // NOLINT
  Target(const ops::Spelling& spelling)             // NOLINT
      : text_(spelling.name), spelling_(&spelling) {}
  Target(const Function& function)  // NOLINT
      : text_(function.name), function_(&function) {}

  bool callable() const { return spelling_ || function_; }
  const ops::Spelling* spelling() const { return spelling_; }
  const Function* function() const { return function_; }
  // The op of a spelling; null for text and wrapped functions.
  const ops::Op* op() const { return spelling_ ? spelling_->op : nullptr; }
  // Text, or the callable's name.
  std::string_view text() const { return text_; }
  // As torch.fx prints it: "operator.add", "builtins.getattr", "torch.add".
  std::string pretty() const;

  friend bool operator==(const Target& a, const Target& b) {
    return a.spelling_ == b.spelling_ && a.function_ == b.function_ &&
           (a.callable() || a.text_ == b.text_);
  }

 private:
  std::string_view text_;
  const ops::Spelling* spelling_ = nullptr;
  const Function* function_ = nullptr;
};

// What a call_function means by `name`: a spelling of the op table, an op's own
// name, a function that traces record, or one wrapped by the user. Nothing when
// no function has this name.
std::optional<Target> find_callable(std::string_view name);

}  // namespace fxjit::fx
