// Models whose programs hold every kind of step, for tests of programs as data.
#pragma once

#include "fxjit/fx.h"

namespace fxjit::testing {

// A traced model with inputs that fit.
struct Traced {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

Traced mlp();
Traced transformer();
// Equal layers, among them two with one weight.
Traced layers();
Traced convolutions();
Traced recurrent();
Traced control_flow();
Traced writes();
Traced windows();
Traced planes();
Traced resized();
Traced transformed();
Traced masked();
Traced activations();
Traced one_row();
Traced halves();
Traced columns();
Traced gathers();
Traced integers();

}  // namespace fxjit::testing
