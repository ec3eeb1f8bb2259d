// Programs that come from files of other frameworks, once they are loaded: a
// module of this library, and what the file says of its inputs and results.
// fxjit/pt2.h and fxjit/onnx.h load them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/carried_type.h"
#include "fxjit/dtype.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/value.h"

namespace fxjit::imported {
struct Program;
}

namespace fxjit::import {
class InputChecks;
void set_checks(imported::Program& program,
                std::shared_ptr<const InputChecks> checks);
}

namespace fxjit::imported {

// One dim of an input: a number, or a symbol and the range that the file gives
// it. Dims of one symbol must be equal; a text with operators ("2*s0") is
// computed from symbols of other dims.
struct Size {
  std::string text;              // "3", "s0", "2*s0".
  std::optional<int64_t> fixed;  // Where it is a number.
  std::optional<int64_t> least, most;
  std::optional<int64_t> example;  // In the call that was exported.
};

// One leaf of the arguments of an imported program.
struct Input {
  // `constant`: a value that the exporter compiled into the program, which a
  // caller may leave out and may not change. `sequence`: a list of tensors.
  enum class Kind { tensor, number, constant, sequence };

  std::string name;  // The graph's placeholder: "d_b".
  std::string path;  // Where the caller has it: "d['b']".
  Kind kind = Kind::tensor;
  DType dtype = DType::f32;  // A tensor's, or that of a sequence's tensors.
  // The type that the file declares, where `dtype` carries its numbers.
  CarriedType carried = CarriedType::none;
  std::vector<Size> sizes;   // A tensor's.
  bool any_rank = false;     // The file tells no sizes of the tensor.
  // Where the file declares a tensor of strings, which the library has not: the
  // tensor holds places in this list, -1 for texts that are not there.
  std::vector<std::string> texts = {};
  Value constant;            // The constant, if it is one.

  // "d['b']: float32[s0, 3]"
  std::string str() const;
  std::string_view type_name() const;  // "float32"; as the file declares it.
};

// One leaf of the result of an imported program.
struct Output {
  std::string name;  // Unique, of letters, digits and '_': "z_0".
  std::string path;  // "['z'][0]"; empty where the program returns one value.
  // Nothing where it is no tensor. Sizes are in terms of the inputs' symbols;
  // they have no ranges, and a text of its own for what is only known by
  // computing ("u0").
  std::optional<DType> dtype;
  std::vector<Size> sizes;
  CarriedType carried = CarriedType::none;  // As in Input; also of sequences.
  // Where the file declares a tensor of strings, which the library has not: the
  // tensor holds places in this list.
  std::vector<std::string> texts = {};
  // Where the file declares a list of maps to numbers: the labels, integers or
  // texts, of the columns of the tensor, a row of which is a map.
  ValueList columns = {};
};

// A loaded program. Calls take what the exported function took and give what it
// gave, containers included (named tuples come as tuples, other classes as
// dicts of their fields). Calls may run in several threads, except those of
// programs that write their buffers.
struct Program {
  // The graph, its parameters and buffers by their names in the file. Its own
  // call checks nothing: use the program's.
  nn::Ref<fx::GraphModule> module;
  std::vector<Input> inputs;    // The leaves of the arguments, in order.
  std::vector<Output> outputs;  // The leaves of the result, in order.
  // What the file says of itself: producer, version, ...
  std::vector<std::pair<std::string, std::string>> facts;

  // Throws where the exported program would not be right for these arguments:
  // TypeError for missing or unknown ones, for containers and kinds of values
  // other than the exported, RuntimeError for dtypes, ranks and sizes, and for
  // conditions that the exporter relied on ("2*x.size()[0] < 7"). Messages name
  // the input, what was expected and what came.
  void check(const ValueList& args, const Kwargs& kwargs = {}) const;
  // Checks, and gives the arguments as the module's own call takes them, such
  // as call_into().
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
  friend void import::set_checks(Program& program,
                                 std::shared_ptr<const import::InputChecks>);
  std::shared_ptr<const import::InputChecks> checks_;
};

}  // namespace fxjit::imported
