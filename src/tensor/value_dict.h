// Making dicts as Python does.
#pragma once

#include "fxjit/value.h"

namespace fxjit {

// The value of an equal key, null where there is none. TypeError unless `key`
// may be a key of a dict, as from put.
const Value* find(const ValueDict& items, const Value& key);

// items[key] = value: takes the place of an equal key, or goes to the end.
void put(ValueDict& items, const Value& key, const Value& value);

}  // namespace fxjit
