// A model compiled in one way and measured: what the page, the trace and the
// written graphs are made from.
#pragma once

#include <string>
#include <vector>

#include "fxjit/inspection.h"
#include "tools/fxjit/model.h"

namespace fxjit::command {

struct RunSetting {
  int threads = 1;  // 0: all CPUs.
  std::vector<std::string> disabled;
  bool unfused = false;
};

struct MeasuredRun {
  std::string title;  // "fused, 1 thread"
  Inspection inspection;
  std::vector<std::string> output_names;
};

// Compiles the model, calls it, measures. Inputs are copied: calls may write
// them. UserError when they do not fit, or stay with the interpreter.
MeasuredRun measure_run(const Model& model, const ValueList& inputs,
                        const RunSetting& setting);

// The passes that `fxjit bench` calls unfused without.
const std::vector<std::string>& fusing_passes();

}  // namespace fxjit::command
