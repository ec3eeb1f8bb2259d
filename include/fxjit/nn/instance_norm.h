// Instance norms: each channel of each image by its own statistics.
#pragma once

#include "fxjit/nn/normalization.h"
