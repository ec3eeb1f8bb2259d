#include "src/import/pt2/weights.h"

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "fxjit/safetensors.h"
#include "src/import/named_members.h"

namespace fxjit::import {
namespace {

// The sizes of a weight's entry in tensor_values, which are numbers.
Dims fixed_sizes(const Field& meta) {
  Dims sizes;
  for (const Field& size : meta.at("sizes").items())
    sizes.push_back(size.at("as_int").size());
  return sizes;
}

// Others lie among the archive's constants.
bool among_weights(const InputSpec& spec) {
  return spec.kind != InputSpec::Kind::constant_tensor && spec.persistent;
}

}  // namespace

WeightReader::WeightReader(Pt2Archive& archive, const std::string& replacement)
    : archive_(archive), replacement_path_(replacement) {
  if (replacement.empty()) return;
  for (auto& [name, tensor] : load_safetensors(replacement))
    replacement_.emplace(name, tensor);
}

const StoredTensor* WeightReader::find_stored(const InputSpec& spec) const {
  const StoredTensor* const weight = archive_.find_weight(spec.target);
  const StoredTensor* const constant = archive_.find_constant(spec.target);
  return among_weights(spec) ? (weight ? weight : constant)
                             : (constant ? constant : weight);
}

void WeightReader::add(nn::Module& root, const InputSpec& spec,
                       const Field& meta, bool own_memory) {
  const bool is_parameter = spec.kind == InputSpec::Kind::parameter;
  const auto parent = parent_of(root, spec.target);
  if (!parent)
    spec.place.fail("expected a name of at most " +
                    std::to_string(kMaxPathDepth) + " parts");
  const auto& [module, name] = *parent;
  const StoredTensor* const stored = find_stored(spec);
  if (const Made* const made =
          stored ? find_made(*stored, is_parameter) : nullptr;
      made && !replacement_.contains(spec.target)) {
    if (is_parameter)
      module->register_parameter(name, made->parameter);
    else
      module->register_buffer(name, made->buffer);
    return;
  }
  Tensor tensor = read(spec, stored, meta);
  if (own_memory) tensor = tensor.clone();
  nn::Parameter parameter;
  nn::Buffer buffer;
  if (is_parameter)
    parameter = module->register_parameter(name, nn::Parameter(tensor));
  else
    buffer = module->register_buffer(name, nn::Buffer(tensor, spec.persistent));
  if (stored)
    made_[stored->entry].push_back({*stored, is_parameter, parameter, buffer});
}

const WeightReader::Made* WeightReader::find_made(const StoredTensor& stored,
                                                  bool is_parameter) const {
  const auto found = made_.find(stored.entry);
  if (found == made_.end()) return nullptr;
  for (const Made& made : found->second)
    if (made.is_parameter == is_parameter && made.stored == stored)
      return &made;
  return nullptr;
}

Tensor WeightReader::read(const InputSpec& spec, const StoredTensor* stored,
                          const Field& meta) {
  const DType dtype = read_dtype(meta.at("dtype"));
  const Dims sizes = fixed_sizes(meta);
  if (replacement_.contains(spec.target))
    return replaced(spec.target, dtype, sizes);
  if (!stored)
    spec.place.fail("the archive has no tensor \"" + spec.target + "\"" +
                    (replacement_.empty()
                         ? "; a .safetensors file with it may be given"
                         : ", nor has " + replacement_path_));
  keeps_own_ = keeps_own_ || among_weights(spec);
  if (stored->dtype != dtype || stored->sizes != sizes)
    stored->place.fail("expected " + std::string(dtype_name(dtype)) +
                       sizes.str() + " as the graph says, got " +
                       std::string(dtype_name(stored->dtype)) +
                       stored->sizes.str());
  return archive_.read(*stored);
}

Tensor WeightReader::replaced(const std::string& name, DType dtype,
                              const Dims& sizes) {
  const Tensor& tensor = replacement_.at(name);
  used_.insert(name);
  const bool converts = is_floating(tensor.dtype()) && is_floating(dtype);
  if (tensor.sizes() != sizes || (tensor.dtype() != dtype && !converts))
    throw UserError("[pt2] " + replacement_path_ + ": tensor \"" + name +
                    "\": expected " + std::string(dtype_name(dtype)) +
                    sizes.str() + ", got " + tensor.describe());
  return tensor.dtype() == dtype ? tensor : tensor.to(dtype);
}

void WeightReader::finish() const {
  constexpr size_t kShown = 5;
  std::vector<std::string> unknown;
  for (const auto& [name, tensor] : replacement_)
    if (!used_.contains(name)) unknown.push_back(name);
  if (unknown.empty()) return;
  if (used_.empty())
    throw UserError("[pt2] " + replacement_path_ +
                    ": none of its tensors is one of the program: the first "
                    "is named \"" +
                    unknown.front() + "\"");
  std::string text = "[pt2] " + replacement_path_ + ": " +
                     std::to_string(unknown.size()) +
                     " tensors that the program does not have:";
  for (size_t i = 0; i < std::min(kShown, unknown.size()); ++i)
    text += " " + unknown[i];
  // Where all weights are from the file, what it has beyond them is another
  // part of the model (a pooler); elsewhere a name may be mistyped.
  log(keeps_own_ ? LogLevel::warning : LogLevel::info, text);
}

}  // namespace fxjit::import
