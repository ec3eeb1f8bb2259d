// How the rows of the table of layers are written. For layer_types*.cpp alone.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/nn.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

using Args = ArgumentReader;
using Handles = std::vector<std::pair<std::string, Parameter*>>;

inline std::optional<int64_t> integer_or_none(Args& args, const char* name) {
  if (args.none(name)) return std::nullopt;
  return args.integer(name);
}

// A constructor argument that the layer keeps in the member `at`.
template <typename Member>
struct Field {
  const char* name;
  Member at;

  template <typename T>
  Value of(const T& layer) const {
    const auto& member = layer.*at;
    if constexpr (std::is_same_v<decltype(member), const Dims&>)
      return size_tuple(member);
    else
      return Value(member);
  }

  // As the type of the member of T.
  template <typename T>
  auto read(Args& args, std::type_identity<T>) const {
    using Type = std::remove_cvref_t<decltype(std::declval<T&>().*at)>;
    if constexpr (std::is_same_v<Type, bool>)
      return args.boolean(name);
    else if constexpr (std::is_same_v<Type, int64_t>)
      return args.integer(name);
    else if constexpr (std::is_same_v<Type, double>)
      return args.floating(name);
    else if constexpr (std::is_same_v<Type, std::string>)
      return args.string(name);
    else if constexpr (std::is_same_v<Type, Dims>)
      return args.dims(name);
    else if constexpr (std::is_same_v<Type, std::optional<int64_t>>)
      return integer_or_none(args, name);
    else if constexpr (std::is_same_v<Type, std::optional<double>>)
      return args.none(name) ? Type() : Type(args.floating(name));
    else
      return args.value(name);
  }
};

// An argument that says whether the layer has the tensor `at`.
template <typename Member>
struct Presence {
  const char* name;
  Member at;

  template <typename T>
  Value of(const T& layer) const {
    return (layer.*at).defined();
  }
  template <typename T>
  bool read(Args& args, std::type_identity<T>) const {
    return args.boolean(name);
  }
};

template <typename Member>
Field<Member> field(const char* name, Member at) {
  return {name, at};
}
template <typename Member>
Presence<Member> has(const char* name, Member at) {
  return {name, at};
}

// The members through which forward reads tensors, by registered name.
template <typename T, typename... Members>
Handles handles_of(Module& module, std::pair<const char*, Members>... members) {
  T& layer = static_cast<T&>(module);
  Handles handles = {{members.first, &(layer.*members.second)}...};
  if constexpr (requires { layer.weight; })
    handles.emplace_back("weight", &layer.weight);
  if constexpr (requires { layer.bias; })
    handles.emplace_back("bias", &layer.bias);
  return handles;
}

template <typename T, typename Arguments, typename Make>
ModuleType row(const char* name, Arguments arguments, Make make) {
  ModuleType type = module_type<T>(name, arguments, make);
  if constexpr (requires(T& layer) { layer.weight; })
    type.handles = [](Module& module) { return handles_of<T>(module); };
  return type;
}

// A layer whose constructor takes these arguments in this order.
template <typename T, typename... Fields>
ModuleType layer(const char* name, Fields... fields) {
  return row<T>(
      name,
      [fields...](const T& m) -> Kwargs {
        return {{fields.name, fields.of(m)}...};
      },
      [fields...](Args& args) {
        // Braces read from left to right.
        const std::tuple<decltype(fields.read(args,
                                              std::type_identity<T>()))...>
            given{fields.read(args, std::type_identity<T>())...};
        return std::apply(
            [](const auto&... each) { return T::create(each...); }, given);
      });
}

// A layer of two sizes and a struct that it keeps as `options`, whose members
// the fields are.
template <typename T, typename First, typename Second, typename... Fields>
ModuleType layer_with_options(const char* name, First first, Second second,
                              Fields... fields) {
  return row<T>(
      name,
      [=](const T& m) -> Kwargs {
        return {{first.name, first.of(m)},
                {second.name, second.of(m)},
                {fields.name, fields.of(m.options)}...};
      },
      [=](Args& args) {
        using Options = std::remove_cvref_t<decltype(T::options)>;
        const auto one = first.read(args, std::type_identity<T>());
        const auto two = second.read(args, std::type_identity<T>());
        Options options;
        ((options.*fields.at =
              fields.read(args, std::type_identity<Options>())),
         ...);
        return T::create(one, two, options);
      });
}

// With members beside weight and bias.
template <typename T, typename... Members>
ModuleType with_state(ModuleType type,
                      std::pair<const char*, Members>... members) {
  type.handles = [members...](Module& module) {
    return handles_of<T>(module, members...);
  };
  return type;
}

// Linear and what is like it.
template <typename T>
ModuleType linear_layer(const char* name) {
  return layer<T>(name, field("in_features", &T::in_features),
                  field("out_features", &T::out_features),
                  has("bias", &T::bias));
}

// The row of a batch or instance norm, which may keep running statistics.
template <typename T>
ModuleType running_norm(const char* name) {
  return with_state<T>(
      layer<T>(name, field("num_features", &T::num_features),
               field("eps", &T::eps), field("momentum", &T::momentum),
               has("affine", &T::weight),
               has("track_running_stats", &T::running_mean)),
      std::pair("running_mean", &T::running_mean),
      std::pair("running_var", &T::running_var),
      std::pair("num_batches_tracked", &T::num_batches_tracked));
}

template <typename T>
ModuleType convolution(const char* name) {
  return row<T>(
      name,
      [](const T& m) -> Kwargs {
        return {{"in_channels", m.in_channels},
                {"out_channels", m.out_channels},
                {"kernel_size", m.kernel_size},
                {"stride", m.stride},
                {"padding", m.padding},
                {"dilation", m.dilation},
                {"groups", m.groups},
                {"bias", m.bias.defined()},
                {"output_padding", m.output_padding}};
      },
      [](Args& a) {
        const int64_t in = a.integer("in_channels");
        const int64_t out = a.integer("out_channels");
        const Value kernel_size = size_tuple(a.dims("kernel_size"));
        return T::create(
            in, out, kernel_size,
            ConvOptions{.stride = a.value("stride"),
                        .padding = a.value("padding"),
                        .dilation = a.value("dilation"),
                        .groups = a.integer("groups"),
                        .bias = a.boolean("bias"),
                        .output_padding = a.value("output_padding")});
      });
}

template <typename T>
ModuleType max_pool(const char* name) {
  return layer<T>(name, field("kernel_size", &T::kernel_size),
                  field("stride", &T::stride), field("padding", &T::padding),
                  field("dilation", &T::dilation),
                  field("ceil_mode", &T::ceil_mode));
}

template <typename T, typename... Fields>
ModuleType avg_pool(const char* name, Fields... more) {
  return layer<T>(name, field("kernel_size", &T::kernel_size),
                  field("stride", &T::stride), field("padding", &T::padding),
                  field("ceil_mode", &T::ceil_mode),
                  field("count_include_pad", &T::count_include_pad), more...);
}

template <typename T>
ModuleType adaptive_pool(const char* name) {
  return layer<T>(name, field("output_size", &T::output_size));
}

}  // namespace fxjit::nn
