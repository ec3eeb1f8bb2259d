#include "fxjit/op.h"
#include "src/ops/aten/overload.h"
#include "src/ops/table/binder.h"
#include "src/ops/table/op_call.h"

namespace fxjit::ops {
namespace {

class Binder {
 public:
  Binder(const Callee& callee, SourceLocation source)
      : callee_(callee), source_(source) {
    values_.resize(callee.parameters.size());
    bound_.resize(callee.parameters.size());
  }

  void positional(std::span<const Value> args) {
    size_t next = 0;
    for (size_t i = 0; i < callee_.parameters.size() && next < args.size();
         ++i) {
      const Parameter& parameter = callee_.parameters[i];
      if (parameter.variadic) {
        set(i, collect(args.subspan(next)));
        return;
      }
      if (parameter.keyword_only) break;
      set(i, args[next++]);
    }
    if (next < args.size()) surplus(args.size());
  }

  void keyword(const std::string& name, const Value& value) {
    const std::optional<size_t> i = find(name);
    if (!i) fail("() got an unexpected keyword argument '" + name + "'");
    if (bound_[*i]) fail("() got multiple values for argument '" + name + "'");
    set(*i, value);
  }

  std::vector<Value> finish() {
    std::vector<std::string> missing;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (bound_[i]) continue;
      const Parameter& parameter = callee_.parameters[i];
      if (parameter.has_default)
        values_[i] = parameter.default_value;
      else
        missing.push_back("'" + parameter.name + "'");
    }
    if (!missing.empty()) report_missing(missing);
    return std::move(values_);
  }

 private:
  void set(size_t i, const Value& value) {
    values_[i] = value;
    bound_[i] = true;
  }

  // x.view(2, 3) and x.view((2, 3)) bind alike.
  static Value collect(std::span<const Value> rest) {
    if (rest.size() == 1 && rest[0].is_sequence()) return rest[0];
    return Value::tuple(ValueList(rest.begin(), rest.end()));
  }

  std::optional<size_t> find(std::string_view name) const {
    if (const auto i = index_of(callee_.parameters, name)) return i;
    // Names that torch accepts beside its own.
    const std::string_view own = name == "self" || name == "x" ? "input"
                                 : name == "axis"              ? "dim"
                                 : name == "keepdims"          ? "keepdim"
                                                               : "";
    return index_of(callee_.parameters, own);
  }

  void surplus(size_t given) const {
    size_t most = 0, least = 0;
    for (const Parameter& parameter : callee_.parameters) {
      if (parameter.keyword_only) continue;
      ++most;
      if (!parameter.has_default) ++least;
    }
    const std::string range = least == most ? std::to_string(most)
                                            : "from " + std::to_string(least) +
                                                  " to " + std::to_string(most);
    fail("() takes " + range + " positional argument" + (most == 1 ? "" : "s") +
         " but " + std::to_string(given) +
         (given == 1 ? " was given" : " were given"));
  }

  void report_missing(const std::vector<std::string>& names) const {
    std::string list = names[0];
    for (size_t i = 1; i < names.size(); ++i) {
      if (i + 1 < names.size())
        list += ", " + names[i];
      else
        list += (names.size() > 2 ? ", and " : " and ") + names[i];
    }
    fail("() missing " + std::to_string(names.size()) +
         " required positional argument" + (names.size() == 1 ? "" : "s") +
         ": " + list);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw TypeError(callee_.name + message, context_of(callee_.name, source_));
  }

  const Callee callee_;
  SourceLocation source_;
  std::vector<Value> values_;
  std::vector<bool> bound_;
};

}  // namespace

std::vector<Value> bind(const Op& op, std::span<const Value> args,
                        const Kwargs& kwargs, SourceLocation source) {
  return bind_parameters({op.row.name, op.parameters}, args, kwargs, source);
}

std::vector<Value> bind(const Spelling& spelling, std::span<const Value> args,
                        const Kwargs& kwargs, SourceLocation source) {
  return spelling.overload ? bind(*spelling.overload, args, kwargs, source)
                           : bind(*spelling.op, args, kwargs, source);
}

std::vector<Value> bind_declared(const Spelling& spelling,
                                 std::span<const Value> args,
                                 const Kwargs& kwargs, SourceLocation source) {
  return spelling.overload
             ? bind_torch(*spelling.overload, args, kwargs, source)
             : bind(*spelling.op, args, kwargs, source);
}

const std::vector<Parameter>& parameters_of(const Spelling& spelling) {
  return spelling.overload ? spelling.overload->parameters
                           : spelling.op->parameters;
}

std::optional<size_t> index_of(const std::vector<Parameter>& parameters,
                               std::string_view name) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return i;
  return std::nullopt;
}

ValueList bind_parameters(const Callee& callee, std::span<const Value> args,
                          const Kwargs& kwargs, SourceLocation source) {
  Binder binder(callee, source);
  binder.positional(args);
  for (const auto& [name, value] : kwargs) binder.keyword(name, value);
  return binder.finish();
}

}  // namespace fxjit::ops
