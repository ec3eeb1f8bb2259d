// What `fxjit bench` prints and draws.
#pragma once

#include <string>
#include <vector>

#include "tools/fxjit/contestants.h"

namespace fxjit::command {

struct Measured {
  std::string model;
  int threads = 1;
  int rounds = 0;
  std::vector<Row> rows;  // The fused one is called "fused".

  const Row* fused() const;
};

void print_table(const Measured& measured);
void print_json(const Measured& measured);
// Bars of median times, in SVG. UserError where the file cannot be written.
void write_chart(const Measured& measured, const std::string& path);

}  // namespace fxjit::command
