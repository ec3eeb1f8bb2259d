// Members of a module by the dotted names that files give to parameters and
// buffers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fxjit/nn/module.h"

namespace fxjit::import {

inline constexpr int kMaxPathDepth = 200;

// The module that owns the last part of `path` ("layers.0.weight"), and that
// part. Modules on the way are made. None for a path of more than kMaxPathDepth
// parts.
std::optional<std::pair<nn::Module*, std::string>> parent_of(
    nn::Module& root, const std::string& path);

// `name` if it is a path of identifiers and numbers. Otherwise a similar path,
// in which '_' takes the place of other characters.
std::string path_of_identifiers(std::string_view name);
// The same as one identifier, which may begin with a digit.
std::string identifier_of(std::string_view name);

}  // namespace fxjit::import
