// The part of ProgramReader that reads what a program is called with.
#include "fxjit/fx/pytree.h"
#include "fxjit/log.h"
#include "src/import/pt2/program_reader.h"
#include "src/import/pt2/tree.h"

namespace fxjit::import {

using pt2::Input;

void ProgramReader::read_inputs() {
  const Field tensors = graph_field_.at("tensor_values");
  for (const InputSpec& spec : input_specs_) {
    if (spec.is_weight()) continue;
    Input& input = inputs_.emplace_back();
    formulas_.emplace_back();
    input.name = spec.name;
    if (spec.kind == InputSpec::Kind::constant) {
      input.kind = Input::Kind::constant;
      input.constant = spec.constant;
      if (input.name.empty())
        input.name = "input_" + std::to_string(inputs_.size() - 1);
    } else if (spec.place.variant().first == "as_tensor") {
      const auto meta = tensors.find(spec.name.c_str());
      if (!meta) tensors.fail("no entry for the input \"" + spec.name + "\"");
      read_tensor_input(input, *meta);
    } else {
      read_number_input(input, spec.name);
    }
  }
}

void ProgramReader::read_tensor_input(Input& input, const Field& meta) {
  input.dtype = read_dtype(meta.at("dtype"));
  for (const Field& size : meta.at("sizes").items())
    input.sizes.push_back(
        read_size(size, formulas_.back().emplace_back(std::nullopt)));
  if (input.sizes.size() > static_cast<size_t>(kMaxRank))
    meta.at("sizes").fail("expected at most " + std::to_string(kMaxRank) +
                          " dims");
}

pt2::Size ProgramReader::read_size(const Field& size,
                                   std::optional<SizeFormula>& formula) {
  const auto [kind, value] = size.variant();
  if (kind == "as_int")
    return {std::to_string(value.size()), value.size(), {}, {}, {}};
  if (kind != "as_expr") size.fail("expected as_int or as_expr");
  const std::string& text = value.at("expr_str").text();
  formula = SizeFormula::parse(text);
  std::optional<int64_t> example;
  if (const auto hint = value.find("hint"))
    if (hint->variant().first == "as_int") example = hint->at("as_int").size();
  return {formula ? formula->str() : text, {}, {}, {}, example};
}

// An integer that the graph names by a symbol, or a plain number.
void ProgramReader::read_number_input(Input& input, const std::string& name) {
  input.kind = Input::Kind::number;
  const auto values = graph_field_.find("sym_int_values");
  if (!values) return;
  const auto value = values->find(name.c_str());
  if (!value || value->variant().first != "as_expr") return;
  formulas_.back().push_back(
      SizeFormula::parse(value->at("as_expr").at("expr_str").text()));
  const auto& formula = formulas_.back().back();
  input.sizes.push_back({formula ? formula->str() : name, {}, {}, {}, {}});
}

// in_spec is ((positional arguments), {keyword arguments}).
void ProgramReader::read_arguments(const Field& call) {
  const Field place = call.at("in_spec");
  const Value tree = read_tree(place);
  if (!tree.is_tuple() || tree.size() != 2 || !tree.at(0).is_sequence() ||
      !tree.at(1).is_dict())
    place.fail("expected a tuple of positional and keyword arguments");
  std::vector<std::string> names;
  if (const auto given = call.find("forward_arg_names"))
    for (const Field& name : given->items()) names.push_back(name.text());
  const size_t positional = tree.at(0).size();
  for (size_t i = 0; i < positional; ++i)
    arguments_.push_back(
        {i < names.size() ? names[i] : "arg_" + std::to_string(i), false,
         tree.at(0).at(i)});
  for (const auto& [key, part] : tree.at(1).as_dict()) {
    if (!key.is_string()) place.fail("expected texts as keywords");
    arguments_.push_back({std::string(key.as_string()), true, part});
  }
  size_t leaves = 0;
  for (Argument& argument : arguments_) {
    argument.first = leaves;
    argument.leaves = fx::TreeSpec(argument.tree).num_leaves();
    leaves += argument.leaves;
  }
  if (leaves != inputs_.size())
    place.fail("it has " + std::to_string(leaves) + " leaves, the signature " +
               std::to_string(inputs_.size()) + " inputs");
}

void ProgramReader::name_inputs() {
  for (const Argument& argument : arguments_) {
    const auto paths = leaf_paths(argument.tree, argument.name);
    for (size_t i = 0; i < paths.size(); ++i)
      inputs_[argument.first + i].path = paths[i];
  }
}

std::map<std::string, Range> ProgramReader::read_ranges() const {
  std::map<std::string, Range> ranges;
  const auto field = archive_.model().find("range_constraints");
  if (!field) return ranges;
  for (const auto& [symbol, entry] : field->members()) {
    Range range;
    // Up to 2 means that sizes of 0 and 1 were not exported apart: torch lets
    // them pass as well.
    if (const auto least = entry.find("min_val"))
      if (least->integer() > 2) range.least = least->integer();
    if (const auto most = entry.find("max_val")) range.most = most->integer();
    ranges.emplace(symbol, range);
  }
  return ranges;
}

std::shared_ptr<const InputChecks> ProgramReader::make_checks() {
  const auto ranges = read_ranges();
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t d = 0; d < formulas_[i].size(); ++d) {
      const auto symbol =
          formulas_[i][d] ? formulas_[i][d]->symbol() : std::nullopt;
      const auto found = symbol ? ranges.find(*symbol) : ranges.end();
      if (found == ranges.end()) continue;
      inputs_[i].sizes[d].least = found->second.least;
      inputs_[i].sizes[d].most = found->second.most;
    }
  std::vector<Guard> guards;
  std::vector<std::string> unread;
  if (const auto texts = archive_.model().find("guards_code"))
    for (const Field& text : texts->items()) {
      if (auto formula = SizeFormula::parse(text.text()))
        guards.push_back({text.text(), std::move(*formula)});
      else
        unread.push_back(text.text());
    }
  auto checks = std::make_shared<const InputChecks>(
      "pt2", arguments_, inputs_, formulas_, ranges, std::move(guards));
  for (const std::string& text : checks->unchecked_guards())
    unread.push_back(text);
  for (const std::string& text : unread)
    log(LogLevel::warning, "[pt2] " + archive_.path() +
                               ": calls are not checked for the condition " +
                               text);
  return checks;
}

}  // namespace fxjit::import
