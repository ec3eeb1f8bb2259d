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

// `nesting` counts the containers in one another, this one included.
struct ContainerPayload : Counted {
  explicit ContainerPayload(int nesting) : nesting(nesting) {}
  const int nesting;
};

struct SequencePayload : ContainerPayload {  // Lists and tuples.
  SequencePayload(ValueList v, int nesting)
      : ContainerPayload(nesting), items(std::move(v)) {}
  const ValueList items;
};

struct DictPayload : ContainerPayload {
  DictPayload(ValueDict v, int nesting)
      : ContainerPayload(nesting), items(std::move(v)) {}
  const ValueDict items;
};

struct SlicePayload : ContainerPayload {
  SlicePayload(Value a, Value b, Value c, int nesting)
      : ContainerPayload(nesting),
        start(std::move(a)),
        stop(std::move(b)),
        step(std::move(c)) {}
  const Value start, stop, step;
};

struct RangePayload : Counted {
  explicit RangePayload(Value::RangeView v) : range(v) {}
  const Value::RangeView range;
};

}  // namespace fxjit
