// Parameters and buffers by the dotted names that files give them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fxjit/nn/module.h"

namespace fxjit::import {

inline constexpr int kMaxPathDepth = 200;

// The module that `path` ("layers.0.weight") names its last part in, and that
// part. Modules on the way are made. Nothing for a path of more than
// kMaxPathDepth parts.
std::optional<std::pair<nn::Module*, std::string>> parent_of(
    nn::Module& root, const std::string& path);

// `name` where it is a path of identifiers and numbers; otherwise one near to
// it: characters that may not stand in one become '_'.
std::string path_of_identifiers(std::string_view name);
// The same as one identifier, which may begin with a digit.
std::string identifier_of(std::string_view name);

}  // namespace fxjit::import
