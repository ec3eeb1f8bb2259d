#include "src/compile/step_facts.h"

namespace fxjit {
namespace {

using program::AttentionStep;
using program::ColumnStep;
using program::ExternStep;
using program::RowStep;
using program::TileStep;
using program::WinogradStep;
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string text_of(int64_t number) { return std::to_string(number); }

// Types of operands, equal ones once: "float32, int64".
template <typename Accesses>
std::string types_of(const Accesses& accesses) {
  std::string text;
  DType last{};
  for (const auto& access : accesses) {
    if (!text.empty() && access.dtype == last) continue;
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(access.dtype));
    last = access.dtype;
  }
  return text;
}

struct Sizes {
  const program::KernelPlan& plan;

  Facts operator()(const RowStep& step) const {
    return {{"outer", step.outer.str()},
            {"row", text_of(step.inner)},
            {"reads", types_of(step.inputs)},
            {"writes", types_of(step.outputs)},
            {"operations", text_of(static_cast<int64_t>(
                               step.body.instrs.size()))}};
  }
  Facts operator()(const ColumnStep& step) const {
    return {{"outer", step.outer.str()},
            {"reduced", step.reduce.str()},
            {"columns", text_of(step.inner)},
            {"reads", types_of(step.inputs)},
            {"writes", types_of(step.outputs)}};
  }
  Facts operator()(const TileStep& step) const {
    return {
        {"batch", text_of(step.batch)},
        {"rows", text_of(step.rows)},
        {"columns", text_of(step.columns)},
        {"depth", text_of(step.depth)},
        {"weights", std::string(weights::format_name(step.weights))},
        {"extra operands", text_of(static_cast<int64_t>(step.extras.size()))}};
  }
  Facts operator()(const AttentionStep& step) const {
    return {{"batch", text_of(step.outer * step.batch)},
            {"heads", text_of(step.heads)},
            {"queries", text_of(step.queries)},
            {"keys", text_of(step.keys)},
            {"depth", text_of(step.depth)},
            {"masks", text_of(static_cast<int64_t>(step.masks.size()))},
            {"causal", step.causal ? "yes" : "no"}};
  }
  Facts operator()(const WinogradStep& step) const {
    return {{"batch", text_of(step.batch)},
            {"height", text_of(step.out_height)},
            {"width", text_of(step.out_width)},
            {"channels", text_of(step.channels)},
            {"features", text_of(step.features)},
            {"tile", text_of(step.tile)}};
  }
  Facts operator()(const ExternStep&) const {
    return {{"tasks", text_of(plan.tasks)}};
  }
};

}  // namespace

std::string skeleton_name(const program::StepBody& body) {
  struct Name {
    std::string operator()(const RowStep&) const { return "rows"; }
    std::string operator()(const ColumnStep&) const { return "columns"; }
    std::string operator()(const TileStep&) const { return "tile"; }
    std::string operator()(const AttentionStep&) const { return "attention"; }
    std::string operator()(const WinogradStep&) const { return "winograd"; }
    std::string operator()(const ExternStep&) const { return "routine"; }
  };
  return std::visit(Name(), body);
}

Facts step_sizes(const program::StepBody& body,
                 const program::KernelPlan& plan) {
  return std::visit(Sizes{plan}, body);
}

size_t written_operands(const program::StepBody& body) {
  struct Count {
    size_t operator()(const AttentionStep&) const { return 1; }
    size_t operator()(const ExternStep& step) const {
      return static_cast<size_t>(step.results);
    }
    size_t operator()(const RowStep& step) const { return step.outputs.size(); }
    size_t operator()(const ColumnStep& step) const {
      return step.outputs.size();
    }
    size_t operator()(const TileStep& step) const {
      return step.outputs.size();
    }
    size_t operator()(const WinogradStep& step) const {
      return step.outputs.size();
    }
  };
  return std::visit(Count(), body);
}

}  // namespace fxjit
