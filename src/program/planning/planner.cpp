#include "src/program/planning/planner.h"

#include <algorithm>
#include <map>

#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/moved_view.h"
#include "src/program/planning/parts.h"
#include "src/program/planning/twin_steps.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

using passes::ModelGraph;
using passes::Region;

class Planner {
 public:
  Planner(const ModelGraph& model, const PlanOptions& options)
      : model_(model),
        updates_(find_updates(model)),
        parts_(find_parts(model, updates_, options.library_products)),
        builder_(options,
                 few_row_weight_bytes(
                     model,
                     weights::register_tile(options.machine.level).max_rows)) {}

  Plan run() {
    builder_.program().machine = builder_.options().machine;
    places_.resize(model_.graph->id_bound());
    for (const fx::Node* node : model_.graph->nodes()) visit(*node);
    work_in_place(builder_.program());
    assign_arena(builder_.program());
    return builder_.finish();
  }

 private:
  Placed& place(const fx::Node& node) { return places_[node.id()]; }

  void visit(const fx::Node& node) {
    switch (node.op()) {
      case fx::Opcode::placeholder:
        return add_input(node);
      case fx::Opcode::get_attr:
        place(node) = builder_.place_constant(model_.constant(node));
        return;
      case fx::Opcode::call_module:
        return add_region(node);
      case fx::Opcode::output:
        return add_outputs(node);
      default:
        return add_view(node);
    }
  }

  void add_input(const fx::Node& node) {
    std::vector<TensorSpec>& inputs = builder_.program().inputs;
    const Tensor& val = node.val_tensor();
    place(node) = {
        builder_.add_buffer(Home::input, extent_bytes(val), inputs.size()),
        0,
        val,
        {}};
    inputs.push_back(spec_of(val));
  }

  // Results of a region lie one after the other, those of a call with several
  // among them.
  void add_item(const fx::Node& node) {
    const fx::Node& from = *node.arg_node(0);
    const auto at = static_cast<size_t>(node.arg(1).as_int());
    size_t first = 0;
    for (size_t i = 0; i < at; ++i) first += count_tensors(from.val().at(i));
    const std::vector<Placed>& parts = results_.at(&from);
    const size_t count = count_tensors(node.val());
    if (node.val().is_tensor())
      place(node) = parts[first];
    else
      results_[&node] = {parts.begin() + static_cast<int64_t>(first),
                         parts.begin() + static_cast<int64_t>(first + count)};
  }

  static size_t count_tensors(const Value& val) {
    size_t count = 0;
    visit_leaves(val, [&](const Value& leaf) { count += leaf.is_tensor(); });
    return count;
  }

  void add_view(const fx::Node& node) {
    if (node.called_op() == &passes::item_op()) return add_item(node);
    FXJIT_CHECK(node.called_op() == &passes::as_strided_op(),
                "only views are left outside regions");
    const fx::Node& from = *node.arg_node(0);
    Placed view = place(from);
    MovedView moved{node.val_tensor(), node.arg(3).as_int()};
    if (is_part(from))
      moved = move_view(moved.val, moved.offset, from.val_tensor(),
                        view.val.strides())
                  .value();
    view.constant = {};
    view.val = moved.val;
    view.byte_offset +=
        moved.offset * static_cast<int64_t>(view.val.item_size());
    place(node) = view;
  }

  void add_region(const fx::Node& node) {
    const Region& region = model_.region(node);
    RegionCall call{region, {}, {}, {}};
    call.inputs.reserve(node.args().size());
    size_t arg = 0;
    for (const fx::Node* inner : region.graph->nodes()) {
      if (inner->is(fx::Opcode::placeholder))
        call.inputs.add(*inner, place(*node.arg_node(arg++)));
      if (inner->is(fx::Opcode::output))
        for (const Value& result : inner->arg(0).as_sequence())
          call.result_nodes.push_back(result.as_node());
    }
    std::vector<Placed>& results = results_[&node];
    if (updates_.contains(&node)) {
      // The argument that the call changes comes first.
      results.push_back(call.inputs.at(only_call(region)->arg_node(0)));
      return plan_update(builder_, call);
    }
    for (const fx::Node* result : call.result_nodes)
      visit_leaves(result->val(), [&](const Value& leaf) {
        results.push_back(place_result(node, results.size(), leaf.as_tensor()));
      });
    call.results = results;
    lower(call);
  }

