#include "src/import/pt2/signature.h"

#include "src/import/pt2/arguments.h"

namespace fxjit::import {
namespace {

using InputKind = InputSpec::Kind;
using OutputKind = OutputSpec::Kind;

InputSpec read_input(const Field& place) {
  const auto [kind, spec] = place.variant();
  const auto weight = [&](InputKind weight_kind, const char* target) {
    return InputSpec{weight_kind,
                     spec.at("arg").at("name").text(),
                     spec.at(target).text(),
                     true,
                     {},
                     spec};
  };
  if (kind == "parameter")
    return weight(InputKind::parameter, "parameter_name");
  if (kind == "tensor_constant")
    return weight(InputKind::constant_tensor, "tensor_constant_name");
  if (kind == "buffer") {
    InputSpec buffer = weight(InputKind::buffer, "buffer_name");
    buffer.persistent = spec.at("persistent").boolean();
    return buffer;
  }
  if (kind == "user_input") {
    const Field argument = spec.at("arg");
    if (const auto name = defined_name(argument))
      return {InputKind::argument, *name, "", true, {}, argument};
    return {InputKind::constant,         "",  "", true,
            read_argument(argument, {}), spec};
  }
  if (kind == "constant_input")
    return {InputKind::constant,
            spec.at("name").text(),
            "",
            true,
            read_argument(spec.at("value"), {}),
            spec};
  place.fail("inputs of kind " + std::string(kind) + " are not supported");
}

OutputSpec read_output(const Field& place) {
  const auto [kind, spec] = place.variant();
  if (kind == "user_output") return {OutputKind::result, spec.at("arg"), ""};
  // A tensor stands here without the name of its kind.
  const auto written = [&](OutputKind written_kind, const char* target) {
    return OutputSpec{written_kind, spec.at("arg"), spec.at(target).text()};
  };
  if (kind == "buffer_mutation")
    return written(OutputKind::buffer, "buffer_name");
  if (kind == "parameter_mutation")
    return written(OutputKind::parameter, "parameter_name");
  if (kind == "user_input_mutation")
    return written(OutputKind::argument, "user_input_name");
  place.fail("outputs of kind " + std::string(kind) + " are not supported");
}

}  // namespace

std::vector<InputSpec> read_input_specs(const Field& signature) {
  std::vector<InputSpec> specs;
  for (const Field& spec : signature.at("input_specs").items())
    specs.push_back(read_input(spec));
  return specs;
}

std::vector<OutputSpec> read_output_specs(const Field& signature) {
  std::vector<OutputSpec> specs;
  for (const Field& spec : signature.at("output_specs").items())
    specs.push_back(read_output(spec));
  return specs;
}

}  // namespace fxjit::import
