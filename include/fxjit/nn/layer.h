// Bases of the library's own modules. They are leaves of traces: a call is
// recorded as one call_module.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fxjit/nn/custom.h"
#include "fxjit/nn/module_types.h"

namespace fxjit::nn {

class LeafModule : public DeclaredModule {
 public:
  using DeclaredModule::DeclaredModule;
  bool is_leaf() const override { return true; }
  std::string constructor_text() const override { return repr(); }
};

template <typename T>
using Layer = Custom<T, LeafModule>;

// What all layers of one class have in common.
struct LayerClass {
  const char* name;           // torch's class, "Softplus".
  const char* function = "";  // The function that forward calls, if it is one.
  // The arguments of forward. Defaults are None, True or False: "x mask=None".
  const char* inputs = "input";
};

// What a layer's constructor is given: its arguments in order, from C++, or by
// their names, from files and generated code.
class LayerArgs {
 public:
  LayerArgs() = default;
  static LayerArgs of(ValueList in_order) {
    LayerArgs args;
    args.in_order_ = std::move(in_order);
    return args;
  }
  // `named` must live until the layer is made.
  explicit LayerArgs(ArgumentReader& named) : named_(&named) {}

 private:
  friend class LayerBase;
  ValueList in_order_;
  size_t taken_ = 0;  // Of those in order.
  ArgumentReader* named_ = nullptr;
};

// How an argument stands in the printed text of a layer.
enum class Shown : uint8_t {
  named,        // "eps=1e-05"
  bare,         // "1e-05"
  unless_none,  // "eps=1e-05", nothing if it is None.
  hidden
};

// Base of the layers of torch.nn. A layer is the list of its constructor's
// arguments, which `field` and `presence` take in their order where the members
// are initialised. The list is what a layer prints, what files and generated
// code make it of, and what its function is called with.
class LayerBase : public LeafModule {
 public:
  LayerBase(const LayerClass& layer, LayerArgs given);
  // Arguments of these names and values; printed bare where a name is empty.
  LayerBase(std::string type_name, const Kwargs& arguments);
  LayerBase(const LayerBase&);
  ~LayerBase() override;

  // Those that make such a layer again.
  Kwargs arguments() const;
  // The members through which forward reads parameters and buffers, by
  // registered name.
  virtual std::vector<std::pair<std::string, Parameter*>> handles();
  std::string extra_repr() const override;
  // Ends the reading of arguments by name.
  void finish_reading() { given_ = {}; }

 protected:
  // 2 of Conv2d, while a layer is made.
  int dims() const { return type_name().end()[-2] - '0'; }
  // The next argument, for a member of its type.
  Argument field(const char* name, Shown shown = Shown::named);
  // The next argument, a bool: whether the layer has the tensor `tensor`, which
  // is what is printed and written.
  bool presence(const char* name, const char* tensor);
  // Prints whether the layer has that tensor. No argument.
  void print_presence(const char* tensor);
  // The next argument: a tensor that the layer keeps under that name, or none.
  // Files have its sizes, since its numbers are state.
  Tensor tensor_field(const char* name);

  // Registers what forward reads through the member `at`.
  template <typename T>
  void add(const char* name, Parameter T::* at, Parameter parameter) {
    this->*keep(name, at) = register_parameter(name, std::move(parameter));
  }
  template <typename T>
  void add(const char* name, Buffer T::* at, Buffer buffer) {
    this->*keep(name, at) = register_buffer(name, std::move(buffer));
  }
  // The member `at` is for that tensor, which this layer may do without.
  template <typename T, typename Handle>
  Handle Module::* keep(const char* name, Handle T::* at) {
    const auto member = static_cast<Handle Module::*>(at);
    handles_.emplace_back(name, member);
    return member;
  }

 private:
  struct Field {
    enum class Of : uint8_t { value, presence, sizes, printed_presence };
    std::string name;
    Value value;
    Shown shown = Shown::named;
    Of of = Of::value;
    const char* tensor = "";  // Of which presence or sizes are told.
  };
  using Handle = std::variant<Parameter Module::*, Buffer Module::*>;

  Field& next(const char* name, Shown shown);
  Value value_of(const Field& field) const;

  LayerArgs given_;
  std::vector<Field> fields_;
  std::vector<std::pair<const char*, Handle>> handles_;
};

// Base of layers that call one function, with a tensor and behind it the
// arguments.
class FunctionLayer : public LayerBase {
 public:
  FunctionLayer(const LayerClass& layer, LayerArgs given);
  // Of modules of the user's.
  FunctionLayer(std::string type_name, std::string function,
                const Kwargs& settings = {});
  Value forward(Value input);

 protected:
  Value run(ValueList inputs) const;

  const std::string function_;
};

// A text as an argument of a template.
template <size_t size>
struct Text {
  char chars[size];
  constexpr Text(const char (&text)[size]) {  // NOLINT: converts by intent
    std::copy_n(text, size, chars);
  }
};

// A layer T of torch's class `name`. Of a FunctionLayer the function and the
// fields are all that there is:
//
//   // x where positive, else x times `negative_slope`.
//   struct LeakyReLU : TorchLayer<LeakyReLU, "LeakyReLU", "F.leaky_relu"> {
//     using TorchLayer::TorchLayer;
//     explicit LeakyReLU(double negative_slope = 0.01)
//         : TorchLayer(LayerArgs::of({negative_slope})) {}
//     const double negative_slope = field("negative_slope");
//   };
//
// The list of layers at the end of a header makes them known to files and to
// generated code.
template <typename T, Text name, Text function = "", Text inputs = "input",
          typename Base = FunctionLayer>
class TorchLayer : public Custom<T, Base> {
 public:
  static constexpr LayerClass kClass{name.chars, function.chars, inputs.chars};
  explicit TorchLayer(LayerArgs given = {})
      : Custom<T, Base>(kClass, std::move(given)) {}
};

// A layer with a forward of its own.
template <typename T, Text name, Text inputs = "input",
          typename Base = LayerBase>
using OwnLayer = TorchLayer<T, name, "", inputs, Base>;

template <typename...>
struct LayerList {};

}  // namespace fxjit::nn
