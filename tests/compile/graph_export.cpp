#include "tests/compile/graph_export.h"

#include <cmath>
#include <cstdio>
#include <fstream>

namespace fxjit::testing {
namespace {

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + '"';
}

// As Python's json reads it: NaN and Infinity are numbers there.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

template <typename List, typename Fn>
std::string array(const List& list, Fn item) {
  std::string text = "[";
  for (const auto& element : list) {
    if (text.size() > 1) text += ',';
    text += item(element);
  }
  return text + "]";
}

std::string numbers(const std::vector<double>& values) {
  return array(values, number);
}

std::string shape(const Tensor& t) {
  return "\"dtype\":" + json_text(dtype_name(t.dtype())) +
         ",\"sizes\":" + t.sizes().str() + ",\"strides\":" + t.strides().str();
}

// All of the memory: what lies between the elements shows wrong writes.
std::string given(const Tensor& t) {
  const auto count = static_cast<int64_t>(t.storage()->bytes() / t.item_size());
  const Tensor all =
      Tensor::view(t.storage(), {count}, t.dtype(), {1}, 0).to(DType::f64);
  const double* first = all.data_as<double>();
  return "{" + shape(t) + ",\"offset\":" + std::to_string(t.offset()) +
         ",\"memory\":" + numbers({first, first + count}) + "}";
}

}  // namespace

void export_graph(const GraphCase& c, const Expected& expected,
                  const std::filesystem::path& folder, uint32_t seed) {
  const GraphRun run = c.run();
  std::string code;
  for (const auto& [name, line] :
       run.module->graph().python_code("self").globals)
    code += line + "\n";
  std::string text = "{\"code\":" + json_text(code + run.module->code());
  text += ",\n\"inputs\":" + array(c.inputs, [](const Value& input) {
            return given(input.as_tensor());
          });
  text += ",\n\"constants\":" + array(c.constants, [](const auto& constant) {
            return "[" + json_text(constant.first) + "," + given(constant.second) +
                   "]";
          });
  text += ",\n\"tensors\":[";
  const Outcome& outcome = expected.interpreted;
  for (size_t i = 0; i < outcome.tensors.size(); ++i)
    text += std::string(i ? ",\n" : "") + "{" + shape(outcome.tensors[i]) +
            ",\"exact\":" + numbers(expected.numbers[i].exact) +
            ",\"allowed\":" + numbers(expected.numbers[i].allowed) + "}";
  text += "],\n\"places\":" +
          array(places(outcome.tensors),
                [](uint32_t place) { return std::to_string(place); }) +
          "}\n";
  const auto path = folder / (std::to_string(seed) + ".json");
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw UserError("cannot write " + path.string());
}

}  // namespace fxjit::testing
