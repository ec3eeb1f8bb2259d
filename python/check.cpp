// Model::check: the search for a wrong number, as Python sees it.
#include "fxjit/check.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "python/log_queue.h"
#include "python/model.h"
#include "python/options.h"
#include "python/values.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

Value array_value(nb::handle array, const std::string& name) {
  Arrays arrays;
  arrays.type =
      carried_type_from_name(type_name_of(array)).value_or(CarriedType::none);
  return value_of(array, name, arrays);
}

ReferenceValues reference_of(const nb::object& given) {
  ReferenceValues values;
  values.name = nb::cast<std::string>(given[0]);
  for (const nb::handle result : nb::cast<nb::list>(given[1]))
    values.results.push_back(array_value(result, "a result"));
  for (const auto& [name, array] : nb::cast<nb::dict>(given[2])) {
    const auto text = nb::cast<std::string>(name);
    values.nodes.emplace(text, array_value(array, text));
  }
  return values;
}

nb::object text_or_none(const std::string& text) {
  return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
}

nb::list list_of_texts(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(nb::str(text.c_str()));
  return list;
}

nb::object node_of(const CheckResult& result) {
  if (!result.node) return nb::none();
  nb::dict node;
  node["name"] = result.node->report.name;
  node["target"] = result.node->report.target;
  node["file"] = text_or_none(result.node->report.file);
  node["line"] = result.node->report.line;
  node["trace"] = text_or_none(result.node->trace);
  node["difference"] = result.node->difference;
  return node;
}

nb::object step_of(const CheckResult& result) {
  if (!result.step) return nb::none();
  nb::dict step;
  std::vector<std::string> nodes;
  for (const NodeReport& node : result.step->nodes) nodes.push_back(node.name);
  step["label"] = result.step->label;
  step["kernel"] = result.step->kernel;
  step["nodes"] = list_of_texts(nodes);
  return step;
}

}  // namespace

nb::object Model::check(const nb::args& args, const nb::object& tolerance,
                        const nb::object& reference, bool reduce) const {
  const Call call = call_of(args, nb::kwargs());
  CheckOptions options;
  options.compile = options_of(options_);
  options.reduce = reduce;
  if (!tolerance.is_none()) options.tolerance = nb::cast<double>(tolerance);
  ReferenceValues given;
  if (!reference.is_none()) {
    given = reference_of(reference);
    options.reference = &given;
  }
  CheckResult result;
  {
    const Unlocked unlocked;
    result = fxjit::check(*module_, placeholders_of(call), options);
  }
  nb::object reduced = nb::none();
  nb::list inputs;
  if (result.reduced) {
    reduced = nb::cast(
        new Model(name_ + ", reduced", result.reduced, options_, call.kind),
        nb::rv_policy::take_ownership);
    for (const Value& input : result.reduced_inputs)
      inputs.append(object_of(input, call.kind));
  }
  return nb::module_::import_("fxjit.checking")
      .attr("Check")(result.text(), result.difference, node_of(result),
                     text_or_none(result.pass),
                     list_of_texts(result.right_without), step_of(result),
                     reduced, inputs);
}

}  // namespace fxjit::python
