// Small models of kinds that users bring: windows of attention, rotated
// positions, bucketed distances, experts, interactions of features, channels
// squeezed and excited. Written as their authors write them in Python (see
// make_model_reference.py, which has the same ones).
#pragma once

#include "fxjit/nn.h"

namespace fxjit::testing {

// Two blocks of window attention, the second on shifted windows, over [1, 64,
// 8] tokens of an 8 x 8 image, and a merge of 2 x 2 tokens.
nn::ModuleRef make_windows();
// A decoder layer on ids [2, 6]: RMS norms written out, rotated queries and
// keys, two heads per key, a gated product; tied weights at both ends.
nn::ModuleRef make_rotary();
// Self-attention on ids [2, 9] with a bias by bucketed distance and a mask [2,
// 9].
nn::ModuleRef make_buckets();
// Rows [7, 8] through the two best of four experts; gives their places as well.
nn::ModuleRef make_experts();
// Numbers [5, 3] and ids [5, 4, 3] of four tables: products of all pairs.
nn::ModuleRef make_interactions();
// An inverted residual of images [2, 4, 9, 9], squeezed and excited.
nn::ModuleRef make_squeezed();

}  // namespace fxjit::testing
