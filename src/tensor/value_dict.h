// Making dicts as Python does.
#pragma once

#include "fxjit/value.h"

namespace fxjit {

// TypeError unless `key` may be a key of a dict.
void check_hashable(const Value& key);

// items[key] = value: takes the place of an equal key, or goes to the end.
void put(ValueDict& items, const Value& key, const Value& value);

}  // namespace fxjit
