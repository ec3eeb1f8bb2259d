#include "tools/fxjit/inputs.h"

#include <charconv>
#include <map>
#include <random>

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "src/io/npy.h"
#include "tools/fxjit/numbers.h"

namespace fxjit::command {
namespace {

struct Shape {
  std::optional<DType> dtype;
  Dims sizes;
  int64_t below = 2;  // Integers are drawn from [0, below).
};

int64_t read_number(std::string_view text, bool& fits) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  fits = fits && error == std::errc() && stop == end && number >= 0;
  return number;
}

// "1x3x224x224", with "int64:" in front for another type and "<1000" behind for
// a bound of integers; "" has no dims.
Shape read_shape(const std::string& whole) {
  std::string_view text = whole;
  Shape shape;
  bool fits = true;
  if (const size_t colon = text.find(':'); colon != text.npos) {
    shape.dtype = dtype_from_name(text.substr(0, colon));
    fits = shape.dtype.has_value();
    text.remove_prefix(colon + 1);
  }
  if (const size_t sign = text.find('<'); sign != text.npos) {
    shape.below = read_number(text.substr(sign + 1), fits);
    fits = fits && shape.below > 0;
    text = text.substr(0, sign);
  }
  while (fits && !text.empty()) {
    const size_t end = text.find('x');
    shape.sizes.push_back(read_number(text.substr(0, end), fits));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    fits = fits && (end == text.npos || !text.empty());
  }
  if (!fits)
    throw UserError("--shape " + whole +
                    ": expected sizes like 1x3x224x224 or int64:1x16<1000");
  return shape;
}

Tensor made_up(const Shape& shape, DType dtype, std::mt19937_64& random) {
  std::uniform_real_distribution<double> real(-1, 1);
  if (is_complex(dtype)) {
    Shape parts = shape;
    parts.sizes.push_back(2);
    return function("torch.view_as_complex",
                    {made_up(parts, part_type(dtype), random)})
        .as_tensor();
  }
  const Tensor values = Tensor::empty(shape.sizes, DType::f64);
  for (int64_t i = 0; i < values.numel(); ++i)
    values.data_as<double>()[i] =
        is_floating(dtype) ? real(random)
                           : static_cast<double>(
                                 random() % static_cast<uint64_t>(shape.below));
  return values.to(dtype);
}

// What --input gives: numbers in brackets, one number, or a file.
Tensor given_value(const std::string& text, const ModelInput& input) {
  if (!text.starts_with('[') && !is_number(text)) return io::load_npy(text);
  const Tensor numbers = parse_numbers(text, input.name);
  const bool typed =
      input.known && input.facts.kind == imported::Input::Kind::tensor;
  return typed ? numbers.to(input.facts.dtype) : numbers;
}

Shape exported_shape(const ModelInput& input) {
  const auto fail = [&] {
    throw UserError("input " + input.name +
                    ": the file has no size for it: give --shape " +
                    input.name + "=... or --input");
  };
  if (!input.known) fail();
  Shape shape;
  for (const imported::Size& size : input.facts.sizes) {
    if (!size.fixed && !size.example) fail();
    shape.sizes.push_back(size.fixed ? *size.fixed : *size.example);
  }
  return shape;
}

}  // namespace

InputTexts by_input(const std::vector<std::string>& texts,
                    const std::string& option, const Model& model) {
  InputTexts named;
  for (const std::string& text : texts) {
    const size_t sign = text.find('=');
    if (sign == text.npos)
      throw UserError("--" + option + " " + text + ": expected NAME=...");
    const std::string name = text.substr(0, sign);
    std::string known;
    bool found = false;
    for (const ModelInput& input : model.inputs()) {
      found = found || input.name == name || input.facts.path == name;
      known += (known.empty() ? "" : ", ") + input.name;
    }
    if (!found)
      throw UserError("--" + option + " " + text + ": the model's inputs are " +
                      (known.empty() ? "none" : known));
    if (!named.emplace(name, text.substr(sign + 1)).second)
      throw UserError("--" + option + " " + text + ": " + name +
                      " is given twice");
  }
  return named;
}

const std::string* find_input(const InputTexts& named,
                              const ModelInput& input) {
  auto found = named.find(input.name);
  if (found == named.end()) found = named.find(input.facts.path);
  return found == named.end() ? nullptr : &found->second;
}

ValueList make_inputs(const Model& model, const InputOptions& options) {
  const InputTexts given = by_input(options.values, "input", model);
  const InputTexts shapes = by_input(options.shapes, "shape", model);
  std::mt19937_64 random(options.seed);
  ValueList values;
  for (const ModelInput& input : model.inputs()) {
    const std::string* const shape = find_input(shapes, input);
    if (const std::string* const value = find_input(given, input)) {
      if (shape)
        throw UserError("--shape " + *shape + ": " + input.name + " is " +
                        *value);
      values.emplace_back(given_value(*value, input));
    } else if (input.known &&
               input.facts.kind == imported::Input::Kind::constant) {
      values.push_back(input.facts.constant);
    } else if (input.known &&
               input.facts.kind == imported::Input::Kind::number) {
      values.emplace_back(1);
    } else {
      const Shape sizes = shape ? read_shape(*shape) : exported_shape(input);
      const DType own = input.known ? input.facts.dtype : DType::f32;
      values.emplace_back(made_up(sizes, sizes.dtype.value_or(own), random));
    }
  }
  return values;
}

}  // namespace fxjit::command
