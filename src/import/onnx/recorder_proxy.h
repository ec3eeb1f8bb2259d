// The values of an imported model while its graph is recorded. For the
// recorder's own files.
#pragma once

#include <string>

#include "fxjit/error.h"
#include "src/import/onnx/recorder.h"

namespace fxjit::onnx {

// The shape depends on no input.
inline constexpr uint32_t kAllDims = ~0u;

class Recorder::Proxy : public fx::ProxyBase {
 public:
  Proxy(Recorder* recorder, fx::NodePtr node, Value example,
        uint32_t fixed_dims, bool guessed)
      : recorder_(recorder),
        node_(node),
        example_(std::move(example)),
        fixed_dims_(fixed_dims),
        guessed_(guessed) {}

  const void* tracer_id() const override { return recorder_; }
  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation) override {
    return recorder_->record(function, std::move(args), std::move(kwargs));
  }
  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation) override {
    const ops::Spelling* const spelling = ops::find_method(method);
    FXJIT_CHECK(spelling, std::string(method));
    return recorder_->record(spelling->op->canonical, std::move(args),
                             std::move(kwargs));
  }
  bool to_bool(SourceLocation) override {
    throw UserError("[onnx] a choice that depends on an input");
  }
  Value val() const override { return example_; }
  std::string describe() const override {
    return node_ ? "Proxy(" + std::string(node_->name()) + ")" : "Proxy";
  }

  Recorder* recorder_;
  fx::NodePtr node_;  // Null: a constant that no call has read yet.
  Value example_;
  uint32_t fixed_dims_;  // kAllDims: nothing of it depends on an input's size.
  bool guessed_;         // The example comes of numbers that are not known.
  std::string name_;     // The constant's, if it is one.
};

template <typename Proxy>
Proxy* proxy_of(const Value& value) {
  return value.is_proxy() ? static_cast<Proxy*>(value.as_proxy()) : nullptr;
}

}  // namespace fxjit::onnx
