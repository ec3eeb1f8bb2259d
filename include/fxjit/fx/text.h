// The text form of graphs, for tests and dumps. Unlike torch's printed form it
// parses back: parse_graph(text(g)) has the same nodes, names, targets,
// arguments, types and inferred values.
//
//   graph {
//     %x = placeholder[x] -> float32[2, 3]
//     %w : 'Tensor' = get_attr[layer.weight]
//     %add = call_function[_operator.add](%x, %w, alpha=2) -> float32[2, 3]
//     %view = call_method[transpose](%add, 0, 1) -> float32[3, 2]{1, 3}
//     %output = output[output]((%add, [%view, None]))
//   }
//
// Values are written as in Python; a tensor after "->" is its dtype, sizes and,
// where it is not contiguous, its strides in braces and "+" its offset. Text
// that is no plain path or name is quoted. Comments run from "#" to the end of
// a line. With meta, a node ends with its source line, the number of its module
// stack, and its own entries:
//
//     $0 = ('L__0', 'layers.0', 'Block')
//     %neg = call_method[neg](%x) @ 'model.cpp' 12 in $0 with {'tag': 1}
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

struct TextOptions {
  bool meta = false;  // Source lines, module stacks and Node::meta as well.
};

// UserError naming the node when an argument has no text: a tensor (graphs keep
// those as attributes) or an opaque object; with `meta`, an entry of it too.
std::string text(const Graph& graph, const TextOptions& options = {});

// ValueError with line and column for malformed text, unknown functions, names
// used before their definition and names defined twice.
std::unique_ptr<Graph> parse_graph(std::string_view text);

}  // namespace fxjit::fx
