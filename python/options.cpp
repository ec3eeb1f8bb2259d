#include "python/options.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/error.h"
#include "python/signals.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;

template <typename Choice>
using Choices = std::vector<std::pair<std::string, Choice>>;

template <typename T>
std::string listed(const std::vector<std::pair<std::string, T>>& named) {
  std::string text;
  for (const auto& [name, value] : named)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <typename T>
T as(nb::handle value, const std::string& name, const char* wanted) {
  T result;
  if (!nb::try_cast<T>(value, result, /*convert=*/false))
    throw TypeError(name + ": expected " + wanted + ", got " +
                    nb::cast<std::string>(nb::repr(value)));
  return result;
}

template <typename Choice>
Choice choose(nb::handle value, const std::string& name,
              const Choices<Choice>& choices) {
  const auto text = as<std::string>(value, name, "a text");
  for (const auto& [known, choice] : choices)
    if (known == text) return choice;
  throw ValueError(name + ": expected one of " + listed(choices) + ", got " +
                   text);
}

using Setter =
    std::function<void(CompileOptions&, nb::handle, const std::string&)>;

const std::vector<std::pair<std::string, Setter>>& setters() {
  using Options = CompileOptions;
  static const std::vector<std::pair<std::string, Setter>> all{
      {"threads",
       [](Options& o, nb::handle v, const std::string& name) {
         o.threads = as<int>(v, name, "a number");
       }},
      {"new_shape",
       [](Options& o, nb::handle v, const std::string& name) {
         o.new_shape =
             choose<Options::NewShape>(v, name,
                                       {{"wait", Options::NewShape::wait},
                                        {"behind", Options::NewShape::behind}});
       }},
      {"narrow_weights",
       [](Options& o, nb::handle v, const std::string& name) {
         o.narrow_weights = choose<Options::NarrowWeights>(
             v, name,
             {{"never", Options::NarrowWeights::never},
              {"exact", Options::NarrowWeights::exact},
              {"rounded", Options::NarrowWeights::rounded}});
       }},
      {"convolution",
       [](Options& o, nb::handle v, const std::string& name) {
         o.convolution = choose<Options::Convolution>(
             v, name,
             {{"automatic", Options::Convolution::automatic},
              {"direct", Options::Convolution::direct}});
       }},
      {"strict_sums",
       [](Options& o, nb::handle v, const std::string& name) {
         o.strict_sums = as<bool>(v, name, "True or False");
       }},
      {"dot_products",
       [](Options& o, nb::handle v, const std::string& name) {
         o.dot_products = as<bool>(v, name, "True or False");
       }},
      {"tile_products",
       [](Options& o, nb::handle v, const std::string& name) {
         o.tile_products = as<bool>(v, name, "True or False");
       }},
      {"memory_cap",
       [](Options& o, nb::handle v, const std::string& name) {
         const auto bytes = as<int64_t>(v, name, "a number of bytes");
         if (bytes < 0) throw ValueError(name + ": expected bytes from 0");
         o.memory_cap = static_cast<size_t>(bytes);
       }},
      {"loop_limit",
       [](Options& o, nb::handle v, const std::string& name) {
         o.loop_limit = as<int64_t>(v, name, "a number of iterations");
         if (o.loop_limit < 0)
           throw ValueError(name + ": expected iterations from 0");
       }},
      {"sizes",
       [](Options& o, nb::handle v, const std::string&) {
         for (const nb::handle input : v)
           o.sizes.push_back(input_sizes_of(input));
       }},
      {"cache_folder",
       [](Options& o, nb::handle v, const std::string& name) {
         o.cache_folder = as<std::string>(v, name, "a text");
       }},
  };
  return all;
}

}  // namespace

InputSizes input_sizes_of(nb::handle sizes) {
  using Entry = std::tuple<std::string, int64_t, std::optional<int64_t>>;
  InputSizes made;
  if (sizes.is_none()) return made;
  for (const nb::handle size : sizes) {
    auto& named = made.emplace_back();
    if (size.is_none()) continue;
    const auto [name, least, most] =
        as<Entry>(size, "sizes", "None or (name, least, most)");
    named = NamedSize{name, least, most};
  }
  return made;
}

CompileOptions options_of(const nb::dict& given) {
  CompileOptions options;
  options.interrupted = interrupted_by_signals();
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const Setter* setter = nullptr;
    for (const auto& [known, set] : setters())
      if (known == name) setter = &set;
    if (!setter)
      throw TypeError("unknown option " + name + "; there are " +
                      listed(setters()));
    if (!value.is_none()) (*setter)(options, value, name);
  }
  return options;
}

}  // namespace fxjit::python
