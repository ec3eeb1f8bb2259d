#include "fxjit/nn/signature.h"

#include <unordered_set>

#include "src/fx/graph/namespace.h"

namespace fxjit::nn {
namespace {

bool is_star(const ArgSpec& spec) { return spec.name == "*"; }

// What Python's compiler checks about the arguments of a `def`.
class SyntaxCheck {
 public:
  explicit SyntaxCheck(SourceLocation source) : source_(source) {}

  void add(const ArgSpec& spec) {
    if (varkeywords_)
      fail(spec, "arguments cannot follow var-keyword argument");
    if (spec.is_varargs() && keyword_only_)
      fail(spec, "* argument may appear only once");
    if (is_star(spec)) return add_star(spec);
    std::string_view name = spec.name;
    if (spec.is_varkeywords()) {
      if (star_) fail(*star_, "named arguments must follow bare *");
      varkeywords_ = true;
      name.remove_prefix(2);
    } else if (spec.is_varargs()) {
      keyword_only_ = true;
      name.remove_prefix(1);
    } else if (spec.default_value) {
      defaults_ = true;
    } else if (defaults_ && !keyword_only_) {
      fail(spec, "non-default argument follows default argument");
    }
    star_ = nullptr;
    if (!fx::is_identifier(name) || fx::is_keyword(name))
      fail(spec,
           "invalid syntax ('" + spec.name + "' is no name of an argument)");
    if (!names_.insert(name).second)
      fail(spec, "duplicate argument '" + std::string(name) +
                     "' in function definition");
  }

  void finish() const {
    if (star_) fail(*star_, "named arguments must follow bare *");
  }

 private:
  void add_star(const ArgSpec& spec) {
    if (spec.default_value) fail(spec, "bare * has no default value");
    keyword_only_ = true;
    star_ = &spec;
  }

  [[noreturn]] void fail(const ArgSpec& spec, const std::string& text) const {
    throw SyntaxError(text, {"", spec.name, "", source_});
  }

  SourceLocation source_;
  bool defaults_ = false;
  bool keyword_only_ = false;      // Behind "*" or "*args".
  const ArgSpec* star_ = nullptr;  // "*" with nothing behind it yet.
  bool varkeywords_ = false;
  std::unordered_set<std::string_view> names_;
};

// Binding of one call: slots are filled from the left, then by name.
class Binder {
 public:
  Binder(const std::vector<ArgSpec>& specs, std::string_view function)
      : specs_(specs), function_(function), slots_(specs.size()) {}

  std::vector<Value> bind(const ValueList& args, const Kwargs& kwargs) {
    const size_t count = positional_count();
    take_positional(args, count);
    take_keywords(kwargs);
    const bool variadic = count < specs_.size() && specs_[count].is_varargs();
    if (args.size() > count && !variadic) fail_surplus(count, args.size());
    return finish();
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw TypeError(std::string(function_) + "() " + text);
  }
  size_t positional_count() const {
    size_t count = 0;
    while (count < specs_.size() && !specs_[count].name.starts_with('*') &&
           !specs_[count].keyword_only)
      ++count;
    return count;
  }

  void take_positional(const ValueList& args, size_t count) {
    for (size_t i = 0; i < args.size() && i < count; ++i) slots_[i] = args[i];
    if (args.size() <= count || count == specs_.size() ||
        !specs_[count].is_varargs())
      return;
    slots_[count] = Value::tuple(ValueList(
        args.begin() + static_cast<std::ptrdiff_t>(count), args.end()));
  }

  void take_keywords(const Kwargs& kwargs) {
    ValueDict rest;
    for (const auto& [name, value] : kwargs) {
      const size_t i = find(name);
      if (i < specs_.size()) {
        if (slots_[i]) fail("got multiple values for argument '" + name + "'");
        slots_[i] = value;
      } else {
        rest.emplace_back(Value(name), value);
      }
    }
    if (!specs_.empty() && specs_.back().is_varkeywords()) {
      slots_.back() = Value::dict(std::move(rest));
    } else if (!rest.empty()) {
      fail("got an unexpected keyword argument '" +
           std::string(rest[0].first.as_string()) + "'");
    }
  }

