// ModelGraph: a graph on its way through the compiler, with the tensors that
// its get_attr nodes name. Passes take one and give one; the captured graph is
// never touched. Every node but the output has its val() set.
//
// A graph is at one of three stages (GraphStage), which verify() checks:
//   normalized  calls are call_function of canonical spellings with all
//               parameters bound by position; composite ops still whole
//   lowered     composite ops decomposed; views are as_strided of a node that
//               owns memory; matrix products are `contract`
//   fused       calls are call_module of `regions`, or as_strided
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/tensor.h"
#include "src/passes/fusing/apart.h"
#include "src/passes/lowering/image_way_text.h"
#include "src/support/memory/shared_value.h"

namespace fxjit::passes {

class FoldedWeights;

enum class GraphStage : uint8_t { normalized, lowered, fused };

// A fused region: a sub-graph whose placeholders are the region's inputs and
// whose output is the tuple of values needed outside.
struct Region {
  enum class Kind : uint8_t {
    rows,         // Elementwise work and reductions over the dims of a row.
    columns,      // Elementwise work and one level of other reductions.
    contraction,  // One matmul or window and elementwise work on its result.
    attention,    // One scaled_dot_product_attention.
    copies,       // cat: one copy per input.
    call,         // One op that no loops compute (convolution, fallback).
  };
  Kind kind = Kind::rows;
  std::unique_ptr<fx::Graph> graph;
  Dims domain;         // Shape that the loops run over.
  int inner_dims = 0;  // rows: dims that form the row, 0 when free.
  int inner_at = -1;   // The first of them where they are not the last dims.
  std::string label;   // Its ops, "matmul+add+gelu".
  // Captured nodes it came from.
  support::SharedValue<std::vector<std::string>> nodes;
  // For each input that another region computes, why it is not computed here.
  std::vector<Apart> apart;
  // How the convolution or pooling among its calls is computed.
  ImageWay way = ImageWay::none;
  // Regions with equal numbers (twins.h) compute the same of their inputs. -1:
  // not known.
  int32_t twin = -1;
  // Whether its calls read named sizes as numbers (fxjit/size.h).
  bool reads_sizes = false;
  // What the planner found out about the region that does not depend on sizes:
  // a graph of named sizes is planned many times, by one thread at a time.
  struct Found {
    virtual ~Found() = default;
  };
  mutable std::shared_ptr<const Found> found;
};

// A tensor that follows from named sizes (fxjit/size.h) and constants: what a
// call gives that the passes would compute if the sizes were numbers.
struct MadeConstant {
  // Stands for it among constants: a meta tensor with named sizes.
  Tensor stand_in;
  const ops::Op* op = nullptr;
  ValueList args;  // With constants, or what stands for them.
  Tensor present;  // For the sizes at hand.
};

struct ModelGraph {
  GraphStage stage = GraphStage::normalized;
  std::unique_ptr<fx::Graph> graph;
  std::vector<Tensor> constants;  // get_attr "constant_<i>" names constants[i].
  // How those of them are made that are stand-ins, each after what it is made
  // of. None in a graph of numbers.
  std::vector<MadeConstant> made;
  std::map<std::string, Region, std::less<>> regions;  // call_module targets.
  // Whose memory a tensor of the result is.
  struct Result {
    // Results with equal numbers share memory. Results with other numbers must
    // not, even where their calls were merged. A negative number stands for the
    // memory of an input or of the module's tensors.
    int32_t owner = -1;
    // If defined, the call returns this view of the output's memory, else the
    // output itself.
    Tensor view;
    // If not negative, the result is the view `view` of the input written[k],
    // with k this number, as the call leaves that input.
    int32_t written = -1;
  };
  std::vector<Result> results;  // In order of appearance. Empty: not known.
  // The folded weights of the module; null: passes make them anew for each
  // graph.
  std::shared_ptr<FoldedWeights> folded;
  // Placeholders, by position, whose memory the call gives new values. If there
  // are any, the output is a pair: the result, and the tuple of these values.
  std::vector<int32_t> written;

  const Tensor& constant(const fx::Node& node) const;
  const Region& region(const fx::Node& node) const;
  // The graph's text, then each region's.
  std::string str() const;
};

// Arguments of a call with the values of nodes in place of these, for shape
// rules.
ValueList vals_of(const ValueList& args);
// Where the memory behind a tensor's last element begins, in bytes.
Size end_of(const Tensor& t);

// Throws InternalError naming the first node that does not fit the form.
void verify(const ModelGraph& model);

}  // namespace fxjit::passes
