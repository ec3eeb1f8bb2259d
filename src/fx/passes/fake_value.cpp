#include "src/fx/passes/fake_value.h"

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"

namespace fxjit::fx::passes {
namespace {

Tensor meta_tensor(const Tensor& tensor) {
  return Tensor::meta(tensor.sizes(), tensor.dtype(), tensor.strides(),
                      tensor.offset());
}

class Fake : public ProxyBase {
 public:
  explicit Fake(Value meta) : meta_(std::move(meta)) {}

  // All fakes may meet in one call.
  const void* tracer_id() const override { return &kFakes; }

  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation source) override {
    ValueList bound = ops::bind(function, args, kwargs, source);
    for (Value& arg : bound) arg = metas_of(arg);
    return fake_of(ops::infer({*function.op, bound, source}));
  }

  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation source) override {
    if (const ops::Spelling* spelling = ops::find_method(method))
      return record_function(*spelling, std::move(args), std::move(kwargs),
                             source);
    throw AttributeError(
        "'Tensor' object has no attribute '" + std::string(method) + "'",
        {std::string(method), "", "", source});
  }

  bool to_bool(SourceLocation source) override {
    throw RuntimeError(
        "[fake tensor] value: expected one that is known without running, got "
        "the truth of a tensor",
        {"", "", "", source});
  }

  Value val() const override { return meta_; }
  std::string describe() const override {
    return "FakeTensor(" + meta_.as_tensor().describe() + ")";
  }

 private:
  static constexpr char kFakes = 0;

  static Value metas_of(const Value& value) {
    return map_leaves(value, [](const Value& leaf) -> Value {
      if (leaf.is_proxy()) return leaf.as_proxy()->val();
      return leaf.is_tensor() ? Value(meta_tensor(leaf.as_tensor())) : leaf;
    });
  }

  Value meta_;
};

}  // namespace

Value fake_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    return Value::proxy(new Fake(meta_tensor(leaf.as_tensor())));
  });
}

Value without_fakes(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    return leaf.is_proxy() ? leaf.as_proxy()->val() : leaf;
  });
}

Value call_on_fakes(const Target& target, const ValueList& args,
                    const Kwargs& kwargs, SourceLocation source) {
  if (const Function* function = target.function())
    return fake_of(function->run(args, kwargs));
  // A call without tensors among its arguments may make one (torch.zeros).
  return fake_of(
      ops::call_function(*target.spelling(), args, kwargs, source));
}

}  // namespace fxjit::fx::passes
