// The commands of `fxjit`. Each prints to standard output and throws
// fxjit::Error for what is wrong with the model, the inputs or a file.
#pragma once

#include <string>
#include <vector>

#include "tools/fxjit/inputs.h"

namespace fxjit::command {

struct RunOptions {
  std::string model, weights;
  InputOptions inputs;
  std::string output;  // A folder for .npy files; empty: none.
  int threads = 0;
  bool interpret = false;  // Compile nothing.
};
void run(const RunOptions& options);

struct InspectOptions {
  std::string model, weights;
  InputOptions inputs;
  bool compile = false;  // Show what was fused, for the given or example sizes.
  bool graph = false, dot = false, json = false;
};
void inspect(const InspectOptions& options);

struct BenchOptions {
  std::string model, weights;
  InputOptions inputs;
  int threads = 1;
  double seconds = 1;  // For each way of running, together.
  std::vector<std::string> disabled;
  bool steps = false;  // Print the steps of both compiled programs.
  bool json = false;
};
void bench(const BenchOptions& options);

}  // namespace fxjit::command
