// The table of ops. A fact about an op lives in its row: names, schema, shape
// rule, eager function, how it lowers, purity. Rows are constant structs, one
// file per family (src/ops/families/), joined by one explicit list; users add
// rows by `register_ops`. Printer, eager dispatch, fusion, code generation and
// tests derive from the rows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/op_facts.h"
#include "fxjit/scalar_body.h"
#include "fxjit/value.h"

namespace fxjit::ops {

struct Op;
struct Overload;

// A call in canonical form: one Value per schema parameter, defaults filled in.
// Tensors are meta tensors in shape rules, real ones in kernels, and graph
// proxies in decompositions.
struct OpCall {
  const Op& op;
  std::span<const Value> args;
  SourceLocation source{};
  std::string_view node{};  // Name of the graph node, when there is one.

  const Value& operator[](size_t i) const { return args[i]; }
  // Typed access; errors name op, parameter, expected and got.
  const Tensor& tensor(size_t i) const;
  int64_t integer(size_t i) const;
  // As integer(), without specialising a named size.
  Size size(size_t i) const;
  double number(size_t i) const;
  bool flag(size_t i) const;
  Dims dims(size_t i) const;
  bool has(size_t i) const { return !args[i].is_none(); }
  // UserError with op, node and source filled in.
  [[noreturn]] void fail(const std::string& message) const;
};

// Result shape, dtype and strides: meta tensors in, meta tensor (or list of
// them, or plain value) out. Views return strides and offset relative to the
// input's storage; other results are contiguous here, and the table puts them
// in the order of memory that torch gives them.
using InferFn = Value (*)(const OpCall&);
// Computes the result on real tensors.
using EagerFn = Value (*)(const OpCall&);
// As EagerFn, into memory: real tensors of the inferred shapes, not yet written
// and apart from the arguments. A loop that generated code would not beat.
using DirectFn = void (*)(const OpCall&, std::span<const Tensor> results);
// One output element from one element of each tensor argument. `inputs` has a
// handle per tensor argument in order of appearance, already cast to the
// compute type that `scalar_types` of the row chose.
using ScalarFn = Scalar (*)(ScalarBuilder&, const OpCall&,
                            std::span<const Scalar> inputs);
// Rewrites the call through other ops; arguments may be proxies, so it is
// written with the free functions of fxjit/functions.h.
using DecomposeFn = Value (*)(const OpCall&);

// How types of a scalar op are chosen.
enum class ScalarTypes : uint8_t {
  promote,        // Inputs promoted together (with scalars), result likewise.
  promote_float,  // As promote, but integers become f32 (sin, exp, div).
  compare,        // Inputs promoted, result boolean.
  logical,        // Inputs to boolean, result boolean.
  bitwise,        // As promote; floats refused.
  custom,         // The infer function says; inputs arrive as they are.
};

enum class Lowering : uint8_t {
  none,         // Eager function only: the step calls back into it.
  scalar,       // `scalar` body, broadcast over the inputs.
  reduce,       // Reduction `reduce_prim` over dims (args "dim", "keepdim").
  view,         // Shape, strides and offset of the input's storage: no code.
  reshape,      // A view when strides allow, otherwise a copy.
  contraction,  // linear, matmul, bmm, addmm: see passes.
  attention,    // scaled_dot_product_attention.
  gather,       // embedding, index_select: rows picked by an index tensor.
  cat,          // Concatenation: copies into slices of the result.
  convolution,  // Convolutions and their transposes.
  pool,         // Max and average pooling.
  decompose,    // `decompose` rewrites it.
  inlined,      // As decompose, before any pattern is looked for.
};

enum class Purity : uint8_t {
  pure,
  random,   // Never merged, never folded.
  mutates,  // Writes its first argument; never removed.
  effect,   // Raises or prints; never removed.
};

struct OpRow {
  const char* name;  // Canonical name, ATen's base name.
  // Parameters, torch's names and defaults: "input, other, *, alpha=1".
  // Defaults: None, True, False, numbers, 'text', (), (1, 1). "*size" collects
  // the remaining positional arguments into a tuple, or takes one sequence.
  const char* schema;
  // Names separated by blanks: "torch.add", "_operator.add", ".add" (Tensor
  // method), "F.gelu" (torch.nn.functional), "nn.GELU"; may be empty. Overloads
  // of ATen, which bind by schemas of their own, stand in
  // src/ops/aten/overloads.inc instead. A name may end in "!" : recorded the
  // way torch's Python-level functions record, every parameter by keyword after
  // the first (see `Spelling::python_level`). "=F.gelu" behind
  // "torch._C._nn.gelu" says that torch exports that function under this name
  // too: calls by either name are recorded as the former. torch.linalg.X and
  // torch.special.X are found by "torch._C._linalg.linalg_X" and
  // "torch._C._special.special_X", the names that torch records, without a word
  // here.
  const char* names;
  Lowering lowering = Lowering::none;
  InferFn infer = nullptr;  // Null: broadcast of tensor args by scalar_types.
  EagerFn eager = nullptr;  // Null: from the scalar body, reduction, view, or
                            // by running the decomposition.
  ScalarFn scalar = nullptr;
  ScalarTypes scalar_types = ScalarTypes::promote;
  Prim reduce_prim = Prim::reduce_sum;
  DecomposeFn decompose = nullptr;
  Purity purity = Purity::pure;
  // In place of `eager`, where compiled programs call it as well.
  DirectFn direct = nullptr;
  OpFacts facts = {};

