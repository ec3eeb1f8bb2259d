// fxjit: torch.fx for C++, compiled. This is the header to read first. It is
// the core that every program needs: values, tensors, graphs, modules,
// compiling and errors. All else is opt-in, by the headers named below.
//
// The life of a model:
//
//   1. Values (value.h, tensor.h) flow through user code. A Value is a number,
//      a string, a list, a tensor ... or a proxy. Operators and torch's
//      functions on Values are in functions.h, those that draw numbers in
//      functions_random.h: on tensors they run at once, on proxies they are
//      recorded. The table of ops is in op.h; users add rows.
//   2. Modules (nn/module.h) hold parameters and have a forward method. Models
//      derive from nn/custom.h; nn.h has all layers, nn/linear.h and so on
//      some.
//   3. Tracing a module (fx/symbolic_trace.h) gives a GraphModule: a graph of
//      torch.fx's six opcodes over the module's state, which can be printed,
//      edited and run by the interpreter (fx/interpreter.h). fx.h has all of
//      torch.fx but its passes, which are in fx/passes.h.
//   4. Compiling a GraphModule (compile.h) fuses the graph, emits machine code
//      and installs it as the module's forward. The graph and its code stay as
//      they were. report.h and inspection.h say what became of it, check.h why
//      a number is wrong.
//
// Models of other frameworks come by pt2.h and onnx.h, weights by safetensors.h
// and torch_state.h.
//
// Errors are typed exceptions (error.h) that name the op, the node and the line
// of user code. The library prints nothing: messages go to a callback (log.h).
#pragma once

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/fx/graph.h"
#include "fxjit/nn/module.h"
#include "fxjit/tensor.h"
#include "fxjit/value.h"
