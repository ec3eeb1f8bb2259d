#include "src/tensor/concat.h"

namespace fxjit {

void TextPart::append_to(std::string& text) const {
  switch (kind_) {
    case Kind::text:
      text.append(text_);
      break;
    case Kind::character:
      text.push_back(static_cast<char>(integer_));
      break;
    case Kind::integer:
      text.append(std::to_string(integer_));
      break;
    case Kind::unsigned_integer:
      text.append(std::to_string(static_cast<uint64_t>(integer_)));
      break;
    case Kind::size:
      text.append(to_string(Size::from_word(integer_)));
      break;
    case Kind::dims:
      text.append(dims_->str());
      break;
  }
}

std::string concat(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.append_to(text);
  return text;
}

}  // namespace fxjit
