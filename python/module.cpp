// What Python sees of fxjit. fxjit/__init__.py gives it its names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fxjit/compile.h"
#include "fxjit/exported.h"
#include "fxjit/thread_pool.h"
#include "fxjit/version.h"
#include "python/errors.h"
#include "python/graph_builder.h"
#include "python/log_queue.h"
#include "python/model.h"
#include "python/options.h"
#include "python/request_json.h"
#include "python/request_message.h"
#include "python/shared_weights.h"
#include "python/weight_check.h"
#include "src/ops/table/aliasing.h"
#include "src/support/disk/mapping_guard.h"

namespace nb = nanobind;
using namespace nb::literals;
using fxjit::python::BuiltNode;
using fxjit::python::GraphBuilder;
using fxjit::python::Model;
using fxjit::python::WeightCheck;

namespace {

// What graphs.py and torch_backend.py are made of.
void register_builders(nb::module_& module) {
  module.def("has_function", [](const std::string& name) {
    return fxjit::pt2::exported_function(name).has_value();
  });
  // Whether some call of it gives memory of an argument: of a known function.
  module.def("may_alias", [](const std::string& name) {
    const auto target = fxjit::pt2::exported_function(name);
    return !target || !target->op() || fxjit::ops::may_alias(*target->op());
  });
  // Whether PyTorch refuses a tensor whose elements share places as the first
  // argument of a known function that writes it.
  module.def("refuses_shared_places", [](const std::string& name) {
    const auto target = fxjit::pt2::exported_function(name);
    return target->op()->row.facts.overlap != fxjit::ops::Overlap::ignored;
  });
  // Programs' calls of `name`, which fxjit lacks, run the function from now on.
  module.def("host_function", [](const std::string& name,
                                 const nb::object& function) {
    GraphBuilder::define(std::string(fxjit::pt2::kHosted) + name, function);
  });
  module.def("check_options", [](const nb::kwargs& options) {
    static_cast<void>(fxjit::python::options_of(options));
  });
  nb::class_<BuiltNode>(module, "BuiltNode");
  nb::class_<GraphBuilder>(module, "GraphBuilder")
      .def(nb::init<std::string>(), "name"_a)
      .def("placeholder", &GraphBuilder::placeholder, "name"_a, "like"_a.none(),
           "sizes"_a.none(), "given"_a, nb::keep_alive<0, 1>())
      .def("attribute", &GraphBuilder::attribute, "name"_a, "array"_a,
           "in_file"_a = false, nb::keep_alive<0, 1>())
      .def("body", &GraphBuilder::body, "name"_a, "body"_a, "result"_a,
           nb::keep_alive<0, 1>())
      .def("call", &GraphBuilder::call, "target"_a, "args"_a, "kwargs"_a,
           "text"_a, "like"_a.none())
      .def("call_method", &GraphBuilder::call_method, "target"_a, "args"_a,
           "kwargs"_a, "text"_a, "like"_a.none())
      .def("call_python", &GraphBuilder::call_python, "title"_a, "function"_a,
           "args"_a, "kwargs"_a, "text"_a, "like"_a.none(),
           nb::keep_alive<0, 1>())
      .def("compile", &GraphBuilder::compile, "result"_a, "options"_a,
           nb::rv_policy::take_ownership);
  module.def("forget_shared_weights", &fxjit::python::forget_shared_weights);
  nb::class_<WeightCheck>(module, "WeightCheck")
      .def(nb::init<const std::vector<size_t>&, nb::list>(), "positions"_a,
           "args"_a)
      .def_static("sample_of", &WeightCheck::sample_of, "tensor"_a)
      .def("changed", [](const WeightCheck& check, const nb::list& args) {
        return check.changed(args);
      }, "args"_a);
}

void register_model(nb::module_& module) {
  nb::class_<Model>(module, "Model",
                    "A model that was loaded and is compiled for each tuple of "
                    "input shapes it is called with. Calls may run in several "
                    "threads; they release the GIL.")
      .def(nb::init<const std::string&, const std::string&, nb::dict,
                    const std::string&>(),
           "path"_a, "weights"_a, "options"_a, "name"_a = "",
           "As fxjit.load.")
      .def("__call__", &Model::call,
           nb::sig("def __call__(self, *args: typing.Any, "
                   "out: typing.Any = None, **kwargs: typing.Any) -> "
                   "typing.Any"),
           "Takes what the model's forward took: torch tensors, NumPy arrays "
           "or anything with DLPack, in lists, tuples and dicts. Gives torch "
           "tensors where an argument is one, else NumPy arrays; of calls "
           "without arrays, tensors where the model came from PyTorch. With "
           "out= (an array, or a list of one for each result) results are "
           "written there, and it is given back.")
      .def("call_leaves", &Model::call_leaves, "leaves"_a,
           nb::sig("def call_leaves(self, leaves: list[typing.Any]) -> "
                   "list[typing.Any]"),
           "A call by one value for each of `inputs`, as a list of one for each "
           "of `outputs`, whatever containers the model takes and gives.")
      .def_prop_ro("inputs", &Model::inputs,
                   nb::for_getter(nb::sig(
                       "def inputs(self) -> list[fxjit.report.Input]")),
                   "Name, dtype and sizes of each input.")
      .def_prop_ro("outputs", &Model::outputs,
                   nb::for_getter(nb::sig(
                       "def outputs(self) -> list[fxjit.report.Output]")),
                   "The name of each output, with dtype and sizes.")
      .def_prop_ro("graph", &Model::graph,
                   nb::for_getter(nb::sig(
                       "def graph(self) -> fxjit.drawing.Graph")),
                   "The graph, as torch.fx prints it; drawn in notebooks.")
      .def("report", &Model::report,
           nb::sig("def report(self) -> fxjit.report.Report"),
           "What was compiled for each shape, and why something was not: a "
           "text, with the steps as `rows`.")
      .def_prop_ro("compiled_size", &Model::compiled_size,
                   "Programs that are kept for shapes, and their bytes.")
      .def("profile", &Model::profile,
           nb::sig("def profile(self, *args: typing.Any, "
                   "**kwargs: typing.Any) -> fxjit.report.Profile"),
           "Runs the model with these arguments and gives a table with the "
           "time of each step, which are its `rows`.")
      .def("_check", &Model::check, "args"_a, "tolerance"_a.none(),
           "reference"_a.none(), "reduce"_a)
      .def("save", &Model::save, "path"_a,
           "Writes the program: as it was loaded, or as fx::save does.")
      .def("to_folder", &Model::to_folder, "folder"_a, "name"_a = "FxModule",
           "Writes a Python package with the graph as a torch.nn.Module.")
      .def("__copy__", &Model::copy, nb::rv_policy::take_ownership)
      .def("__deepcopy__", [](const Model& model, nb::handle) {
        return model.copy();
      }, nb::rv_policy::take_ownership)
      .def_prop_rw("pickled_by_path", &Model::pickled_by_path,
                   &Model::set_pickled_by_path,
                   "False: a pickle holds the model's file, weights included. "
                   "True: it names the file, which then has to be there where "
                   "the pickle is read. ValueError for models without a file.")
      .def("__reduce__", &Model::reduced)
      .def("_set_written", &Model::set_written)
      .def_prop_rw("_containers", &Model::containers, &Model::set_containers,
                   nb::for_setter(nb::arg("made").none()))
      .def("_declare", &Model::declare, "sizes"_a)
      .def("__repr__", &Model::describe);
}

}  // namespace

