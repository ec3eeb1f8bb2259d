// A model, compiled, as Python calls it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/pt2.h"
#include "python/model_file.h"
#include "python/values.h"

namespace fxjit::python {

class Model {
 public:
  // A .pt2 file, or one of fx::save. `weights` as in pt2::LoadOptions,
  // `options` as options_of() takes them. Errors name it by `name`, or by the
  // path.
  Model(const std::string& path, const std::string& weights,
        nanobind::dict options, const std::string& name = {});
  // A graph that is there; `name` stands for it in texts. Results of calls
  // without arrays among their arguments are of `kind`, all others as the
  // arguments are.
  Model(std::string name, nn::Ref<fx::GraphModule> module,
        nanobind::dict options, ArrayKind kind);

  // The keyword `out`: arrays for the results, which are given back.
  nanobind::object call(const nanobind::args& args,
                        const nanobind::kwargs& kwargs) const;

  // A call by the leaves of its arguments, one for each of inputs(), as the
  // list of the leaves of its result, one for each of outputs() where those are
  // known.
  nanobind::list call_leaves(const nanobind::list& leaves) const;

  // What is called with the result of each call, and gives what the caller
  // gets; None: nothing.
  nanobind::object containers() const { return containers_; }
  void set_containers(nanobind::object made) { containers_ = std::move(made); }

  nanobind::list inputs() const;  // Of fxjit.report.Input.
  nanobind::list outputs()
      const;  // Of fxjit.report.Output; empty where unnamed.
  nanobind::object graph() const;   // A Graph of fxjit/drawing.py.
  nanobind::object report() const;  // fxjit.report.Report
  // Programs that are kept for shapes, and their bytes.
  std::pair<size_t, size_t> compiled_size() const;
  nanobind::object profile(const nanobind::args& args,
                           const nanobind::kwargs& kwargs) const;
  // Of fxjit.checking.Check. `reference`: None, or a tuple of a name, a list of
  // results and a dict of values inside of the model.
  nanobind::object check(const nanobind::args& args,
                         const nanobind::object& tolerance,
                         const nanobind::object& reference, bool reduce) const;
  std::string describe() const;  // "fxjit.Model(model.pt2)"

  // A model of its own with the same weights: those that calls write are
  // copied.
  Model* copy() const;
  // For pickle: a function of fxjit/saved.py and the arguments with which it
  // makes the same model, in another process as well.
  nanobind::tuple reduced() const;
  // Whether pickles name the model's files instead of holding them. To switch
  // it on is a ValueError for a model without a file.
  bool pickled_by_path() const { return by_path_; }
  void set_pickled_by_path(bool by_path);
  void set_written(const nanobind::dict& tensors) const;
  // Names for sizes of the inputs, as input_sizes_of() takes them for each.
  // Drops what was compiled.
  void declare(const nanobind::list& sizes);
  // A program of torch.export as it was loaded, others as fx::save has them.
  void save(const std::string& path) const;
  // A package that torch imports (see GraphModule::to_folder).
  void to_folder(const std::string& folder, const std::string& name) const;

 private:
  // An array of a type that tensors lack, which gets its numbers behind a call.
  struct Later {
    size_t output;
    Tensor bits;
    CarriedType type;
  };
  struct Call {
    ValueList args;
    Kwargs kwargs;
    ArrayKind kind = ArrayKind::numpy;
    nanobind::object out;  // Null: none.
    std::vector<Tensor> outputs;
    std::vector<Later> later;
  };
  void prepare(const CompileOptions& options);
  ArrayKind kind_without_arrays() const;
  void warn_of_gradients() const;
  void finish(Call& call, const Arrays& arrays) const;
  void find_carried_types();
  CarriedType type_of_input(size_t i) const;
  size_t place_of(std::string_view path) const;  // Of an input of such types.
  nanobind::object taken(size_t i, nanobind::handle argument) const;
  CarriedType type_of_output(size_t i) const;
  nanobind::object output_object(const Value& result, size_t i,
                                 ArrayKind kind) const;
  nanobind::object result_object(const Value& result, ArrayKind kind) const;
  void take_outputs(Call& call, nanobind::handle out, Arrays& arrays) const;
  static void copy_later(const Call& call);
  Call call_of(const nanobind::args& args,
               const nanobind::kwargs& kwargs) const;
  Value run(const Call& call) const;
  // By position, checked; and one value for each placeholder.
  ValueList arguments_of(const Call& call) const;
  ValueList placeholders_of(const Call& call) const;
  // Parameters and buffers that calls write, by name.
  std::vector<std::pair<std::string, Tensor>> written() const;
  std::string archive() const;
  nanobind::dict written_arrays() const;

  std::string name_;
  nanobind::dict options_;
  ModelFile file_, weights_;
  bool by_path_ = false;
  std::optional<pt2::Program> program_;
  nn::Ref<fx::GraphModule> module_;
  bool carries_ = false;  // The file declares types that tensors lack.
  // What makes numbers of an input's strings, once made.
  mutable std::vector<nanobind::object> text_places_;
  nanobind::object containers_ = nanobind::none();
  ArrayKind kind_ = ArrayKind::numpy;
  Extent extent_ = Extent::elements;  // Of arguments.
  mutable bool warned_ = false;       // Of gradients; under Python's lock.
};

}  // namespace fxjit::python
