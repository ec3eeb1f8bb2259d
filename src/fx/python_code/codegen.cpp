#include "fxjit/fx/codegen.h"

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

BodyTransformScope::~BodyTransformScope() {
  if (graph_) graph_->body_transform_ = std::move(old_);
}

BodyTransformScope Graph::on_generate_code(
    const std::function<BodyTransform(BodyTransform current)>& make) {
  BodyTransform made = make(body_transform_);
  touch();
  return BodyTransformScope(this,
                            std::exchange(body_transform_, std::move(made)));
}

std::string CodeGen::gen_fn_def(std::vector<std::string> free_vars,
                                std::string_view return_annotation,
                                bool expanded_def) const {
  if (free_vars.empty() || free_vars[0] != "self")
    free_vars.insert(free_vars.begin(), "self");
  std::string def = "def forward(";
  if (expanded_def) def += '\n';
  for (size_t i = 0; i < free_vars.size(); ++i) {
    if (expanded_def) {
      def += "    " + free_vars[i] + ",\n";
    } else {
      def += (i ? ", " : "") + free_vars[i];
    }
  }
  return def + ")" + std::string(return_annotation) + ":";
}

std::string CodeGen::generate_output(std::string_view result) const {
  return "return " + std::string(result);
}

ValueList CodeGen::process_inputs(ValueList inputs) const { return inputs; }

Value CodeGen::process_outputs(Value outputs) const { return outputs; }

std::vector<std::pair<std::string, std::string>> CodeGen::additional_globals()
    const {
  return {};
}

}  // namespace fxjit::fx
