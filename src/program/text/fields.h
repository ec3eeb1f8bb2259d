// The fields of a program's parts beside those of its steps; see
// src/program/steps/fields.h.
#pragma once

#include "src/program/steps/program.h"

namespace fxjit::program {

template <typename V>
void fields(Is<TensorSpec> auto& s, V& v) {
  v("dtype", s.dtype), v("sizes", s.sizes), v("strides", s.strides);
}
template <typename V>
void fields(Is<OperandRef> auto& s, V& v) {
  v("buffer", s.buffer), v("byte_offset", s.byte_offset);
}
template <typename V>
void fields(Is<Step> auto& s, V& v) {
  v("body", s.body), v("operands", s.operands), v("label", s.label);
  v("nodes", s.nodes), v("apart", s.apart), v("way", s.way);
}
template <typename V>
void fields(Is<Buffer> auto& s, V& v) {
  v("home", s.home), v("bytes", s.bytes), v("offset", s.offset);
  v("index", s.index);
}
template <typename V>
void fields(Is<Constant> auto& s, V& v) {
  v("source", s.source), v("spec", s.spec), v("offset", s.offset);
}
template <typename V>
void fields(Is<weights::PackPiece> auto& s, V& v) {
  v("constant", s.constant), v("view", s.view), v("offset", s.offset);
}
template <typename V>
void fields(Is<weights::StoredCodes> auto& s, V& v) {
  v("block", s.block), v("bits", s.bits), v("by_column", s.by_column);
}
template <typename V>
void fields(Is<weights::WindowLayout> auto& s, V& v) {
  v("used", s.used), v("lanes", s.lanes);
}
template <typename V>
void fields(Is<weights::PackSpec> auto& s, V& v) {
  v("pieces", s.pieces), v("batched", s.batched);
  v("winograd_tile", s.winograd_tile), v("windows", s.windows);
  v("formats", s.formats);
  v("depth", s.depth), v("columns", s.columns), v("codes", s.codes);
}
template <typename V>
void fields(Is<Machine> auto& s, V& v) {
  v("level", s.level), v("cache_bytes", s.cache_bytes);
  v("threads", s.threads), v("halves", s.halves);
  v("fast_products", s.fast_products), v("dot_products", s.dot_products);
  v("tile_products", s.tile_products);
}
template <typename V>
void fields(Is<passes::FastHalves> auto& s, V& v) {
  v("f16", s.f16), v("bf16", s.bf16);
}
template <typename V>
void fields(Is<Program::Output> auto& s, V& v) {
  v("spec", s.spec), v("buffer", s.buffer), v("byte_offset", s.byte_offset);
  v("copy", s.copy);
}
template <typename V>
void fields(Is<Program> auto& s, V& v) {
  v("machine", s.machine), v("buffers", s.buffers), v("steps", s.steps);
  v("constants", s.constants), v("packed", s.packed), v("inputs", s.inputs);
  v("outputs", s.outputs), v("result", s.result), v("written", s.written);
  v("kept", s.kept), v("arena_bytes", s.arena_bytes), v("bodies", s.bodies);
}

}  // namespace fxjit::program
