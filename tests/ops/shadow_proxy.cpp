#include "tests/ops/shadow_proxy.h"

#include "fxjit/op.h"
#include "fxjit/proxy_base.h"

namespace fxjit::testing {
namespace {

class ShadowProxy : public fx::ProxyBase {
 public:
  explicit ShadowProxy(Tensor tensor) : tensor_(std::move(tensor)) {}

  const Tensor& tensor() const { return tensor_; }
  const void* tracer_id() const override { return &kTracer; }

  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation) override {
    return run(*function.op, args, kwargs);
  }
  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation) override {
    return run(*ops::find_method(method)->op, args, kwargs);
  }
  bool to_bool(SourceLocation) override { throw TraceError("to_bool"); }
  Value val() const override {
    return Tensor::meta(tensor_.sizes(), tensor_.dtype(), tensor_.strides(),
                        tensor_.offset());
  }
  std::string describe() const override { return "shadow"; }

 private:
  static constexpr int kTracer = 0;

  static Value run(const ops::Op& op, const ValueList& args,
                   const Kwargs& kwargs) {
    std::vector<Value> bound = ops::bind(op, args, kwargs);
    for (Value& arg : bound) arg = revealed(arg);
    return shadowed(ops::run_eager({op, bound}));
  }

  Tensor tensor_;
};

}  // namespace

Value shadowed(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    return leaf.is_tensor() ? Value::proxy(new ShadowProxy(leaf.as_tensor()))
                            : leaf;
  });
}

Value revealed(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (!leaf.is_proxy()) return leaf;
    return static_cast<const ShadowProxy*>(leaf.as_proxy())->tensor();
  });
}

}  // namespace fxjit::testing
