// Value: the one dynamic type that flows through user code and stands in node
// arguments. Sixteen bytes: a tag and either an immediate or a reference to an
// immutable, counted payload (strings, lists, tuples, dicts, slices, tensors,
// proxies). Lists and dicts are never changed in place; build a new one.
//
// A Value may hold a graph node (inside node arguments) or a proxy (while
// tracing). Payloads may be shared between threads.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/dtype.h"
#include "fxjit/error.h"
#include "fxjit/function_ref.h"
#include "fxjit/node_ptr.h"
#include "fxjit/tensor.h"

namespace fxjit {

namespace fx {
class Node;
class ProxyBase;
}  // namespace fx

class Value;
struct DictEntry;
using ValueList = std::vector<Value>;
// Ordered as inserted, as Python's dict. Keys are Values (str or int mostly).
using ValueDict = std::vector<std::pair<Value, Value>>;
// Keyword arguments, in the order given.
using Kwargs = std::vector<std::pair<std::string, Value>>;

struct NoneType {};
inline constexpr NoneType None{};
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};

// Counted base of every heap payload.
class Counted {
 public:
  virtual ~Counted() = default;

 private:
  friend class Value;
  std::atomic<int64_t> count_{0};
};

class Value {
 public:
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    floating,
    dtype,
    ellipsis,
    node,  // fx::NodePtr, not owned; only inside node arguments.
    // Counted payloads from here on.
    string,
    slice,
    range,
    tensor,
    list,
    tuple,
    dict,
    proxy,
    opaque,  // Any Counted of the user's; printed by its describe().
  };

  // Lists, tuples, dicts and slices in one another; deeper ones are refused
  // with a RuntimeError, as Python's recursion ends in one.
  static constexpr int kMaxNesting = 200;

  Value() = default;
  Value(NoneType) {}                              // NOLINT
  Value(std::nullopt_t) {}                        // NOLINT
  Value(EllipsisType) : kind_(Kind::ellipsis) {}  // NOLINT
  template <std::same_as<bool> T>
  Value(T v) : kind_(Kind::boolean) {  // NOLINT
    word_.integer = v;
  }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T v) : kind_(Kind::integer) {  // NOLINT
    word_.integer = static_cast<int64_t>(v);
  }
  template <std::floating_point T>
  Value(T v) : kind_(Kind::floating) {  // NOLINT
    word_.floating = static_cast<double>(v);
  }
  Value(Size v) : kind_(Kind::integer), named_(!v.is_number()) {  // NOLINT
    word_.integer = v.word();
  }
  Value(DType v) : kind_(Kind::dtype) {  // NOLINT
    word_.integer = static_cast<int64_t>(v);
  }
  Value(std::string_view v);                                   // NOLINT
  Value(const std::string& v) : Value(std::string_view(v)) {}  // NOLINT
  Value(const char* v) : Value(std::string_view(v)) {}         // NOLINT
  Value(const Tensor& v);   // NOLINT: None for an undefined one
  Value(ValueList v);       // NOLINT: a list
  Value(const Dims& v);     // NOLINT: list of int
  Value(fx::NodePtr node);  // NOLINT
  Value(fx::Node* node) : Value(fx::NodePtr(node)) {}  // NOLINT
  template <typename T>
  Value(const std::optional<T>& v) {  // NOLINT
    if (v) *this = Value(*v);
  }
  // A dict, so that `return {{"a", x}, {"b", y}};` means what it does in
  // Python. Of equal keys the last value counts.
  Value(std::initializer_list<DictEntry> entries);  // NOLINT
  static Value list(ValueList items) { return Value(std::move(items)); }
  static Value tuple(ValueList items);
  static Value dict(ValueDict items);
  static Value slice(Value start, Value stop, Value step = None);
  static Value range(int64_t start, int64_t stop, int64_t step);
  // Takes part in the count of `payload`; kind is proxy or opaque. TypeError
  // for null.
  static Value proxy(fx::ProxyBase* payload);
  static Value opaque(Counted* payload);

  Value(const Value& other)
      : kind_(other.kind_), named_(other.named_), word_(other.word_) {
    retain();
  }
  Value(Value&& other) noexcept
      : kind_(other.kind_), named_(other.named_), word_(other.word_) {
    other.kind_ = Kind::none;
  }
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(named_, other.named_);
    std::swap(word_, other.word_);
    return *this;
  }
  ~Value() { release(); }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_bool() const { return kind_ == Kind::boolean; }
  bool is_int() const { return kind_ == Kind::integer; }
  bool is_float() const { return kind_ == Kind::floating; }
  // bool, int or float: what Python accepts as a number.
  bool is_number() const { return is_bool() || is_int() || is_float(); }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_dtype() const { return kind_ == Kind::dtype; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_tuple() const { return kind_ == Kind::tuple; }
  bool is_sequence() const { return is_list() || is_tuple(); }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_range() const { return kind_ == Kind::range; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_node() const { return kind_ == Kind::node; }
  bool is_proxy() const { return kind_ == Kind::proxy; }
  bool is_opaque() const { return kind_ == Kind::opaque; }

  // Each throws TypeError naming expected and actual kind. `as_int` accepts
  // bool, `as_double` accepts any number.
  bool as_bool() const;
  int64_t as_int() const;
  // as_int() without specialising a named size (fxjit/size.h).
  Size as_size() const;
  bool is_named_size() const { return is_int() && named_; }
  double as_double() const;
  std::string_view as_string() const;
  DType as_dtype() const;
  const Tensor& as_tensor() const;
  const ValueList& as_sequence() const;  // List or tuple.
  const ValueDict& as_dict() const;
  fx::NodePtr as_node() const;
  fx::ProxyBase* as_proxy() const;
  Counted* as_opaque() const;
  struct SliceView {
    const Value &start, &stop, &step;
  };
  SliceView as_slice() const;
  struct RangeView {
    int64_t start, stop, step;
  };
  RangeView as_range() const;
  // List or tuple of ints (a single int counts as one element).
  Dims as_dims() const;

  // Element of a list, tuple (by position) or dict (by string key).
  const Value& at(size_t i) const;
  const Value* find(std::string_view key) const;
  size_t size() const;  // Of a list, tuple, dict or string.

  // Python truth. A proxy asks its tracer (TraceError by default); a tensor
  // must have one element.
  explicit operator bool() const;

  std::string_view kind_name() const;  // Python's: "int", "Tensor", ...

 private:
  bool counted() const { return kind_ >= Kind::string; }
  void retain() const {
    if (counted())
      word_.payload->count_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (counted() &&
        word_.payload->count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete word_.payload;
  }
  int nesting() const;  // 0 for what is no container.
  static int nesting_around(std::span<const Value> items);
  Value(Kind kind, Counted* payload) : kind_(kind) {
    word_.payload = payload;
    retain();
  }

  Kind kind_ = Kind::none;
  bool named_ = false;  // An integer whose word is that of a named Size.
  union Word {
    int64_t integer;
    double floating;
    fx::Node* node;
    Counted* payload;
  } word_{};
};

// What stands between the inner braces of `{{"a", x}}`.
struct DictEntry {
  Value key, value;

  template <typename Key>
    requires std::convertible_to<const Key&, std::string_view>
  DictEntry(const Key& key, Value value)
      : key(std::string_view(key)), value(std::move(value)) {}
};

// Python's displays: tuple(x, y) is (x, y), list(x, y) is [x, y], and
// dict({{"a", x}, {1, y}}) is {'a': x, 1: y}. TypeError for a key that Python
// cannot hash; of equal keys the last value counts.
template <std::convertible_to<Value>... Items>
Value tuple(Items&&... items) {
  return Value::tuple({Value(std::forward<Items>(items))...});
}
template <std::convertible_to<Value>... Items>
Value list(Items&&... items) {
  return Value::list({Value(std::forward<Items>(items))...});
}
Value dict(const ValueDict& entries = {});

// Structural equality as Python's == on plain values: tensors, nodes, proxies
// and opaques by identity; 1 == 1.0 == True holds, lists differ from tuples.
bool same(const Value& a, const Value& b);

// Python's repr, with nodes, proxies and opaques written by `leaf` (or by
// "<kind>" when empty). Floats round-trip; strings are quoted.
using LeafPrinter = std::string (*)(const Value& leaf, const void* context);
std::string repr(const Value& value, LeafPrinter leaf = nullptr,
                 const void* context = nullptr);

// Applies `fn` to every non-container leaf in order, rebuilding containers;
// slices' three fields and dict values are visited, dict keys are not.
Value map_leaves(const Value& value, FunctionRef<Value(const Value&)> fn);

// Calls `fn` on every leaf, in order.
void visit_leaves(const Value& value, FunctionRef<void(const Value&)> fn);

}  // namespace fxjit
