// Vectors of results that sum the channels of their group: where they begin,
// and which elements of the input their lanes take. For jit/emit/windows alone.
#pragma once

#include "jit/emit/windows/parts.h"

namespace fxjit::jit {

struct GroupVector {
  Value* first;   // Its first result.
  Value* begin;   // The first one of its block of weights.
  Value* group;   // The first result's group, ...
  Value* before;  // ... and how many results of it lie before.
};

class GroupVectors {
 public:
  // Divides numbers of the call: made once, in front of all loops.
  explicit GroupVectors(const WindowParts& parts);

  void each(llvm::function_ref<void(const GroupVector&)> body) const;

 private:
  using Body = llvm::function_ref<void(const GroupVector&)>;
  // Vectors of one group each, and of whole groups. The last one overlaps the
  // one before.
  void along_groups(Value* begin, Value* group, Body body) const;
  void along_whole(Value* begin, Body body) const;
  // Vectors of any results of a block. One that would have those of more groups
  // than it can begins some results earlier, as does the last one.
  void along_mixed(Value* begin, Value* group, Body body) const;
  Values next_of(const GroupVector& vector) const;

  const WindowParts& parts_;
  VectorBuilder& b_;
  Value *results_, *block_, *blocks_, *groups_of_block_;
};

class GroupLanes {
 public:
  // All lanes are results of one group unless they may be `mixed`. `groups` of
  // the image.
  GroupLanes(const WindowParts& parts, const GroupVector& vector, Value* groups,
             bool mixed);

  // The first lane's group in an image of the input.
  Value* input_of(Value* image) const;

  // Where lanes find a channel, if they permute or if channels lie side by
  // side.
  struct Channel {
    Value* order = nullptr;
    Values places;  // Of the groups, from the first one's first channel.
  };
  Channel channel(Value* c) const;
  // What lanes take of a column. `at` has the first group's first channel, or
  // the channel itself where channels lie apart.
  Value* elements(Value* at, const Channel& channel) const;

 private:
  Value* permuted(Value* elements, Value* order) const;

  const WindowParts& parts_;
  const program::WindowForm& form_;
  VectorBuilder& b_;
  Value* group_;
  // Of each further group: where it begins, from the first one's beginning, and
  // numbers that are negative in its lanes and those behind them.
  Values offsets_, signs_;
};

}  // namespace fxjit::jit
