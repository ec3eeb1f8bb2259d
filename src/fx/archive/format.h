// What both sides of the file format of graph modules agree on.
#pragma once

#include <string>

#include "fxjit/safetensors.h"

namespace fxjit::fx::archive {

// Entries of the file's metadata.
inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kVersionKey = "format_version";
inline constexpr const char* kChecksumKey = "checksum";
inline constexpr const char* kFormat = "fxjit.GraphModule";
// The tensor of bytes that holds the description.
inline constexpr const char* kDescription = "__graph_module__";

// Types that are no rows of the table of module types.
inline constexpr const char* kGraphModule = "GraphModule";
inline constexpr const char* kModule = "Module";

// A checksum of all names, shapes and numbers, whatever their order.
std::string checksum(const NamedTensors& tensors);

// The version of a file. UserError unless the metadata are those of a file of
// this format and, where asked, the checksum is that of the tensors.
int check_metadata(const FileMetadata& metadata, const NamedTensors& tensors,
                   bool verify);

}  // namespace fxjit::fx::archive
