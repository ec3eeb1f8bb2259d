// `minilm bench`: the encoder by the interpreter, compiled without fusion and
// compiled with it, on three input sizes.
#pragma once

#include <filesystem>

#include "examples/minilm/embedder.h"

namespace minilm {

struct BenchOptions {
  bool json = false;
  bool profile = false;      // Time per step of the fused program.
  double seconds = 0.5;      // Of measurement per row.
};

// Prints the table to standard output.
void run_bench(const std::filesystem::path& folder,
               const EmbedderOptions& options, const BenchOptions& bench);

}  // namespace minilm
