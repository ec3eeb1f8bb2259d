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

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/dtype.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/value.h"

namespace fxjit::import {
class InputChecks;
}

namespace fxjit::pt2 {

// One dim of an input: a number, or a symbol and the range that the exporter
// gave it. Dims of one symbol must be equal; a text with operators ("2*s0") is
// computed from symbols of other dims.
struct Size {
  std::string text;              // "3", "s0", "2*s0".
  std::optional<int64_t> fixed;  // Where it is a number.
  std::optional<int64_t> least, most;
  std::optional<int64_t> example;  // In the call that was exported.
};

struct Input {
  // `constant`: a value that the exporter compiled into the program, which a
  // caller may leave out and may not change.
  enum class Kind { tensor, number, constant };

  std::string name;  // Of the graph's placeholder: "d_b".
  std::string path;  // Where the caller has it: "d['b']".
  Kind kind = Kind::tensor;
  DType dtype = DType::f32;  // Of a tensor.
  std::vector<Size> sizes;   // Of a tensor.
  Value constant;            // Of a constant.

  // "d['b']: float32[s0, 3]"
  std::string str() const;
};

struct Output {
  std::string name;  // Unique, of letters, digits and '_': "z_0".
  std::string path;  // "['z'][0]"; empty where the program returns one value.
  // Nothing where it is no tensor. Sizes are in terms of the inputs' symbols;
  // they have no ranges, and a text of its own for what is only known by
  // computing ("u0").
  std::optional<DType> dtype;
  std::vector<Size> sizes;
};

// An exported program. Calls take what the Python module's forward took and
// give what it gave, containers included (named tuples come as tuples, other
// classes as dicts of their fields). Calls may run in several threads, except
// those of programs that write their buffers.
struct Program {
  // The graph, its parameters and buffers by their names in Python. Its own
  // call checks nothing: use the program's.
  nn::Ref<fx::GraphModule> module;
  std::vector<Input> inputs;    // The leaves of the arguments, in order.
  std::vector<Output> outputs;  // The leaves of the result, in order.

  // Throws where the exported program would not be right for these arguments:
  // TypeError for missing or unknown ones, for containers and kinds of values
  // other than the exported, RuntimeError for dtypes, ranks and sizes, and for
  // conditions that the exporter relied on ("2*x.size()[0] < 7"). Messages name
  // the input, what was expected and what came.
  void check(const ValueList& args, const Kwargs& kwargs = {}) const;
  // Checks, and gives the arguments as the module's own call takes them, such as
  // call_into().
  ValueList bind(const ValueList& args, const Kwargs& kwargs = {}) const;
  // Checks and runs. Arguments that are constants may be left out.
  Value run(const ValueList& args, const Kwargs& kwargs = {}) const;
  template <std::convertible_to<Value>... Args>
  Value operator()(Args&&... args) const {
    return run({Value(std::forward<Args>(args))...});
  }
  // The arguments made of one value for each input.
  std::pair<ValueList, Kwargs> arguments_of(const ValueList& leaves) const;

 private:
  friend struct ProgramAccess;
  std::shared_ptr<const import::InputChecks> checks_;
};

struct LoadOptions {
  // A .safetensors file with tensors to use in place of the program's own, by
  // name; empty: none. The program's file then needs none for those. Sizes and
  // dtypes must be those of the program.
  std::string weights;
};

// UserError naming file, entry and field: no such file, no archive, another
// layout or version ("export again"), damage, functions outside the op table
// (all of them), control flow, pickled tensors. A newer minor version of the
// schema and conditions that cannot be checked are logged as warnings.
// Nothing but what a program writes (buffers with state) is copied.
// Thread-safe; programs of one file share its mapping.
Program load(const std::string& path, const LoadOptions& options = {});

}  // namespace fxjit::pt2
