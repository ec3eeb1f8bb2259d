// The printed tree of a module, as torch's repr.
#include "fxjit/nn/custom.h"
#include "fxjit/nn/module.h"

namespace fxjit::nn {
namespace {

// All lines but the first moved right.
std::string indented(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::string Module::repr() const {
  const std::string extra = extra_repr();
  if (modules_.empty()) return type_name_ + "(" + extra + ")";
  check_nesting();
  std::vector<std::string> texts;
  for (const auto& [name, child] : modules_)
    texts.push_back(child ? indented(child->repr()) : "None");
  std::string out = type_name_ + "(";
  if (!extra.empty()) out += "\n  " + indented(extra);
  for (size_t i = 0, end = 0; i < texts.size(); i = end) {
    end = i + 1;
    while (groups_equal_children() && end < texts.size() &&
           texts[end] == texts[i])
      ++end;
    out += "\n  (" + modules_.entry(i).first;
    if (end - i > 1)
      out += "-" + modules_.entry(end - 1).first +
             "): " + std::to_string(end - i) + " x " + texts[i];
    else
      out += "): " + texts[i];
  }
  return out + "\n)";
}

DeclaredModule::DeclaredModule(std::string type_name, Signature signature)
    : Module(std::move(type_name)), signature_(std::move(signature)) {}

DeclaredModule::DeclaredModule(const DeclaredModule&) = default;
DeclaredModule::~DeclaredModule() = default;

Value DeclaredModule::bind_and_invoke(const ValueList& args,
                                      const Kwargs& kwargs) {
  return invoke_bound(signature().bind(args, kwargs, type_name() + ".forward"));
}

void DeclaredModule::check_forward(size_t parameters, size_t values) const {
  check_arity(parameters, values, type_name() + ".forward");
}

void check_arity(size_t expected, size_t given, const std::string& what) {
  if (expected == given) return;
  throw UserError("[" + what + "] declared arguments: expected " +
                  std::to_string(expected) + " to fit its parameters, got " +
                  std::to_string(given));
}

}  // namespace fxjit::nn
