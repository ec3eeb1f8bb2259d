// The kinds of inputs of one module: inputs alike in everything but the sizes
// of some dims. For a kind the graph is taken and run through the passes once,
// with names for these dims; each tuple of sizes is that graph evaluated.
//
// A dim, or an integer input, gets a name when its size differs between two
// calls, or at once where the size comes from data. Dims that were equal in all
// calls share one. Sizes 0 and 1 have none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/passes/named_graph.h"
#include "src/passes/normalize.h"

namespace fxjit {

// A call's inputs, told apart into what they are and their sizes.
struct SizedInputs {
  std::string structure;
  std::vector<int64_t> sizes;  // All dims and integers in order of appearance.
  // Of each size 1 + the number of its dim where it comes from data and so
  // varies from the first call on, else 0. Empty: none does.
  std::vector<int> of_data;
};

// Such an entry for each dim and integer of `value`, which comes from data.
void append_of_data(const Value& value, bool from_data, std::vector<int>& to);

// Nothing for inputs that are not dense.
std::optional<SizedInputs> sizes_of(std::span<const Value> inputs);

// Which sizes of a structure have which names, by position; -1: none.
struct SizeNaming {
  std::vector<int> name;
  int count = 0;  // Of names.
  // The values of the names; of equal positions one.
  std::vector<int64_t> values(std::span<const int64_t> sizes) const;
};

// The inputs with names in place of sizes, for a trace: names are those of
// `table`, which gets them.
ValueList named_inputs(std::span<const Value> inputs, const SizeNaming& naming,
                       std::span<const int64_t> sizes, SizeTable& table);

class SizeKinds {
 public:
  struct Kind {
    SizeNaming naming;
    std::vector<int64_t> sizes;  // Those without names are the kind's.
    std::unique_ptr<passes::NamedGraph> graph;
    passes::Part part;  // But for its model.

    // The graph of these sizes; null when they are of another kind.
    const passes::ModelGraph* at(std::span<const int64_t> of) const;
  };
  // More are not made for one structure, and no more are tried after so many
  // failures.
  static constexpr size_t kMostKinds = 16;
  static constexpr int kMostFailures = 2;
  // Inputs of more structures are numbers.
  static constexpr size_t kMostFamilies = 64;

  // The graph for these inputs, with its kind; null when there is none.
  struct Found {
    const Kind* kind = nullptr;
    const passes::ModelGraph* model = nullptr;
  };
  Found find(const SizedInputs& inputs) const;

  // Takes note of a call without a kind. The names that a new kind for it
  // should have; nothing where numbers are better.
  std::optional<SizeNaming> note(const SizedInputs& inputs);
  const Kind& add(const SizedInputs& inputs, Kind kind);
  // What tracing with names ended in.
  void note_failure(const SizedInputs& inputs) {
    ++families_.at(inputs.structure).failures;
  }
  // Why such inputs have no more kinds, told once: the guard of the last one
  // that these fail. Empty when they may have more, or that was told.
  std::string why_no_more(const SizedInputs& inputs);
  void clear() { families_.clear(); }
  size_t count() const;

 private:
  // The calls of one structure.
  struct Family {
    std::vector<int64_t> first;  // The sizes of the first call.
    std::vector<int> group;      // By position; equal for equal histories.
    std::vector<bool> varies;
    std::vector<Kind> kinds;
    int failures = 0;
    bool told = false;
  };

  std::map<std::string, Family> families_;
};

}  // namespace fxjit
