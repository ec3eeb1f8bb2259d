// The fields of a program's parts, each named once: what writes programs and
// what reads them walk the same list. A field that is missing here is lost on
// the way, which the comparison after reading shows.
#pragma once

#include <concepts>
#include <type_traits>

#include "src/program/steps/program.h"

namespace fxjit::program::text {

// S is T or const T: the same list serves writing and reading.
template <typename S, typename T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

template <typename V>
void fields(Is<ScalarInstr> auto& s, V& v) {
  v("prim", s.prim), v("type", s.type), v("slot", s.slot), v("args", s.args);
  v("imm", s.imm), v("bits", s.bits);
}
template <typename V>
void fields(Is<ScalarBody> auto& s, V& v) {
  v("instrs", s.instrs), v("results", s.results);
}
template <typename V>
void fields(Is<Access> auto& s, V& v) {
  v("dtype", s.dtype), v("outer", s.outer), v("reduce", s.reduce);
  v("inner", s.inner), v("gather_slot", s.gather_slot);
  v("gather_stride", s.gather_stride), v("gather_limit", s.gather_limit);
}
template <typename V>
void fields(Is<RowStep> auto& s, V& v) {
  v("outer", s.outer), v("inner", s.inner), v("inputs", s.inputs);
  v("outputs", s.outputs), v("body", s.body), v("strict", s.strict);
}
template <typename V>
void fields(Is<ColumnStep> auto& s, V& v) {
  v("outer", s.outer), v("reduce", s.reduce), v("inner", s.inner);
  v("inputs", s.inputs), v("outputs", s.outputs), v("body", s.body);
}
template <typename V>
void fields(Is<TileAccess> auto& s, V& v) {
  v("dtype", s.dtype), v("batch", s.batch), v("row", s.row);
  v("column", s.column);
}
template <typename V>
void fields(Is<TileStep> auto& s, V& v) {
  v("batch", s.batch), v("rows", s.rows), v("columns", s.columns);
  v("depth", s.depth), v("lhs_batch", s.lhs_batch), v("lhs_row", s.lhs_row);
  v("rhs_batched", s.rhs_batched), v("strict", s.strict);
  v("weights", s.weights), v("lhs", s.lhs), v("sums", s.sums);
  v("extras", s.extras), v("outputs", s.outputs), v("epilogue", s.epilogue);
}
template <typename V>
void fields(Is<HeadAccess> auto& s, V& v) {
  v("batch", s.batch), v("head", s.head), v("row", s.row), v("outer", s.outer);
}
template <typename V>
void fields(Is<AttentionMask> auto& s, V& v) {
  v("kind", s.kind), v("access", s.access), v("key_stride", s.key_stride);
  v("value", s.value);
}
template <typename V>
void fields(Is<AttentionStep> auto& s, V& v) {
  v("outer", s.outer), v("batch", s.batch), v("heads", s.heads);
  v("queries", s.queries), v("keys", s.keys), v("depth", s.depth);
  v("value_depth", s.value_depth), v("q", s.q), v("k", s.k), v("v", s.v);
  v("out", s.out), v("masks", s.masks), v("causal", s.causal);
  v("zero_rows", s.zero_rows), v("scale", s.scale);
}
template <typename V>
void fields(Is<WinogradStep> auto& s, V& v) {
  v("batch", s.batch), v("height", s.height), v("width", s.width);
  v("channels", s.channels), v("out_height", s.out_height);
  v("out_width", s.out_width), v("features", s.features);
  v("pad_top", s.pad_top), v("pad_left", s.pad_left);
  v("input_batch", s.input_batch), v("input_row", s.input_row);
  v("input_column", s.input_column), v("tile", s.tile);
  v("extras", s.extras), v("outputs", s.outputs), v("epilogue", s.epilogue);
}
template <typename V>
void fields(Is<TensorSpec> auto& s, V& v) {
  v("dtype", s.dtype), v("sizes", s.sizes), v("strides", s.strides);
}
template <typename V>
void fields(Is<CallSpec> auto& s, V& v) {
  v("routine", s.routine), v("op", s.op), v("args", s.args);
  v("results", s.results);
}
template <typename V>
void fields(Is<LibraryProduct> auto& s, V& v) {
  v("tile", s.tile);
}
template <typename V>
void fields(Is<RunTimePack> auto& s, V& v) {
  v("batch", s.batch), v("batch_stride", s.batch_stride), v("depth", s.depth);
  v("columns", s.columns), v("depth_stride", s.depth_stride);
  v("column_stride", s.column_stride);
}
template <typename V>
void fields(Is<UpdateSpec> auto& s, V& v) {
  v("call", s.call), v("overwritten", s.overwritten);
}
template <typename V>
void fields(Is<WriteBack> auto& s, V& v) {
  v("value", s.value), v("input", s.input);
}
template <typename V>
void fields(Is<ControlCall::Body> auto& s, V& v) {
  v("name", s.name), v("program", s.program), v("arguments", s.arguments);
  v("fails", s.fails);
}
template <typename V>
void fields(Is<ControlCall> auto& s, V& v) {
  v("kind", s.kind), v("bodies", s.bodies), v("pred", s.pred);
  v("carried", s.carried), v("xs", s.xs), v("operands", s.operands);
  v("results", s.results);
}
template <typename V>
void fields(Is<ExternStep> auto& s, V& v) {
  v("what", s.what), v("flops", s.flops), v("bytes", s.bytes);
  v("results", s.results);
}
template <typename V>
void fields(Is<OperandRef> auto& s, V& v) {
  v("buffer", s.buffer), v("byte_offset", s.byte_offset);
}
template <typename V>
void fields(Is<Step> auto& s, V& v) {
  v("body", s.body), v("operands", s.operands), v("label", s.label);
  v("nodes", s.nodes), v("apart", s.apart);
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
void fields(Is<weights::PackSpec> auto& s, V& v) {
  v("pieces", s.pieces), v("batched", s.batched);
  v("winograd_tile", s.winograd_tile), v("formats", s.formats);
  v("depth", s.depth), v("columns", s.columns);
}
template <typename V>
void fields(Is<Machine> auto& s, V& v) {
  v("level", s.level), v("cache_bytes", s.cache_bytes);
  v("threads", s.threads), v("halves", s.halves);
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

}  // namespace fxjit::program::text
