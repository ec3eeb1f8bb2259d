#include "src/passes/lowering/weight_recipes.h"

#include "src/tensor/tensor_memory.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {

std::optional<WeightRecipe> WeightRecipes::of(const ops::Op& op,
                                              const ValueList& args) const {
  constexpr size_t kMostText = 4096;
  WeightRecipe recipe;
  recipe.calls = std::string(op.name()) + "(";
  for (const Value& arg : args) {
    const Value named = map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& tensor = leaf.as_tensor();
      const auto known = made_.find(tensor.storage().get());
      if (known == made_.end()) {
        recipe.sources.push_back(tensor);
        return memory_key(tensor);
      }
      const WeightRecipe& from = known->second;
      recipe.sources.insert(recipe.sources.end(), from.sources.begin(),
                            from.sources.end());
      return from.calls + std::string(dtype_name(tensor.dtype())) +
             tensor.sizes().str() + tensor.strides().str() +
             std::to_string(tensor.offset());
    });
    recipe.calls += repr(named) + ", ";
  }
  recipe.calls += ")";
  if (recipe.calls.size() > kMostText) return std::nullopt;
  return recipe;
}

void WeightRecipes::add(const Tensor& made, WeightRecipe recipe) {
  made_.emplace(made.storage().get(), std::move(recipe));
}

Tensor computed_when_read(const ops::Op& op, const ValueList& args,
                          const Tensor& val) {
  const Dims sizes = val.sizes();
  const DType dtype = val.dtype();
  const auto bytes = static_cast<size_t>(val.numel()) * val.item_size();
  auto storage =
      Storage::deferred(bytes, [&op, args, sizes, dtype](std::byte* out) {
        ValueList read;
        for (const Value& arg : args)
          read.push_back(map_leaves(arg, [](const Value& leaf) {
            return leaf.is_tensor() ? Value(for_one_reading(leaf.as_tensor()))
                                    : leaf;
          }));
        Tensor::wrap(out, sizes, dtype)
            .copy_from(ops::run_eager({op, read}).as_tensor());
      });
  return Tensor::view(std::move(storage), sizes, dtype,
                      contiguous_strides(sizes), 0);
}

}  // namespace fxjit::passes
