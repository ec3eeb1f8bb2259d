// PyTreeCodeGen: the code generation of graphs traced with containers among
// their concrete arguments. The generated function takes the containers, the
// graph their leaves; the function's result is put together from the graph's
// list of leaves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/fx/codegen.h"
#include "fxjit/fx/pytree.h"

namespace fxjit::fx {

class PyTreeCodeGen : public CodeGen {
 public:
  // `orig_args` are the arguments of the traced function, `in_spec` has one
  // child for each. `of_module`: the function is a method, so the generated
  // code lists "self". Without `out_spec` results are left as they are.
  PyTreeCodeGen(std::vector<std::string> orig_args, TreeSpec in_spec,
                std::optional<TreeSpec> out_spec, bool of_module);

  const std::vector<std::string>& orig_args() const { return orig_args_; }
  const TreeSpec& in_spec() const { return in_spec_; }
  const std::optional<TreeSpec>& out_spec() const { return out_spec_; }
  bool of_module() const { return of_module_; }

  const nn::Signature* signature() const override { return &signature_; }
  std::string gen_fn_def(std::vector<std::string> free_vars,
                         std::string_view return_annotation,
                         bool expanded_def) const override;
  std::string generate_output(std::string_view result) const override;
  ValueList process_inputs(ValueList inputs) const override;
  Value process_outputs(Value outputs) const override;

 private:
  std::string bindings(const std::vector<std::string>& free_vars,
                       bool expanded_def) const;

  std::vector<std::string> orig_args_;
  TreeSpec in_spec_;
  std::optional<TreeSpec> out_spec_;
  bool of_module_;
  nn::Signature signature_;
};

}  // namespace fxjit::fx
