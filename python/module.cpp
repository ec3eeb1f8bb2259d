// What Python sees of fxjit. fxjit/__init__.py gives it its names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fxjit/compile.h"
#include "fxjit/version.h"
#include "python/errors.h"
#include "python/model.h"
#include "python/options.h"

namespace nb = nanobind;
using fxjit::python::Model;

NB_MODULE(_fxjit, module) {
  fxjit::python::register_errors(module);
  module.attr("__version__") = FXJIT_VERSION_STRING;
  module.def(
      "version_text", &fxjit::version_text,
      "Versions of fxjit, LLVM and oneDNN, and what was found of the CPU.");
  nb::class_<Model>(module, "Model",
                    "A model that was loaded and is compiled for each tuple of "
                    "input shapes it is called with. Calls may run in several "
                    "threads; they release the GIL.")
      .def(
          "__call__", &Model::call,
          "Takes what the model's forward took: torch tensors, NumPy arrays or "
          "anything with DLPack, in lists, tuples and dicts. Gives torch "
          "tensors where an argument is one, else NumPy arrays.")
      .def_prop_ro("inputs", &Model::inputs,
                   "Name, dtype and sizes of each input.")
      .def_prop_ro("outputs", &Model::outputs, "The name of each output.")
      .def_prop_ro("graph", &Model::graph, "The graph, as torch.fx prints it.")
      .def("report", &Model::report,
           "What was compiled for each shape, and why something was not.")
      .def("profile", &Model::profile,
           "Runs the model with these arguments and gives a table with the "
           "time of each step.")
      .def("__repr__", &Model::describe);
  module.def(
      "load",
      [](const std::string& path, const std::string& weights,
         const nb::kwargs& options) {
        return new Model(path, weights, fxjit::python::options_of(options));
      },
      nb::arg("path"), nb::arg("weights") = "", nb::arg("options"),
      nb::rv_policy::take_ownership);
}
