// Heap payloads behind Value's tag. Only value*.cpp may look inside; they are
// immutable once built.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit {

struct StringPayload : Counted {
  explicit StringPayload(std::string v) : text(std::move(v)) {}
  const std::string text;
};

struct TensorPayload : Counted {
  explicit TensorPayload(const Tensor& v) : tensor(v) {}
  const Tensor tensor;
};

struct SequencePayload : Counted {  // Lists and tuples.
  explicit SequencePayload(ValueList v) : items(std::move(v)) {}
  const ValueList items;
};

struct DictPayload : Counted {
  explicit DictPayload(ValueDict v) : items(std::move(v)) {}
  const ValueDict items;
};

struct SlicePayload : Counted {
  SlicePayload(Value a, Value b, Value c)
      : start(std::move(a)), stop(std::move(b)), step(std::move(c)) {}
  const Value start, stop, step;
};

struct RangePayload : Counted {
  explicit RangePayload(Value::RangeView v) : range(v) {}
  const Value::RangeView range;
};

}  // namespace fxjit