  // The same row with these facts.
  constexpr OpRow stating(const OpFacts& stated) const {
    OpRow row = *this;
    row.facts = stated;
    return row;
  }
};

struct Parameter {
  std::string name;
  bool keyword_only = false;
  bool variadic = false;  // "*size": always bound to a list or tuple.
  bool has_default = false;
  Value default_value;
};

// One name under which torch records an op.
struct Spelling {
  std::string name;  // As printed by torch.fx: "torch.add", "_operator.add".
  const Op* op = nullptr;
  bool method = false;        // Tensor method; target is the bare name.
  bool python_level = false;  // Recorded with all keywords spelled out.
  // "torch.ops.aten.add.Tensor": calls bind by torch's schema of the overload,
  // not by the op's own. Null for other spellings.
  const Overload* overload = nullptr;
};

// A row made ready for use. Address is the op's identity; never destroyed.
struct Op {
  OpRow row;
  std::vector<Parameter> parameters;
  // The op under its canonical name: what normalised graphs call.
  Spelling canonical;
  std::string_view name() const { return row.name; }
  int index_of(std::string_view parameter) const;  // -1 when absent.
};

// Look-ups in the table; null when absent. Thread-safe.
const Op* find_op(std::string_view canonical_name);
const Spelling* find_function(std::string_view printed_name);
const Spelling* find_method(std::string_view method_name);
// As above, InternalError when absent.
const Op& get_op(std::string_view canonical_name);
const Spelling& get_function(std::string_view printed_name);

// Every op, in table order.
std::vector<const Op*> all_ops();

// Adds rows from outside the library, all or none. Strings and functions must
// live for the rest of the process. UserError for a name that is taken and a
// row that lacks what its lowering needs, naming the field. Thread-safe.
void register_ops(std::span<const OpRow> rows);

// Binds arguments as Python would and fills in defaults; TypeError with
// Python's wording on surplus, missing or unknown arguments.
std::vector<Value> bind(const Op& op, std::span<const Value> args,
                        const Kwargs& kwargs, SourceLocation source = {});

// Binds a call by this spelling; the result is always one Value per parameter
// of spelling.op. Throws also NotImplementedError, for arguments of an ATen
// overload that nothing serves.
std::vector<Value> bind(const Spelling& spelling, std::span<const Value> args,
                        const Kwargs& kwargs, SourceLocation source = {});

// The parameters that calls by this spelling declare.
const std::vector<Parameter>& parameters_of(const Spelling& spelling);

// As bind(), with one Value per parameter of parameters_of(spelling).
std::vector<Value> bind_declared(const Spelling& spelling,
                                 std::span<const Value> args,
                                 const Kwargs& kwargs,
                                 SourceLocation source = {});

// Whether the call writes its first argument: a row that mutates, or a
// parameter "inplace" that is True.
bool writes_input(const OpCall& call);

// Whether the call writes running statistics among its arguments: batch norm in
// training.
bool writes_statistics(const OpCall& call);

// Shape rule, eager function. `args` are bound. Errors name op and source.
Value infer(const OpCall& call);
Value run_eager(const OpCall& call);

// The scalar body of an elementwise call given argument dtypes (tensors in
// `call` may be meta). Inputs of the body are the tensor arguments in order.
// Result cast to the inferred dtype's compute type.
ScalarBody scalar_body(const OpCall& call);

// Records or runs a call by spelling: if any argument holds a proxy (nested
// too) its tracer records it, otherwise it runs eagerly.
Value call_function(const Spelling& function, ValueList args,
                    Kwargs kwargs = {}, SourceLocation source = {});
Value call_method(std::string_view method, ValueList args, Kwargs kwargs = {},
                  SourceLocation source = {});

}  // namespace fxjit::ops
