// Proxies: values that stand for nodes. Calls and operators on them are
// recorded as nodes by their tracer. User code holds them inside Value and
// meets this header only to make proxies of existing nodes or to read an
// attribute.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/fx/node.h"
#include "fxjit/nn/parameter.h"
#include "fxjit/proxy_base.h"

namespace fxjit::fx {

class TracerBase;

// A value that is not known while a module is traced: it stands for a node of
// the graph, and its tracer records the calls on it. A proxy kept beyond its
// tracer may be copied and destroyed; any other use is a RuntimeError. While
// its tracer lives, its node must, too.
class Proxy : public ProxyBase {
 public:
  Proxy(NodePtr node, TracerBase* tracer);

  virtual NodePtr node();
  TracerBase& tracer() const;

  const void* tracer_id() const override;
  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation source) override;
  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation source) override;
  bool to_bool(SourceLocation source) override;
  std::string describe() const override;

 protected:
  NodePtr node_;

 private:
  std::shared_ptr<TracerBase*> tracer_;  // TracerBase::life().
};

// `root.name`, recorded as builtins.getattr at its first use; calling it
// records one call_method instead. RuntimeError for attributes of attributes
// beyond Value::kMaxNesting.
class Attribute : public Proxy {
 public:
  Attribute(Value root, std::string name, SourceLocation source = {});
  NodePtr node() override;
  const std::string& name() const { return name_; }
  Value call(const ValueList& args, const Kwargs& kwargs,
             SourceLocation source);
  std::string describe() const override;

 private:
  Value root_;
  std::string name_;
  SourceLocation source_;
  int nesting_ = 1;  // Attributes in a row, this one included.
};

// A parameter read while tracing; the get_attr node is made at its first use.
// With Tracer::param_shapes_constant its shape is known: `size`, `dim`, `numel`
// and the like give values instead of nodes.
class ParameterProxy : public Proxy {
 public:
  ParameterProxy(TracerBase* tracer, std::string name, nn::Parameter parameter,
                 bool shapes_constant);
  NodePtr node() override;
  const std::string& name() const { return name_; }
  const nn::Parameter& parameter() const { return parameter_; }
  Value record_function(const ops::Spelling& function, ValueList args,
                        Kwargs kwargs, SourceLocation source) override;
  Value record_method(std::string_view method, ValueList args, Kwargs kwargs,
                      SourceLocation source) override;
  std::string describe() const override;
  // The shape fact that `name` asks for; none when it is not one or shapes are
  // not constant. `args` are those of a method call, self included.
  Value shape_fact(std::string_view name, const ValueList& args,
                   const Kwargs& kwargs = {}) const;

 private:
  std::string name_;
  nn::Parameter parameter_;
  bool shapes_constant_;
};

// A proxy of an existing node that appends to its graph, for editing graphs by
// running code. AttributeError for null.
Value proxy(NodePtr node);
// The node behind a proxy made by the tracers of this library, recording it
// now if it was not yet; TypeError for other values.
NodePtr node_of(const Value& proxy);
// Makes a lazy proxy (an attribute, a parameter) record its node now.
Value force_node(Value value);

// Python's getattr(value, name): of a proxy an Attribute, of a tensor its
// "shape", "dtype", "ndim", ...
Value getattr(const Value& value, std::string_view name,
              SourceLocation source = std::source_location::current());
// Elements 0 .. count-1 of a sequence, or getitem calls on a proxy: the
// counterpart of `a, b = value`.
std::vector<Value> unpack(
    const Value& value, size_t count,
    SourceLocation source = std::source_location::current());
// The elements of a sequence; of a proxy, whatever Tracer::iter gives
// (TraceError by default).
std::vector<Value> iterate(
    const Value& value,
    SourceLocation source = std::source_location::current());
// The keys of a dict, as a list; of a proxy, whatever Tracer::keys gives.
Value keys(const Value& value,
           SourceLocation source = std::source_location::current());
// Python's len(). Of a proxy it is recorded when "len" is wrapped (see
// fx::wrap), otherwise RuntimeError with torch's text.
Value len(const Value& value,
          SourceLocation source = std::source_location::current());

// torch._assert: recorded when `condition` is a proxy, else AssertionError with
// `message` unless it is true.
Value torch_assert(const Value& condition, std::string_view message,
                   SourceLocation source = std::source_location::current());
// Python's `assert condition`. Of a proxy it is recorded with
// TracerBase::trace_asserts, otherwise asks for its truth (a TraceError).
void check(const Value& condition,
           SourceLocation source = std::source_location::current());

}  // namespace fxjit::fx
