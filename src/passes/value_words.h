// A text of raw words that is equal for equal values: a key for look-ups within
// a process, not to be read or stored. Named sizes (fxjit/size.h) are equal
// where they are for all values of the names.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "fxjit/fx/node.h"
#include "fxjit/value.h"
#include "src/support/words.h"

namespace fxjit::passes {

class ValueWords {
 public:
  void add(int64_t number) { support::append_word(text_, number); }
  void add(const Dims& dims);
  void add(const Tensor& tensor);
  void add(const Value& value);
  // Values may refer to the node by its number from here on.
  void number(const fx::Node& node) {
    numbers_.emplace(&node, static_cast<int64_t>(numbers_.size()));
  }

  const std::string& text() const { return text_; }
  // False once a value was added that has no such text: a tensor with numbers,
  // a node without a number, an object.
  bool is_known() const { return known_; }

 private:
  std::string text_;
  bool known_ = true;
  std::unordered_map<const fx::Node*, int64_t> numbers_;
};

}  // namespace fxjit::passes
