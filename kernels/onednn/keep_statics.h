// oneDNN is a shared library of its own, whose static objects (its cache of
// primitives, tables of kernels that calls fill) would be destroyed as soon as
// exit() begins, while other threads use them.
#pragma once

namespace fxjit::kernels::onednn {

// Static objects that oneDNN makes from now on are never destroyed, nor are our
// own (exit_order.h). Called before oneDNN is used; what it made when it was
// loaded goes when it is unloaded (see Use).
void keep_statics();

}  // namespace fxjit::kernels::onednn