  Placed place_result(const fx::Node& region, size_t number,
                      const Tensor& val) {
    const Part* part = parts_.find(region, number);
    if (part == nullptr) {
      const auto whole = wholes_.find(&region);
      return whole == wholes_.end() ? builder_.allocate(val) : whole->second;
    }
    Placed& whole = wholes_[part->whole];
    if (whole.buffer < 0)
      whole = builder_.allocate(part->whole->users().front()->val_tensor());
    return {whole.buffer, part->byte_offset, part->val, {}};
  }

  bool is_part(const fx::Node& value) const {
    return value.called_op() == &passes::item_op() &&
           parts_.find(*value.arg_node(0),
                       static_cast<size_t>(value.arg(1).as_int())) != nullptr;
  }

  // Results without elements need no code.
  static bool is_empty(const RegionCall& call) {
    return !call.results.empty() &&
           std::all_of(call.results.begin(), call.results.end(),
                       [](const Placed& p) { return p.val.numel() == 0; });
  }

  // Plans a region, or takes what was planned for a twin of it.
  void lower(const RegionCall& call) {
    if (is_empty(call)) return;
    if (call.region.twin < 0) return add_steps(call);
    const TwinSteps::Ends ends = TwinSteps::ends_of(call);
    const auto known = twins_.find(call.region.twin);
    if (known != twins_.end() && known->second.fit(ends))
      return known->second.add_to(builder_, call, ends);
    const TwinSteps::Mark before(builder_.program());
    add_steps(call);
    if (known != twins_.end()) return;
    if (auto steps = TwinSteps::of(ends, before, builder_.program()))
      twins_.emplace(call.region.twin, std::move(*steps));
  }

  void add_steps(const RegionCall& call) {
    switch (call.region.kind) {
      case Region::Kind::rows:
        if (!plan_copy(builder_, call) && !plan_rows(builder_, call))
          plan_eager(builder_, call);
        return;
      case Region::Kind::columns:
        if (!plan_columns(builder_, call)) plan_eager(builder_, call);
        return;
      case Region::Kind::contraction:
        if (!plan_winograd(builder_, call) && !plan_window(builder_, call) &&
            !plan_resampling(builder_, call) &&
            !plan_image_product(builder_, call))
          plan_contraction(builder_, call);
        return;
      case Region::Kind::attention:
        return plan_attention(builder_, call);
      case Region::Kind::copies:
        return plan_copies(builder_, call);
      case Region::Kind::call:
        return plan_call(builder_, call);
    }
  }

  static bool is_computed(const fx::Node& node) {
    const fx::Node* root = &node;
    if (root->called_op() == &passes::as_strided_op()) root = root->arg_node(0);
    return root->meta().contains("computed");
  }

  // The copy that an output of this owner is part of, or -1.
  int32_t copy_of(int32_t number, int32_t owner, bool computed) {
    const Buffer& buffer =
        builder_.program().buffers[static_cast<size_t>(number)];
    const bool held = buffer.home == Home::input ||
                      (buffer.home == Home::constant && !computed);
    if (held && owner < 0) return -1;
    const Memory memory =
        buffer.home == Home::constant
            ? Memory(-1, builder_.constant(buffer).storage().get())
            : Memory(number, nullptr);
    const auto [first, added] = first_owners_.emplace(memory, owner);
    const bool own = !held && !computed;
    if (own && first->second == owner) return -1;
    const auto next = static_cast<int32_t>(copies_.size());
    return copies_.emplace(std::pair(memory, owner), next).first->second;
  }

  void add_outputs(const fx::Node& node) {
    Program& program = builder_.program();
    Value result = node.arg(0);
    if (!model_.written.empty()) {
      add_writes(result.at(1));
      result = result.at(0);
    }
    program.result = map_leaves(result, [&](const Value& leaf) -> Value {
      return leaf.is_node() ? add_output(*leaf.as_node()) : leaf;
    });
  }

