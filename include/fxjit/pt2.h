// PyTorch programs, exported once in Python and saved by torch.export.save, as
// modules of this library:
//
//   pt2::Program program = pt2::load("model.pt2");
//   program.module->compile();
//   Value y = program(x);
//
// Schema 8 with plain tensors is read, as torch 2.13 writes it. Weights stay in
// the mapped file. docs/pt2.md says what of torch.export is supported.
#pragma once

#include <string>

#include "fxjit/error.h"
#include "fxjit/imported.h"

namespace fxjit::pt2 {

using imported::Input;
using imported::Output;
using imported::Program;
using imported::Size;

struct LoadOptions {
  // A .safetensors file with tensors to use in place of the program's own, by
  // name; empty: none. The program's file then needs none for those. Sizes and
  // dtypes must be those of the program.
  std::string weights;
};

// A program calls functions outside the op table; the message names all.
class MissingFunctions : public UserError {
 public:
  using UserError::UserError;
};

// UserError naming file, entry and field: no such file, no archive, another
// layout or version ("export again"), damage, functions outside the op table
// (MissingFunctions), control flow, pickled tensors. A newer minor version of the
// schema and conditions that cannot be checked are logged as warnings.
// Nothing but what a program writes (buffers with state) is copied.
// Thread-safe; programs of one file share its mapping.
Program load(const std::string& path, const LoadOptions& options = {});

}  // namespace fxjit::pt2
