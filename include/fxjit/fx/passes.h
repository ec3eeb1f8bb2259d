// fxjit::fx::passes: analyses and transformations of graphs, torch.fx.passes.
#pragma once

#include "fxjit/fx/passes/const_fold.h"
#include "fxjit/fx/passes/cse_pass.h"
#include "fxjit/fx/passes/fuser_utils.h"
#include "fxjit/fx/passes/graph_drawer.h"
#include "fxjit/fx/passes/net_minimizer.h"
#include "fxjit/fx/passes/operator_support.h"
#include "fxjit/fx/passes/optimization.h"
#include "fxjit/fx/passes/partitioner.h"
#include "fxjit/fx/passes/pass_manager.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/passes/split_module.h"
#include "fxjit/fx/passes/subgraph_matcher.h"
