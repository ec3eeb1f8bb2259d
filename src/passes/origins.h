// Which nodes of the captured graph a node on its way through the compiler
// stands for. A call that takes the place of several has the names of all of
// them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fxjit/fx/node.h"
#include "src/passes/lowering/image_way_text.h"

namespace fxjit::passes {

// The names of those nodes, in the order in which they were computed; empty if
// none is known.
std::vector<std::string> origins_of(const fx::Node& node);

// For people, of a Node: its op and the line of the user's that made the call,
// or its name.
std::string line_of(const void* node);

// `node` does from now on what `replaced` did.
void take_origins(fx::Node& node, std::span<const fx::NodePtr> replaced);

// The calls that `last` needs beside `inputs` and what those need, `last` at
// the end.
std::vector<fx::NodePtr> calls_between(std::span<const fx::NodePtr> inputs,
                                       fx::NodePtr last);

// States that `copy`, made by the builder, stands for what `node` stands for.
void copy_origins(const fx::Node& node, fx::Node& copy);

// How the convolution or pooling of which `node` is a part is computed; none
// for other nodes.
void set_way(fx::Node& node, ImageWay way);
ImageWay way_of(const fx::Node& node);

}  // namespace fxjit::passes
