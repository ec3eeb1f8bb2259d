// Tiles of windows whose lanes are channels: some rows and columns of results
// of one vector of channels, so that each vector of the input is loaded once
// for all results that read it. For jit/emit/windows alone.
#pragma once

#include <map>
#include <vector>

#include "jit/emit/windows/parts.h"

namespace fxjit::jit {

class ChannelTile {
 public:
  // `rows` x `across` results. Products with weights that are not finite must
  // not meet the zeros outside: `exact` leaves them out.
  ChannelTile(const WindowParts& parts, int64_t rows, int64_t across,
              bool exact);

  // What a row or a column of the input is to the results: result `result`
  // reads it by tap `tap`. By its distance from the first one.
  struct Use {
    int64_t result, tap;
  };
  using Uses = std::map<int64_t, std::vector<Use>>;
  // The first channel of a place under the windows, of zeros outside, and
  // whether it lies inside.
  struct Source {
    Value *first, *inside;
  };

  // Results [row][column] of the channels at `place` of the sources, which are
  // in the order of depth, row_uses and column_uses. Weights are vectors by
  // tap from `table` on. The bias may be null.
  Values products(const std::vector<Source>& sources, Value* table, Value* bias,
                  const Place& place) const;
  // Their sums or maxima.
  Values pooled(const std::vector<Source>& sources, const Place& place) const;

  const int64_t rows, across;
  const bool exact;
  const Uses row_uses, column_uses;

 private:
  using Load = llvm::function_ref<Value*(size_t source)>;
  using Combine = llvm::function_ref<Value*(Value*, Value*)>;
  Values joined(Load load, Combine combine) const;
  Value* weight_at(Value* table, int64_t tap) const;

  const WindowParts& parts_;
  const program::WindowForm& form_;
  VectorBuilder& b_;
};

}  // namespace fxjit::jit