NB_MODULE(_fxjit, module) {
  // Dynamo keeps what it compiled, models among it, until the process ends.
  nb::set_leak_warnings(false);
  fxjit::python::register_errors(module);
  fxjit::python::register_logging(module);
  module.attr("__version__") = FXJIT_VERSION_STRING;
  module.def(
      "version_text", &fxjit::version_text,
      "Versions of fxjit, LLVM and oneDNN, and what was found of the CPU.");
  module.def("available_cpus", [] {
    return fxjit::support::ThreadPool::shared().size();
  }, "CPUs that the process may use, by affinity and by its group's quota.");
  module.def("guard_mapped_files", &fxjit::support::guard_mapped_files,
             "Files of models that are cut off while they are mapped read as "
             "zeros from now on, where SIGBUS ended the process before.");
  module.def("lost_files", [] {
    nb::list files;
    for (const fxjit::support::FileVersion& file : fxjit::support::lost_files())
      files.append(nb::make_tuple(file.device, file.inode, file.bytes,
                                  file.modified_ns));
    return files;
  }, nb::sig("def lost_files() -> list[tuple[int, int, int, int]]"),
     "Device, inode, size and time of change, as they were when it was mapped, "
     "of each file that reads as zeros since.");
  register_model(module);
  register_builders(module);
  fxjit::python::register_request_json(module);
  fxjit::python::register_request_message(module);
}
