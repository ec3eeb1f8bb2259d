// Row and column regions to steps.
#include <algorithm>
#include <unordered_set>

#include "src/passes/fusing/grouping.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/region_body.h"
#include "src/program/rows/code.h"
#include "src/program/steps/loop_dims.h"
#include "src/tensor/visit.h"

namespace fxjit::program {
namespace {

using passes::broadcast_strides;

// Strides over the region's domain of a result that lacks the dims [first,
// last) or has them with size 1.
Dims result_strides(const Tensor& val, const Dims& domain, int first,
                    int last) {
  if (val.sizes() == domain) return val.strides();
  if (val.dim() == domain.size()) return broadcast_strides(val, domain);
  Dims strides(domain.size(), 0);
  for (int d = 0, at = 0; d < domain.size(); ++d)
    if (d < first || d >= last) strides[d] = val.strides()[at++];
  return strides;
}

Access access_of(DType dtype) {
  Access access;
  access.dtype = dtype;
  return access;
}

struct Operands {
  std::vector<OperandRef> refs;
  std::vector<Access> accesses;
  LoopDims dims;  // Over the whole domain.
};

void add_input(Operands& operands, const RegionCall& call,
               const RegionBody::Slot& slot, const Dims& domain,
               int inner_dims) {
  const Placed& placed = call.inputs.at(slot.source);
  Access access = access_of(placed.val.dtype());
  Dims strides(domain.size(), 0);
  const int outer = domain.size() - inner_dims;
  if (slot.index_slot >= 0) {
    const int picked = std::max(0, slot.axis);
    access.gather_slot = slot.index_slot;
    access.gather_stride = placed.val.strides()[picked];
    access.gather_limit = placed.val.sizes()[picked];
  }
  if (slot.axis >= 0) {
    strides = placed.val.strides();
    if (slot.index_slot >= 0) strides[slot.axis] = 0;
  } else if (slot.is_index) {
    for (int d = 0; d < outer; ++d) strides[d] = placed.val.strides()[d];
  } else if (slot.index_slot >= 0) {
    for (int d = outer; d < domain.size(); ++d)
      strides[d] = placed.val.strides()[d - outer + 1];
  } else {
    strides = broadcast_strides(placed.val, domain);
  }
  operands.refs.push_back(placed.ref());
  operands.accesses.push_back(access);
  operands.dims.strides.push_back(strides);
}

// The first dim of a region's rows.
int first_inner(const passes::Region& region) {
  return region.inner_at >= 0 ? region.inner_at
                              : region.domain.size() - region.inner_dims;
}

// The same numbers with those of dims [first, first + count) last.
Dims moved_last(const Dims& numbers, int first, int count) {
  Dims moved;
  for (int d = 0; d < numbers.size(); ++d)
    if (d < first || d >= first + count) moved.push_back(numbers[d]);
  for (int d = first; d < first + count; ++d) moved.push_back(numbers[d]);
  return moved;
}

Operands gather_operands(const RegionCall& call, const RegionBody& body,
                         const Dims& domain, int inner_dims) {
  const int first = inner_dims > 0 ? first_inner(call.region) : domain.size();
  Operands operands;
  operands.dims.sizes = domain;
  for (const RegionBody::Slot& slot : body.slots)
    add_input(operands, call, slot, domain, inner_dims);
  for (const Placed& result : call.results) {
    operands.refs.push_back(result.ref());
    operands.accesses.push_back(access_of(result.val.dtype()));
    operands.dims.strides.push_back(
        result_strides(result.val, domain, first, first + inner_dims));
  }
  if (first + inner_dims == domain.size()) return operands;
  operands.dims.sizes = moved_last(domain, first, inner_dims);
  for (Dims& strides : operands.dims.strides)
    strides = moved_last(strides, first, inner_dims);
  return operands;
}

// Gives a step its loops: the dims of `outer` and the only dim of `inner`, or
// one element where it has none. The first `inputs` accesses are inputs.
template <typename S>
void set_loops(S& step, std::vector<Access> accesses, size_t inputs,
               const LoopDims& outer, const LoopDims& inner) {
  const bool single = inner.sizes.empty();
  step.outer = outer.sizes;
  step.inner = single ? Size(1) : inner.sizes[0];
  for (size_t i = 0; i < accesses.size(); ++i) {
    accesses[i].outer = outer.strides[i];
    accesses[i].inner = single ? Size(0) : inner.strides[i][0];
    (i < inputs ? step.inputs : step.outputs).push_back(accesses[i]);
  }
}

// The dims before the last one, and the last one if there is any.
std::pair<LoopDims, LoopDims> split_last(const LoopDims& dims) {
  const int split = std::max(0, dims.sizes.size() - 1);
  return {sub_dims(dims, 0, split), sub_dims(dims, split, dims.sizes.size())};
}

// A step that copies, strides of `dims` being those of source and target.
void add_copy(PlanBuilder& builder, const RegionCall& call,
              const LoopDims& dims, DType from, DType to, OperandRef source,
              OperandRef target) {
  const auto [outer, inner] = split_last(join_dims(dims));
  RowStep step;
  set_loops(step, {access_of(from), access_of(to)}, 1, outer, inner);
  ScalarBuilder body;
  Scalar value = body.input(0, compute_dtype(from));
  step.body = body.finish({body.cast(value, compute_dtype(to))});
  cut_long_rows(step);
  builder.add_step(std::move(step), {source, target}, call);
}

// Dims [first, last) of a value lie in memory as one dim does.
bool steps_evenly(const LoopDims& dims, size_t operand, int first) {
  LoopDims inner = sub_dims(dims, first, dims.sizes.size());
  inner.strides = {inner.strides[operand]};
  return join_dims(inner).sizes.size() <= 1;
}

// Copies an input into a new buffer in which the row is contiguous. Dims along
// which it does not differ outside of the row stay so.
void copy_evenly(PlanBuilder& builder, const RegionCall& call,
                 Operands& operands, size_t operand, int outer) {
  Dims sizes = operands.dims.sizes;
  Dims& from = operands.dims.strides[operand];
  Access& access = operands.accesses[operand];
  for (int d = 0; d < outer; ++d)
    if (from[d] == 0) sizes[d] = 1;
  LoopDims dims{sizes, {from}};
  if (access.gather_slot >= 0) {  // A table is copied whole.
    dims.sizes.insert(0, access.gather_limit);
    dims.strides[0].insert(0, access.gather_stride);
  }
  const Placed copy = builder.allocate(Tensor::meta(dims.sizes, access.dtype));
  dims.strides.push_back(copy.val.strides());
  add_copy(builder, call, dims, access.dtype, access.dtype,
           operands.refs[operand], copy.ref());
  operands.refs[operand] = copy.ref();
  if (access.gather_slot >= 0) {
    access.gather_stride = dims.strides[1][0];
    dims.strides[1].erase(0);
  }
  from = broadcast_strides(Tensor::meta(sizes, access.dtype, dims.strides[1]),
                           operands.dims.sizes);
}

}  // namespace

bool plan_rows(PlanBuilder& builder, const RegionCall& call) {
  const Dims& domain = call.region.domain;
  const int inner_dims = call.region.inner_dims;
  const auto body = body_of_region(call);
  RowStep step;
  step.body = body->body;
  Operands operands = gather_operands(call, *body, domain, inner_dims);
  for (size_t i = 0; i < body->slots.size() && inner_dims > 1; ++i) {
    const int split = domain.size() - inner_dims;
    if (steps_evenly(operands.dims, i, split)) continue;
    copy_evenly(builder, call, operands, i, split);
  }
  // Positions are counted along the domain's own dims.
  const bool counts = has_index(step.body);
  if (counts && inner_dims > 1) return false;
  const LoopDims dims =
      counts || inner_dims > 0 ? operands.dims : join_dims(operands.dims);
  const int split = std::max(0, dims.sizes.size() - std::max(1, inner_dims));
  LoopDims outer = sub_dims(dims, 0, split);
  LoopDims inner = sub_dims(dims, split, dims.sizes.size());
  if (!counts) {
    outer = join_dims(outer);
    inner = join_dims(inner);
  }
  if (inner.sizes.size() > 1) return false;
  step.strict = builder.options().strict_sums && has_reduction(step.body);
  step.serial =
      builder.options().machine.threads == 1 && has_reduction(step.body);
  set_loops(step, std::move(operands.accesses), body->slots.size(), outer,
            inner);
  cut_long_rows(step);
  add_rows(builder, std::move(step), std::move(operands.refs), call);
  return true;
}

namespace {

const fx::Node* find_reduction(const RegionCall& call) {
  for (const fx::Node* node : call.region.graph->nodes())
    if (node->called_op() &&
        node->called_op()->row.lowering == ops::Lowering::reduce)
      return node;
  throw InternalError("a column region has no reduction");
}

// The domain's dims in a new order: kept ones, then reduced ones.
struct ColumnDims {
  std::vector<int> kept, reduced;
};

ColumnDims column_dims(const fx::Node& reduction, int rank) {
  ColumnDims dims;
  dims.reduced = passes::reduced_dims(reduction);
  for (int d = 0; d < rank; ++d)
    if (std::find(dims.reduced.begin(), dims.reduced.end(), d) ==
        dims.reduced.end())
      dims.kept.push_back(d);
  return dims;
}

Dims pick(const Dims& values, const std::vector<int>& dims) {
  Dims picked;
  for (int d : dims) picked.push_back(values[d]);
  return picked;
}

// Strides over the kept dims of a value with the shape of the result.
Dims post_strides(const Tensor& val, const Tensor& post,
                  const ColumnDims& dims) {
  const Dims strides = broadcast_strides(val, post.sizes());
  const bool kept =
      post.dim() == static_cast<int>(dims.kept.size() + dims.reduced.size());
  return kept ? pick(strides, dims.kept) : strides;
}

// The nodes of a region that read what its reduction gives, directly or not.
std::unordered_set<const fx::Node*> nodes_after_reduction(
    const RegionCall& call) {
  std::unordered_set<const fx::Node*> after;
  for (const fx::Node* node : call.region.graph->nodes())
    for (const fx::Node* input : node->all_input_nodes()) {
      const ops::Op* const op = input->called_op();
      if (after.contains(input) ||
          (op && op->row.lowering == ops::Lowering::reduce))
        after.insert(node);
    }
  return after;
}

}  // namespace

bool plan_columns(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node& reduction = *find_reduction(call);
  const Dims& domain = call.region.domain;
  const ColumnDims dims = column_dims(reduction, domain.size());
  const auto after = nodes_after_reduction(call);
  const auto body = body_of_region(call, nullptr, [&](const fx::Node& node) {
    return after.contains(&node);
  });
  ColumnStep step;
  step.body = body->body;
  std::vector<OperandRef> refs;
  std::vector<Access> accesses;
  LoopDims kept{pick(domain, dims.kept), {}};
  LoopDims reduced{pick(domain, dims.reduced), {}};
  const auto add = [&](const Placed& placed, bool post) {
    const Dims strides = post ? Dims() : broadcast_strides(placed.val, domain);
    kept.strides.push_back(
        post ? post_strides(placed.val, reduction.val_tensor(), dims)
             : pick(strides, dims.kept));
    reduced.strides.push_back(post ? Dims(reduced.sizes.size(), 0)
                                   : pick(strides, dims.reduced));
    refs.push_back(placed.ref());
    accesses.push_back(access_of(placed.val.dtype()));
  };
  for (const RegionBody::Slot& slot : body->slots)
    add(call.inputs.at(slot.source), slot.after_reduction);
  for (const Placed& result : call.results) add(result, true);
  reduced = join_dims(reduced);
  step.reduce = reduced.sizes;
  for (size_t i = 0; i < accesses.size(); ++i)
    accesses[i].reduce = reduced.strides[i];
  const auto [outer, inner] = split_last(kept);
  set_loops(step, std::move(accesses), body->slots.size(), join_dims(outer),
            inner);
  add_columns(builder, std::move(step), std::move(refs), call);
  return true;
}

void plan_copies(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* cat = call.result_nodes.front();
  const Placed& out = call.results.front();
  const int at = cat->called_op()->index_of("dim");
  const int dim =
      wrap_dim(cat->arg(static_cast<size_t>(at)).as_int(), out.val.dim());
  int64_t start = 0;
  for (const Value& leaf : cat->arg(0).as_sequence()) {
    const Placed& in = call.inputs.at(leaf.as_node());
    // torch lets an empty 1-d tensor stand among others.
    if (in.val.numel() == 0) continue;
    OperandRef target = out.ref();
    target.byte_offset += start * out.val.strides()[dim] *
                          static_cast<int64_t>(out.val.item_size());
    start += in.val.sizes()[dim];
    if (in.ref() == target) continue;  // It was made there.
    add_copy(builder, call,
             {in.val.sizes(), {in.val.strides(), out.val.strides()}},
             in.val.dtype(), out.val.dtype(), in.ref(), target);
  }
}

}  // namespace fxjit::program