  size_t find(std::string_view name) const {
    size_t i = 0;
    while (i < specs_.size() && specs_[i].name != name) ++i;
    return i;
  }

  std::vector<Value> finish() {
    std::vector<Value> bound;
    std::vector<std::string> missing, missing_keywords;
    for (size_t i = 0; i < specs_.size(); ++i) {
      if (slots_[i]) {
        bound.push_back(std::move(*slots_[i]));
      } else if (specs_[i].is_varargs()) {
        bound.push_back(Value::tuple({}));
      } else if (specs_[i].default_value) {
        bound.push_back(*specs_[i].default_value);
      } else {
        (specs_[i].keyword_only ? missing_keywords : missing)
            .push_back("'" + specs_[i].name + "'");
      }
    }
    if (!missing.empty()) fail_missing("positional", missing);
    if (!missing_keywords.empty())
      fail_missing("keyword-only", missing_keywords);
    return bound;
  }

  size_t keywords_given() const {
    size_t count = 0;
    for (size_t i = 0; i < specs_.size(); ++i)
      count += specs_[i].keyword_only && slots_[i].has_value();
    return count;
  }

  // Python counts the method's self.
  [[noreturn]] void fail_surplus(size_t count, size_t given) const {
    size_t required = 0;
    for (size_t i = 0; i < count; ++i)
      if (!specs_[i].default_value) ++required;
    const std::string limit = std::to_string(count + 1);
    const std::string takes =
        required == count
            ? limit
            : "from " + std::to_string(required + 1) + " to " + limit;
    const size_t keywords = keywords_given();
    fail("takes " + takes + " positional argument" +
         (required == count && count == 0 ? "" : "s") + " but " +
         std::to_string(given + 1) +
         (keywords == 0
              ? ""
              : " positional arguments (and " + std::to_string(keywords) +
                    " keyword-only argument" + (keywords == 1 ? ")" : "s)")) +
         " were given");
  }

  [[noreturn]] void fail_missing(const std::string& kind,
                                 const std::vector<std::string>& names) const {
    std::string list = names[0];
    for (size_t i = 1; i < names.size(); ++i) {
      const bool last = i + 1 == names.size();
      if (names.size() > 2) list += ",";
      list += last ? " and " : " ";
      list += names[i];
    }
    fail("missing " + std::to_string(names.size()) + " required " + kind +
         " argument" + (names.size() > 1 ? "s" : "") + ": " + list);
  }

  const std::vector<ArgSpec>& specs_;
  std::string_view function_;
  std::vector<std::optional<Value>> slots_;
};

}  // namespace

Signature::Signature(std::vector<ArgSpec> args, SourceLocation source)
    : args_(std::move(args)) {
  SyntaxCheck check(source);
  for (const ArgSpec& spec : args_) check.add(spec);
  check.finish();
  bool keyword_only = false;
  for (ArgSpec& spec : args_) {
    spec.keyword_only = keyword_only && !spec.is_varkeywords();
    keyword_only = keyword_only || spec.is_varargs();
  }
  std::erase_if(args_, is_star);
}

Signature Signature::unchecked(std::vector<ArgSpec> args) {
  Signature signature;
  signature.args_ = std::move(args);
  return signature;
}

std::vector<size_t> Signature::python_order() const {
  std::vector<size_t> order;
  for (const bool variadic : {false, true})
    for (size_t i = 0; i < args_.size(); ++i)
      if (args_[i].name.starts_with('*') == variadic) order.push_back(i);
  return order;
}

std::vector<Value> Signature::bind(const ValueList& args, const Kwargs& kwargs,
                                   std::string_view function) const {
  return Binder(args_, function).bind(args, kwargs);
}

}  // namespace fxjit::nn
