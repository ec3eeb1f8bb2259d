// A model loaded from a file and compiled, as Python calls it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/pt2.h"

namespace fxjit::python {

class Model {
 public:
  // A .pt2 file, or one of fx::save. `weights` as in pt2::LoadOptions.
  Model(const std::string& path, const std::string& weights,
        const CompileOptions& options);

  nanobind::object call(const nanobind::args& args,
                        const nanobind::kwargs& kwargs) const;

  std::vector<std::string> inputs() const;   // "x: float32[2, s0]"
  std::vector<std::string> outputs() const;  // Names; empty where unnamed.
  std::string graph() const;
  std::string report() const;
  std::string profile(const nanobind::args& args,
                      const nanobind::kwargs& kwargs) const;
  std::string describe() const;  // "fxjit.Model(model.pt2)"

 private:
  Value run(const ValueList& args, const Kwargs& kwargs) const;

  std::string path_;
  std::optional<pt2::Program> program_;
  nn::Ref<fx::GraphModule> module_;
};

}  // namespace fxjit::python
