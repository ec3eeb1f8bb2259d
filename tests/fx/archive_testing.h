// Files and models of the archive tests.
#pragma once

#include <filesystem>
#include <string>

#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx::testing_archive {

// A folder of this process that goes away with it.
std::filesystem::path folder();
// Saves and loads through a file of that folder. Fails the current test where
// what was loaded is written as other bytes.
nn::Ref<GraphModule> round_trip(const GraphModule& module);
// Everything that can be seen of a module: tree, code, graphs with meta.
std::string all_text(const GraphModule& module);

std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace fxjit::fx::testing_archive
