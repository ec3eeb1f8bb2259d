// Nested inputs and outputs of an exported program (torch's pytrees), which the
// file describes by JSON inside a text.
#pragma once

#include "fxjit/value.h"
#include "src/import/field.h"

namespace fxjit::import {

// The containers as a value with None for every leaf. Lists, tuples, dicts and
// ordered dicts are what they are, named tuples and types without names become
// tuples, other types whose parts have names (the outputs of transformers)
// dicts. UserError for another version of the description.
Value read_tree(const Field& field);

}  // namespace fxjit::import
