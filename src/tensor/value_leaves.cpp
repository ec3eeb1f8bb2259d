#include "fxjit/value.h"

namespace fxjit {

Value map_leaves(const Value& value, FunctionRef<Value(const Value&)> fn) {
  switch (value.kind()) {
    case Value::Kind::list:
    case Value::Kind::tuple: {
      ValueList items;
      items.reserve(value.as_sequence().size());
      for (const Value& item : value.as_sequence())
        items.push_back(map_leaves(item, fn));
      return value.is_list() ? Value::list(std::move(items))
                             : Value::tuple(std::move(items));
    }
    case Value::Kind::dict: {
      ValueDict items;
      for (const auto& [key, item] : value.as_dict())
        items.emplace_back(key, map_leaves(item, fn));
      return Value::dict(std::move(items));
    }
    case Value::Kind::slice: {
      // One statement each: arguments of a call have no order of evaluation.
      auto s = value.as_slice();
      Value start = map_leaves(s.start, fn);
      Value stop = map_leaves(s.stop, fn);
      Value step = map_leaves(s.step, fn);
      return Value::slice(std::move(start), std::move(stop), std::move(step));
    }
    default:
      return fn(value);
  }
}

void visit_leaves(const Value& value, FunctionRef<void(const Value&)> fn) {
  switch (value.kind()) {
    case Value::Kind::list:
    case Value::Kind::tuple:
      for (const Value& item : value.as_sequence()) visit_leaves(item, fn);
      break;
    case Value::Kind::dict:
      for (const auto& [key, item] : value.as_dict()) visit_leaves(item, fn);
      break;
    case Value::Kind::slice: {
      auto s = value.as_slice();
      visit_leaves(s.start, fn);
      visit_leaves(s.stop, fn);
      visit_leaves(s.step, fn);
      break;
    }
    default:
      fn(value);
  }
}

}  // namespace fxjit
