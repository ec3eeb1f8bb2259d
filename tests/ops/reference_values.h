// What the readers of reference files share: lines of words, values as words,
// elements in base64, and comparing elements. For the sources of this folder.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::testing {

// Of a file of this folder. UserError when it cannot be read.
std::vector<std::string> reference_lines(const std::string& file_name);
std::vector<std::string> words_of(const std::string& line);
// Splits outside of brackets.
std::vector<std::string> split(const std::string& text, char separator);
// "2,3"; "()" and no text are no dims.
Dims dims(const std::string& text);
// "i:3", "f:0.5", "b:True", "d:float32"; nothing for other kinds of words.
std::optional<Value> plain_value(const std::string& word);

// Tensors of which others are views, so that their elements stand once in a
// file.
class ReferencePools {
 public:
  void add(const std::string& name, DType type, const std::string& base64);
  Tensor view(const std::string& name, const std::string& offset,
              const std::string& sizes, const std::string& strides) const;

 private:
  std::map<std::string, Tensor> pools_;
};

std::string decode_base64(const std::string& text);
// UserError for another name.
DType dtype(const std::string& name);
// UserError if the bytes are not those of such a tensor.
Tensor tensor_of(const std::string& base64, DType type, const Dims& sizes);

struct Tolerance {
  double relative, absolute;
};

// Empty, or the first element that is further away; NaN equals NaN, infinities
// are exact. Sizes are equal.
std::string first_difference(const Tensor& got, const Tensor& expected,
                             const Tolerance& allowed);

}  // namespace fxjit::testing
