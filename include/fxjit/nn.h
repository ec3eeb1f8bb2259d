// fxjit::nn: modules and layers, with torch.nn's names and meaning.
#pragma once

#include "fxjit/nn/activation.h"
#include "fxjit/nn/attention.h"
#include "fxjit/nn/containers.h"
#include "fxjit/nn/convolution.h"
#include "fxjit/nn/custom.h"
#include "fxjit/nn/init.h"
#include "fxjit/nn/linear.h"
#include "fxjit/nn/module.h"
#include "fxjit/nn/module_types.h"
#include "fxjit/nn/normalization.h"
#include "fxjit/nn/padding.h"
#include "fxjit/nn/pooling.h"
#include "fxjit/nn/recurrent.h"
#include "fxjit/nn/shaping.h"
