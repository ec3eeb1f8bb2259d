// Values for a model's inputs: from files, or made up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/fxjit/model.h"

namespace fxjit::command {

struct InputOptions {
  std::vector<std::string> values;  // "NAME=FILE.npy", "NAME=[[1, 2], [3, 4]]"
  // "NAME=1x3x224x224", "NAME=int64:1x16", "NAME=int64:1x16<1000"
  std::vector<std::string> shapes;
  uint64_t seed = 1;
  std::vector<std::string> sizes;  // As declare_sizes() takes them.
};

// What options say of inputs, by the names that they use.
using InputTexts = std::map<std::string, std::string>;
// "NAME=TEXT" for each. UserError naming the option where a name is given twice
// or is none of the model's.
InputTexts by_input(const std::vector<std::string>& texts,
                    const std::string& option, const Model& model);
// The text for an input; null: none.
const std::string* find_input(const InputTexts& texts, const ModelInput& input);

// One value for each input, in order. Numbers in brackets are rows within rows,
// of the type that the model says, else int64, or float32 where one has a
// point. Where no value is given: floating numbers uniform in [-1, 1), integers
// 0 or 1 or below the given number, in the size that the options say, else in
// the one of the exported call. UserError naming the option for a name that the
// model does not have, a text that says something else, an input without any
// size.
ValueList make_inputs(const Model& model, const InputOptions& options);

}  // namespace fxjit::command
