// Code generation replaced or looked at: signatures, returns, inputs, lines.
#include <algorithm>
#include <limits>
#include <sstream>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(GeneratedCode)

namespace TEST_FILE {

using fx::CodeGen;
using fx::GraphModule;
using fx::symbolic_trace;
using Lines = std::vector<std::string>;

std::string joined(const Lines& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

// forward(self, args_list) in the place of one argument each.
class TakesList : public CodeGen {
 public:
  std::string gen_fn_def(Lines free_vars, std::string_view return_annotation,
                         bool) const override {
    return "def forward(self, args_list: List)" +
           std::string(return_annotation) + ":\n    " + joined(free_vars) +
           ", = args_list";
  }
  const nn::Signature* signature() const override { return &signature_; }
  ValueList process_inputs(ValueList inputs) const override {
    return inputs.at(0).as_sequence();
  }
  std::vector<std::pair<std::string, std::string>> additional_globals()
      const override {
    return {{"List", "from typing import List"}};
  }

 private:
  nn::Signature signature_{"args_list"};
};

class ReturnsDict : public CodeGen {
 public:
  std::string generate_output(std::string_view result) const override {
    return "return {'result': " + std::string(result) + "}";
  }
  Value process_outputs(Value outputs) const override {
    return Value::dict({{"result", std::move(outputs)}});
  }
};

class Layers : public nn::Custom<Layers> {
 public:
  Layers() : Custom("Layers", {"x", {"y", 1.5}}) {
    lin = register_module("lin", nn::Linear::create(2, 2));
  }
  Value forward(Value x, Value y) {
    const Value z = lin(x) * y;
    return Value::tuple(
        {nn::functional::gelu(z), std::numeric_limits<double>::infinity()});
  }
  nn::Ref<nn::Linear> lin;
};

nn::Ref<GraphModule> traced_two() {
  return symbolic_trace([](Value x, Value y) -> Value { return relu(x) + y; },
                        {"x", "y"});
}

template <typename T>
nn::Ref<GraphModule> generated_by() {
  const auto gm = traced_two();
  gm->graph().set_codegen(std::make_shared<T>());
  gm->recompile();
  return gm;
}

fx::BodyTransform noted(const std::string& text,
                        const fx::BodyTransform& before = {}) {
  return [text, before](Lines body) {
    if (before) body = before(std::move(body));
    body.insert(body.begin(), "# " + text + "\n");
    return body;
  };
}

Lines without_frees(const Lines& body) {
  std::string text;
  for (const std::string& piece : body) text += piece;
  std::istringstream all(text);
  Lines lines;
  for (std::string line; std::getline(all, line);)
    lines.push_back(line.substr(0, line.find(';')) + "\n");
  return lines;
}

MIRROR_CASE(GeneratedCode, inputs_from_a_list) {
  const auto gm = generated_by<TakesList>();
  expect_graph(gm);
  expect_code(gm);
  expect_value("result", gm->call({Value::list({fill({3}), fill({3}, 1)})}));
  expect_value("processed", gm->graph().process_inputs({Value::list({1, 2})}));
}

MIRROR_CASE(GeneratedCode, interpreted_with_a_list) {
  const auto gm = generated_by<TakesList>();
  const ValueList inputs{fill({3}), fill({3}, 1)};
  expect_value("with", fx::Interpreter(*gm).run({Value::list(inputs)}));
  expect_value("without", fx::Interpreter(*gm).run(inputs, false));
}

MIRROR_CASE(GeneratedCode, outputs_in_a_dict) {
  const auto gm = generated_by<ReturnsDict>();
  expect_code(gm);
  expect_value("result", gm->call({fill({3}), fill({3}, 1)}));
  expect_value("processed",
               gm->graph().process_outputs(Value::tuple({1, "a"})));
  expect_value("interpreted",
               fx::Interpreter(*gm).run({fill({3}), fill({3}, 1)}));
}

MIRROR_CASE(GeneratedCode, generation_copied_and_transformed) {
  const auto gm = generated_by<TakesList>();
  expect_code(gm->deep_copy());
  expect_code(*gm->graph().copy());
  const auto made = fx::Transformer(gm).transform();
  expect_code(made);
  expect_value("result", made->call({Value::list({fill({3}), fill({3}, 1)})}));
}

MIRROR_CASE(GeneratedCode, standard_generation_again) {
  const auto gm = generated_by<TakesList>();
  gm->graph().set_codegen(std::make_shared<CodeGen>());
  gm->recompile();
  expect_code(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(GeneratedCode, definitions_by_hand) {
  const CodeGen codegen;
  expect_text("none", codegen.gen_fn_def({}, "", false));
  expect_text("two", codegen.gen_fn_def({"a", "b : int"}, " -> int", false));
  expect_text("self", codegen.gen_fn_def({"self", "x"}, "", false));
  expect_text("expanded", codegen.gen_fn_def({"x", "*args"}, "", true));
  expect_text("output", codegen.generate_output("(1, [2.5])"));
  expect_value("inputs", codegen.process_inputs({1, 2}));
  expect_value("outputs", codegen.process_outputs(Value::dict({{"a", 1}})));
  expect_value("globals", ValueList(codegen.additional_globals().size(), None));
}

MIRROR_CASE(GeneratedCode, names_used_by_code) {
  const auto gm = symbolic_trace(filled(Layers::create()));
  const fx::PythonCode made = gm->graph().python_code("self");
  Lines used;
  for (const auto& [name, import] : made.globals)
    if (made.src.find(name) != made.src.npos) used.push_back(name);
  std::sort(used.begin(), used.end());
  expect_value("used", ValueList(used.begin(), used.end()));
  expect_text("source", made.src);
}

MIRROR_CASE(GeneratedCode, code_of_another_root) {
  const auto gm = symbolic_trace(filled(Layers::create()));
  expect_text("source", gm->graph().python_code("module").src);
  expect_text("nested", gm->graph().python_code("self.owner").src);
}

MIRROR_CASE(GeneratedCode, lines_of_nodes) {
  const auto gm = symbolic_trace(filled(Layers::create()));
  const fx::PythonCode made = gm->graph().python_code("self");
  ValueList lines;
  for (size_t i = 0; i < made.lineno_map.size(); ++i)
    if (made.lineno_map[i] >= 0)
      lines.push_back(Value::list({i, made.lineno_map[i]}));
  expect_value("lines", lines);
}

MIRROR_CASE(GeneratedCode, bodies_changed_twice) {
  const auto gm = traced_two();
  fx::Graph& graph = gm->graph();
  {
    const auto outer = graph.on_generate_code(
        [](const fx::BodyTransform&) { return noted("first"); });
    {
      const auto inner =
          graph.on_generate_code([](const fx::BodyTransform& before) {
            return noted("second", before);
          });
      expect_code(graph);
    }
    expect_code(graph);
  }
  expect_code(graph);
}

MIRROR_CASE(GeneratedCode, bodies_with_lines_taken_out) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return relu(neg(x)); }, {"x"});
  auto scope = gm->graph().on_generate_code(
      [](const fx::BodyTransform&) -> fx::BodyTransform {
        return without_frees;
      });
  scope.keep();
  gm->recompile();
  expect_code(gm);
  expect_value("result", gm->call({fill({3})}));
}

MIRROR_CASE(GeneratedCode, containers_taken_apart) {
  const Value PH = fx::PH();
  const Value pair_of_symbols =
      Value::dict({{"a", PH}, {"b", Value::tuple({PH, PH})}});
  class M : public nn::Custom<M> {
   public:
    M() : Custom("M", {"pair", "more"}) {}
    Value forward(Value pair, Value more) {
      const Value& b = *pair.find("b");
      const Value total = *pair.find("a") + b.at(0);
      const Value twice = more.at(0) * 2;
      return Value::dict(
          {{"sum", total}, {"rest", Value::list({twice, b.at(1)})}});
    }
  };
  const auto gm = symbolic_trace(
      M::create(), {{"pair", pair_of_symbols}, {"more", Value::list({PH})}});
  expect_code(gm);
  const Value given = Value::dict(
      {{"a", fill({2})}, {"b", Value::tuple({fill({2}, 1), fill({2}, 2)})}});
  const Value more = Value::list({fill({2}, 3)});
  expect_value("inputs", gm->graph().process_inputs({given, more}));
  expect_value("outputs", gm->graph().process_outputs(Value::list({1, 2, 3})));
  expect_value("result", gm->call({given, more}));
  expect_outputs(gm, {given, more});
}

MIRROR_CASE(GeneratedCode, containers_run_flat) {
  const Value PH = fx::PH();
  const auto gm = symbolic_trace(
      [](Value pair) -> Value {
        return Value::tuple({pair.at(0) - pair.at(1), pair.at(0)});
      },
      {"pair"}, "f", {{"pair", Value::tuple({PH, PH})}});
  fx::Interpreter interpreter(*gm);
  expect_value("flat", interpreter.run({fill({2}), fill({2}, 1)}, false));
  expect_value("whole",
               interpreter.run({Value::tuple({fill({2}), fill({2}, 1)})}));
}

MIRROR_CASE(GeneratedCode, leaves_of_outputs) {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr neg = graph->call_function("torch.neg", {x});
  graph->output(
      Value::dict({{"a", Value::tuple({neg, 1})},
                   {"b", Value::list({None, Value::dict({{"c", x}})})}}));
  const auto gm = GraphModule::create(nn::Module("Module"), std::move(graph));
  expect_code(gm);
  expect_outputs(gm, {fill({2})});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
