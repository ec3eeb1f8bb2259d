// fxjit::fx: graphs of torch.fx's six opcodes; how to capture, look at, edit,
// run and rewrite them.
#pragma once

#include "fxjit/fx/archive.h"
#include "fxjit/fx/control_flow.h"
#include "fxjit/fx/cpp_code.h"
#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/math.h"
#include "fxjit/fx/node.h"
#include "fxjit/fx/proxy.h"
#include "fxjit/fx/purity.h"
#include "fxjit/fx/pytree.h"
#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/fx/subgraph_rewriter.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/text.h"
#include "fxjit/fx/traceback.h"
#include "fxjit/fx/tracer.h"
#include "fxjit/fx/transformer.h"
#include "fxjit/fx/wrap.h"