  // Written inputs get their new values.
  void add_writes(const Value& values) {
    const auto placeholders = model_.graph->placeholders();
    std::vector<Placed> given;
    for (size_t k = 0; k < model_.written.size(); ++k) {
      const auto at = static_cast<size_t>(model_.written[k]);
      written_.push_back(place(*placeholders[at]));
      given.push_back(place(*values.at(k).as_node()));
      new_values_.push_back(given.back());
      builder_.program().written.push_back(model_.written[k]);
    }
    plan_write_backs(builder_, std::move(given), written_);
  }

  // Where a result is when all steps are done: an old value that a new one
  // takes the place of is saved before.
  Placed place_after(const fx::Node& node, const ModelGraph::Result& known) {
    if (known.written >= 0) return written_[static_cast<size_t>(known.written)];
    Placed placed = place(node);
    const auto input =
        std::ranges::find(written_, placed.buffer, &Placed::buffer);
    if (input == written_.end()) return placed;
    const Placed& fresh =
        new_values_[static_cast<size_t>(input - written_.begin())];
    if (fresh.buffer == placed.buffer) return placed;  // Made in place.
    Placed& saved = old_values_[placed.buffer];
    if (saved.buffer < 0) saved = plan_old_value(builder_, *input);
    placed.buffer = saved.buffer;
    return placed;
  }

  Value add_output(const fx::Node& node) {
    Program& program = builder_.program();
    const size_t index = program.outputs.size();
    const ModelGraph::Result known = index < model_.results.size()
                                         ? model_.results[index]
                                         : ModelGraph::Result();
    const Placed placed = place_after(node, known);
    Buffer& buffer = program.buffers[static_cast<size_t>(placed.buffer)];
    const Tensor& val = known.view.defined() ? known.view : placed.val;
    const int64_t skipped =
        known.view.defined() ? int64_t{val.offset() * val.item_size()} : 0;
    if (buffer.home == Home::arena) {
      buffer.home = Home::output;
      buffer.index = fresh_outputs_++;
    }
    program.outputs.push_back(
        {spec_of(val), placed.buffer, placed.byte_offset + skipped,
         copy_of(placed.buffer, known.owner, is_computed(node))});
    return Tensor::meta(val.sizes(), val.dtype(), val.strides());
  }

  const ModelGraph& model_;
  const std::unordered_set<const fx::Node*> updates_;
  const Parts parts_;
  PlanBuilder builder_;
  std::vector<Placed> places_;
  std::vector<Placed> written_, new_values_;  // By number in `written`.
  std::map<int32_t, Placed> old_values_;      // By the buffer of the input.
  int32_t fresh_outputs_ = 0;
  std::unordered_map<int32_t, TwinSteps> twins_;  // By Region::twin.
  std::unordered_map<const fx::Node*, std::vector<Placed>> results_;
  // Concatenations of which some part has been placed, by their regions.
  std::unordered_map<const fx::Node*, Placed> wholes_;
  // A buffer, or what several buffers of constants may share.
  using Memory = std::pair<int32_t, const void*>;
  std::map<Memory, int32_t> first_owners_;
  std::map<std::pair<Memory, int32_t>, int32_t> copies_;
};

// Of one `vpdpbusd` beside one `vpmaddwd`, and of tile registers, which make
// 1024 products in a cycle.
int64_t byte_speed(const Machine& machine) {
  if (machine.tile_products) return 16;
  return machine.dot_products ? 2 : 1;
}

}  // namespace

passes::PipelineOptions passes_for(const Machine& machine) {
  passes::PipelineOptions options;
  options.halves = machine.halves;
  options.plane_windows = machine.level == CpuLevel::avx2;
  options.byte_speed = byte_speed(machine);
  options.serial = machine.threads == 1;
  options.recurrent = {machine.level, machine.threads, machine.fast_products};
  return options;
}

Plan plan(const ModelGraph& model, const PlanOptions& options) {
  return Planner(model, options).run();
}

}  // namespace fxjit::program
