// fxjit: torch.fx for C++, compiled. This is the header to read first; it
// includes all of the library's public interface.
//
// The life of a model:
//
//   1. Values (value.h, tensor.h) flow through user code. A Value is a number,
//      a string, a list, a tensor ... or a proxy. Ops are torch's functions on
//      Values (functions.h): on tensors they run at once, on proxies they are
//      recorded. The table of ops is in op.h; users add rows.
//   2. Modules (nn/) hold parameters and have a forward method.
//   3. Tracing a module (fx/) gives a GraphModule: a graph of torch.fx's six
//      opcodes over the module's state, which can be printed, edited and run
//      by the Interpreter.
//   4. Compiling a GraphModule fuses the graph, emits machine code and installs
//      it as the module's forward. The graph and its code stay as they were.
//
// Errors are typed exceptions (error.h) that name the op, the node and the line
// of user code. The library prints nothing: messages go to a callback (log.h).
#pragma once

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "fxjit/functions_random.h"
#include "fxjit/functions_structured.h"
#include "fxjit/fx.h"
#include "fxjit/log.h"
#include "fxjit/nn.h"
#include "fxjit/op.h"
#include "fxjit/random.h"
#include "fxjit/report.h"
#include "fxjit/safetensors.h"
#include "fxjit/tensor.h"
#include "fxjit/torch_state.h"
#include "fxjit/value.h"
#include "fxjit/version.h"
