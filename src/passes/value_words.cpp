#include "src/passes/value_words.h"

#include <bit>

namespace fxjit::passes {

void ValueWords::add(const Dims& dims) {
  add(int64_t{dims.size()});
  for (const Size size : dims) add(size.word());
}

void ValueWords::add(const Tensor& tensor) {
  known_ = known_ && tensor.is_meta();
  add(static_cast<int64_t>(tensor.dtype()));
  add(tensor.sizes());
  add(tensor.strides());
  add(tensor.offset().word());
}

void ValueWords::add(const Value& value) {
  add(static_cast<int64_t>(value.kind()));
  switch (value.kind()) {
    case Value::Kind::none:
      return;
    case Value::Kind::boolean:
    case Value::Kind::integer:
      return add(value.as_size().word());
    case Value::Kind::floating:
      return add(std::bit_cast<int64_t>(value.as_double()));
    case Value::Kind::dtype:
      return add(static_cast<int64_t>(value.as_dtype()));
    case Value::Kind::tensor:
      return add(value.as_tensor());
    case Value::Kind::node: {
      const auto known = numbers_.find(value.as_node());
      known_ = known_ && known != numbers_.end();
      return add(known == numbers_.end() ? int64_t{-1} : known->second);
    }
    case Value::Kind::string:
      add(static_cast<int64_t>(value.size()));
      text_ += value.as_string();
      return;
    case Value::Kind::list:
    case Value::Kind::tuple:
      add(static_cast<int64_t>(value.size()));
      for (const Value& item : value.as_sequence()) add(item);
      return;
    default:
      known_ = false;
  }
}

}  // namespace fxjit::passes
