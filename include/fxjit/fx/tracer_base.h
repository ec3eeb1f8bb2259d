// TracerBase: turns calls on proxies into nodes of a graph. Every hook may be
// overridden, with torch.fx's names and meaning.
//
// A tracer is used by one thread; any number of tracers may run at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/proxy.h"

namespace fxjit::fx {

struct BodyFrame;

// Path and type of the module whose forward is being traced; "" at the root.
struct Scope {
  std::string module_path;
  std::string module_type;
};

// Changes `scope` to `current` while it lives.
class ScopeContextManager {
 public:
  ScopeContextManager(Scope& scope, Scope current)
      : scope_(scope), previous_(std::exchange(scope, std::move(current))) {}
  ~ScopeContextManager() { scope_ = std::move(previous_); }
  ScopeContextManager(const ScopeContextManager&) = delete;
  ScopeContextManager& operator=(const ScopeContextManager&) = delete;

 private:
  Scope& scope_;
  Scope previous_;
};

// A user's object that knows how to become a node argument.
class TracedArgument : public Counted {
 public:
  virtual Value fx_create_arg(TracerBase& tracer) = 0;
};

// What tracers share: making nodes and proxies, and the answers to what traced
// code asks of a proxy. torch's TracerBase.
class TracerBase {
 public:
  // Wraps a node in a proxy of the caller's choice.
  using ProxyFactory = std::function<Value(NodePtr)>;

  TracerBase() = default;
  virtual ~TracerBase() { *life_ = nullptr; }
  TracerBase(const TracerBase&) = delete;
  TracerBase& operator=(const TracerBase&) = delete;

  Graph* graph = nullptr;  // Not owned.
  // Put the user's lines into meta["stack_trace"] too: those of the module
  // calls that led there and the node's own, each once, the innermost last.
  bool record_stack_traces = false;
  // Refuse ops that write their arguments.
  bool check_mutable_operations = false;
  // Record fx::check of a proxy instead of refusing it.
  bool trace_asserts = false;
  // Reading a buffer gives a proxy, as reading a parameter does.
  bool proxy_buffer_attributes = false;
  // The function of the root module to trace.
  std::string traced_func_name = "forward";
  Scope scope;
  std::shared_ptr<const ModuleStack> module_stack;

  // Every traced node is made here.
  virtual NodePtr create_node(Opcode kind, const Target& target, ValueList args,
                              Kwargs kwargs, std::string_view name = {},
                              const Value& type = {});
  // Makes a proxy of a node; makes a node and its proxy, by `factory` if one is
  // given.
  virtual Value proxy(NodePtr node);
  virtual Value create_proxy(Opcode kind, const Target& target, ValueList args,
                             Kwargs kwargs, std::string_view name = {},
                             const Value& type = {},
                             const ProxyFactory& factory = nullptr);
  // Turns what user code passes into what a node may hold.
  virtual Value create_arg(const Value& value);
  // What a proxy gives for bool(), iteration and keys(). By default the first
  // two throw TraceError, and keys() is recorded as a call_method.
  virtual bool to_bool(Proxy& proxy);
  virtual std::vector<Value> iter(Proxy& proxy);
  virtual Value keys(Proxy& proxy);
  // Proxies of tracers with one identity may meet in a call.
  virtual const void* identity() const { return this; }

  // The module whose members the nodes of the graph name; null when there is
  // none. Bodies of control flow become members of it.
  virtual nn::Module* owner() const { return nullptr; }

  // Module path and type in which a node was traced; torch's
  // node_name_to_scope.
  Scope scope_of(const Node& node) const;

  // The user's line being traced, stored in the nodes made meanwhile.
  const SourceLocation& source() const { return source_; }
  void set_source(SourceLocation source) { source_ = source; }

  // The bodies of control flow that are being traced now, the innermost last:
  // `graph` is that of the last one.
  const std::vector<BodyFrame*>& bodies() const { return bodies_; }

  // Points to this tracer, to null once it has gone: what proxies hold.
  const std::shared_ptr<TracerBase*>& life() const { return life_; }

 protected:
  ErrorContext error_context() const;

 private:
  friend class CallerScope;
  friend class BodyScope;
  friend class OutsideScope;
  std::string stack_trace() const;

  std::shared_ptr<TracerBase*> life_ = std::make_shared<TracerBase*>(this);
  SourceLocation source_;
  std::vector<SourceLocation> callers_;  // Of the modules being traced.
  std::vector<BodyFrame*> bodies_;
};

// Names the line that calls the module traced while it lives.
class CallerScope {
 public:
  CallerScope(TracerBase& tracer, SourceLocation source) : tracer_(tracer) {
    tracer.callers_.push_back(source);
  }
  ~CallerScope() { tracer_.callers_.pop_back(); }
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

 private:
  TracerBase& tracer_;
};

// Sets the line being traced while it lives.
class SourceScope {
 public:
  SourceScope(TracerBase& tracer, SourceLocation source)
      : tracer_(tracer), previous_(tracer.source()) {
    if (source.known()) tracer.set_source(source);
  }
  ~SourceScope() { tracer_.set_source(previous_); }
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;

 private:
  TracerBase& tracer_;
  SourceLocation previous_;
};

// Appends to an existing graph without a trace.
class GraphAppendingTracer : public TracerBase {
 public:
  explicit GraphAppendingTracer(Graph& to) : to_(to) { graph = &to; }
  // All such tracers of a graph are as one.
  const void* identity() const override { return &to_; }
  nn::Module* owner() const override;

 private:
  Graph& to_;
};

}  // namespace fxjit::fx
