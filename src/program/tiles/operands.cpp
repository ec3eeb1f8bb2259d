#include "src/program/tiles/operands.h"

#include "src/passes/fusing/loop_facts.h"
#include "src/program/planning/region_body.h"

namespace fxjit::program {
namespace {

using passes::uniform_stride;

TileAccess tile_access(const Tensor& val, const fx::Node& node) {
  const Dims& domain = node.val_tensor().sizes();
  const int rank = domain.size();
  const int batch = passes::contraction_batch_dims(node);
  const int rows_end = rank - passes::contraction_column_dims(node);
  const Dims strides = passes::broadcast_strides(val, domain);
  TileAccess access;
  access.dtype = val.dtype();
  access.batch = uniform_stride(domain, strides, 0, batch);
  access.row = uniform_stride(domain, strides, batch, rows_end);
  access.column = uniform_stride(domain, strides, rows_end, rank);
  FXJIT_CHECK(access.batch >= 0 && access.row >= 0 && access.column >= 0 &&
                  access.column <= 1,
              "a tile can address " + val.describe());
  return access;
}

}  // namespace

const fx::Node* find_call_or_null(const RegionCall& call, const ops::Op& op) {
  for (const fx::Node* node : call.region.graph->nodes())
    if (node->called_op() == &op) return node;
  return nullptr;
}

const fx::Node& find_call(const RegionCall& call, const ops::Op& op) {
  if (const fx::Node* node = find_call_or_null(call, op)) return *node;
  throw InternalError("a region lacks its " + std::string(op.name()));
}

void bind_epilogue(const RegionCall& call, const fx::Node& node,
                   std::vector<OperandRef>& refs, Epilogue& made) {
  const auto body = body_of_region(call, &node);
  for (size_t i = 1; i < body->slots.size(); ++i) {
    const Placed& extra = call.inputs.at(body->slots[i].source);
    made.extras.push_back(tile_access(extra.val, node));
    refs.push_back(extra.ref());
  }
  for (const Placed& result : call.results) {
    made.outputs.push_back(tile_access(result.val, node));
    refs.push_back(result.ref());
  }
  made.epilogue = body->body;
}

}  // namespace fxjit::program
