// The commands of `fxjit`. Each prints to standard output and throws
// fxjit::Error for what is wrong with the model, the inputs or a file.
#pragma once

#include <optional>
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
  bool share = false;      // Print how many steps are native.
};
void run(const RunOptions& options);

struct InspectOptions {
  std::string model, weights;
  InputOptions inputs;
  bool compile = false;  // Show what was fused, for the given or example sizes.
  bool graph = false, dot = false, json = false;
  bool ir = false;  // Print the generated code of a call instead.
  // Files to write, of the compiled and measured model; empty: none.
  std::string html, trace, compiled_graph;
  // "unfused", "threads=N", another model or an earlier page.
  std::string compare;
  int threads = 1;
  std::vector<std::string> disabled;

  bool writes_files() const {
    return !html.empty() || !trace.empty() || !compiled_graph.empty();
  }
};
void inspect(const InspectOptions& options);
// Its part that measures the model and writes files.
void write_inspection(const InspectOptions& options);

struct BenchOptions {
  std::string model, weights;
  InputOptions inputs;
  int threads = 1;
  int rounds = 5;
  double seconds = 1;  // For each contestant, all rounds together.
  std::vector<std::string> disabled;
  std::vector<std::string> against;  // Among peer_names().
  std::string onnx;                  // What peers read that read ONNX.
  std::string python = "python3";    // Runs the peers.
  double peer_timeout = 300;         // Seconds until an answer.
  std::optional<double> tolerance;   // How far results may differ; none: by
                                     // their types.
  bool steps = false;  // Print the steps of both compiled programs.
  bool json = false;
  std::string chart;  // An SVG file to write.
};
// UserError at the end, the table printed, where somebody could not be measured
// or gave another answer.
void bench(const BenchOptions& options);
// Runtimes that `bench` knows.
std::vector<std::string> peer_names();

struct CheckOptions {
  std::string model, weights;
  InputOptions inputs;
  std::string against = "interpreter";  // Among reference_names().
  std::optional<double> tolerance;      // None: by runs in double precision.
  std::string output;           // A folder for what was found; empty: none.
  std::string format = "fx";    // Among reduced_formats().
  int threads = 0;
  std::vector<std::string> disabled;
  std::string python = "python3";  // Runs other runtimes.
  double peer_timeout = 300;       // Seconds until they answer.
};
// Whether all agree.
bool check(const CheckOptions& options);
std::vector<std::string> reference_names();
std::vector<std::string> reduced_formats();

}  // namespace fxjit::command
