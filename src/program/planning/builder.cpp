#include "src/program/planning/builder.h"

#include <algorithm>

#include "src/tensor/tensor_memory.h"

namespace fxjit::program {
namespace {

// Fewer bytes of weights stay in the second-level cache. Reading them from
// there is faster than unpacking a narrower format.
constexpr int64_t kLeastNarrowedBytes = int64_t{2} << 20;
// Less is done before unpacking pays.
constexpr int64_t kLeastOfMany = int64_t{128} << 10;

}  // namespace

const Placed& Places::at(const fx::Node* node) const {
  for (const auto& [each, place] : places_)
    if (each == node) return place;
  throw InternalError("a node of a region has no place", node->error_context());
}

int RegionCall::result_index(const fx::Node& node) const {
  const auto at = std::find(result_nodes.begin(), result_nodes.end(), &node);
  return at == result_nodes.end() ? -1
                                  : static_cast<int>(at - result_nodes.begin());
}

int64_t extent_bytes(const Tensor& val) {
  if (val.numel() == 0) return 0;
  int64_t last = 0;
  for (int d = 0; d < val.dim(); ++d)
    last += (val.sizes()[d] - 1) * val.strides()[d];
  return (last + 1) * static_cast<int64_t>(val.item_size());
}

int32_t PlanBuilder::add_buffer(Home home, int64_t bytes, size_t index) {
  program().buffers.push_back({home, bytes, 0, static_cast<int32_t>(index)});
  return static_cast<int32_t>(program().buffers.size() - 1);
}

Placed PlanBuilder::allocate(const Tensor& val) {
  return {add_buffer(Home::arena, extent_bytes(val)), 0, val, {}};
}

Placed PlanBuilder::place_constant(const Tensor& tensor) {
  auto [entry, fresh] = constants_.try_emplace(tensor.id(), -1);
  if (fresh) {
    entry->second = add_buffer(Home::constant, extent_bytes(tensor),
                               program().constants.size());
    program().constants.push_back(
        {name_of(tensor), spec_of(tensor), tensor.offset()});
    plan_.constants.tensors.push_back(tensor);
  }
  const Tensor& kept =
      constant(program().buffers[static_cast<size_t>(entry->second)]);
  return {entry->second, 0, meta_of(spec_of(kept)), kept};
}

Plan PlanBuilder::finish() {
  program().buffers.shrink_to_fit();
  program().steps.shrink_to_fit();
  program().constants.shrink_to_fit();
  program().packed.shrink_to_fit();
  plan_.constants.tensors.shrink_to_fit();
  return std::move(plan_);
}

std::string PlanBuilder::name_of(const Tensor& constant) const {
  if (!options_.names) return {};
  const auto named = options_.names->find(constant.storage().get());
  return named == options_.names->end() ? std::string() : named->second;
}

int32_t PlanBuilder::add_body(Plan body) {
  program().bodies.push_back(std::move(body.program));
  plan_.constants.bodies.push_back(std::move(body.constants));
  return static_cast<int32_t>(program().bodies.size() - 1);
}

namespace {

// Equal for weights that are packed alike from the same numbers.
std::string key_of(const weights::PackSpec& weight,
                   const std::vector<Tensor>& constants) {
  std::string key = weight.batched ? "batch" : "";
  key += " " + std::to_string(weight.winograd_tile);
  if (weight.windows.used)
    key += " windows " + std::to_string(weight.windows.lanes);
  for (const weights::Format format : weight.formats)
    key += std::string(" ") + weights::format_name(format);
  if (const weights::StoredCodes& codes = weight.codes; codes.block > 0)
    key += " blocks " + std::to_string(codes.block) + " " +
           std::to_string(codes.bits) + (codes.by_column ? " columns" : "");
  for (const weights::PackPiece& piece : weight.pieces)
    key += " " + memory_key(view_of(piece, constants));
  return key;
}

}  // namespace

weights::PackSpec PlanBuilder::weight_of(const std::vector<Piece>& pieces,
                                         bool batched) const {
  weights::PackSpec weight;
  weight.batched = batched;
  for (const auto& [constant, view] : pieces) {
    const Buffer& buffer =
        plan_.program.buffers[static_cast<size_t>(constant.buffer)];
    weight.pieces.push_back({buffer.index, spec_of(view),
                             view.offset() - constant.constant.offset()});
    weight.depth = view.size(0);
    weight.columns = batched ? view.size(1) : weight.columns + view.size(1);
  }
  return weight;
}

OperandRef PlanBuilder::pack(const std::vector<Piece>& pieces, bool batched) {
  return place_packed(weight_of(pieces, batched));
}

bool PlanBuilder::is_narrowed(int64_t bytes) const {
  return bytes >= kLeastNarrowedBytes ||
         (bytes >= kLeastOfMany &&
          weight_bytes_ > options_.machine.cache_bytes);
}

OperandRef PlanBuilder::pack_narrow(const std::vector<Piece>& pieces,
                                    int64_t rows) {
  weights::PackSpec weight = weight_of(pieces, false);
  const int64_t bytes =
      weights::packed_bytes(weights::Format::f32, weight.depth, weight.columns,
                            weights::register_tile(level()).width());
  using Narrow = PlanOptions::Narrow;
  if (options_.narrow != Narrow::never && is_narrowed(bytes))
    for (const weights::Format format : weights::kNarrowFormats)
      if (rows <= weights::most_rows(format, level()) &&
          (!weights::rounds(format) || options_.narrow == Narrow::rounded))
        weight.formats.push_back(format);
  return place_packed(std::move(weight));
}

OperandRef PlanBuilder::pack_winograd(const Placed& weight, int64_t tile) {
  weights::PackSpec packed;
  const Buffer& buffer = program().buffers[static_cast<size_t>(weight.buffer)];
  packed.pieces.push_back({buffer.index, spec_of(weight.constant), 0});
  packed.winograd_tile = tile;
  return place_packed(std::move(packed));
}

OperandRef PlanBuilder::pack_windows(const Piece& filters, int64_t lanes) {
  weights::PackSpec packed;
  const Buffer& buffer =
      program().buffers[static_cast<size_t>(filters.constant.buffer)];
  packed.pieces.push_back(
      {buffer.index, spec_of(filters.view),
       filters.view.offset() - filters.constant.constant.offset()});
  packed.windows = {true, lanes};
  return place_packed(std::move(packed));
}

OperandRef PlanBuilder::pack_bytes(const Placed& weight) {
  weights::PackSpec packed = weight_of({{weight, weight.constant}}, false);
  packed.formats = {weights::Format::bytes};
  return place_packed(std::move(packed));
}

OperandRef PlanBuilder::pack_blocks(const std::vector<Piece>& pieces,
                                    const weights::StoredCodes& codes,
                                    int64_t depth) {
  weights::PackSpec packed = weight_of(pieces, false);
  packed.formats = {weights::Format::blocks};
  packed.codes = codes;
  packed.depth = depth;
  packed.columns = pieces[1].view.size(1);
  return place_packed(std::move(packed));
}

// Unclipped quads stand beside clipped ones where one or the other may be
// better. A store drops them from such a list where it keeps the weight clipped
// (Store::coding), so that single rows read the copy that is there.
OperandRef PlanBuilder::pack_integers(const Placed& weight, bool single_rows) {
  weights::PackSpec packed = weight_of({{weight, weight.constant}}, false);
  const Machine& machine = options_.machine;
  auto& formats = packed.formats;
  if (machine.tile_products) {
    formats = {weights::Format::tiles};
    return place_packed(std::move(packed));
  }
  if (machine.dot_products || single_rows) formats = {weights::Format::quads};
  if (!machine.dot_products)
    formats.insert(formats.end(), std::begin(weights::kClippedQuads),
                   std::end(weights::kClippedQuads));
  if (formats.front() != weights::Format::quads)
    formats.push_back(weights::Format::quads);
  return place_packed(std::move(packed));
}

OperandRef PlanBuilder::place_packed(weights::PackSpec weight) {
  auto [entry, fresh] =
      packed_.try_emplace(key_of(weight, plan_.constants.tensors), -1);
  if (fresh) {
    entry->second = add_buffer(Home::packed, 0, program().packed.size());
    program().packed.push_back(std::move(weight));
  }
  return {entry->second, 0};
}

namespace {

// The reasons of the region's inputs, at the operands that lie in their
// buffers.
std::vector<passes::Apart> apart_of(const std::vector<OperandRef>& operands,
                                    const RegionCall& call) {
  std::vector<passes::Apart> apart;
  if (call.region.apart.empty()) return apart;
  size_t next = 0;
  for (const auto& [input, place] : call.inputs) {
    const passes::Apart why = call.region.apart[next++];
    if (why == passes::Apart::none) continue;
    const int32_t buffer = place.buffer;
    const auto at = std::find_if(
        operands.begin(), operands.end(),
        [&](const OperandRef& ref) { return ref.buffer == buffer; });
    if (at == operands.end()) continue;
    apart.resize(operands.size(), passes::Apart::none);
    apart[static_cast<size_t>(at - operands.begin())] = why;
  }
  return apart;
}

}  // namespace

void PlanBuilder::add_step(StepBody body, std::vector<OperandRef> operands,
                           const RegionCall& call) {
  analyse(body, options_.machine);
  add_analysed(std::move(body), std::move(operands), call);
}

void PlanBuilder::add_analysed(support::SharedValue<StepBody> body,
                               std::vector<OperandRef> operands,
                               const RegionCall& call) {
  std::vector<passes::Apart> apart = apart_of(operands, call);
  program().steps.push_back({std::move(body), std::move(operands),
                             call.region.label, call.region.nodes,
                             std::move(apart), call.region.way});
}

}  // namespace fxjit::program
