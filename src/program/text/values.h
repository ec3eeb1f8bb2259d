// Values, the arguments of calls, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "fxjit/value.h"

namespace fxjit::program::text {

using Json = nlohmann::ordered_json;

// Finite numbers are numbers; others are their bits, so that none changes.
Json number_json(double number);
double number_of(const Json& json);

Json dims_json(const Dims& dims);
Dims dims_of(const Json& json);

Json value_json(const Value& value);
Value value_of(const Json& json);

}  // namespace fxjit::program::text
