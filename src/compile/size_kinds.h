// The kinds of inputs of one module: inputs alike in everything but the sizes
// of some dims. For a kind the graph is taken and run through the passes once,
// with names for these dims; each tuple of sizes is that graph evaluated.
//
// A dim, or an integer input, has a name if one was declared, and gets one when
// its size differs between two calls, or at once where the size comes from
// data. Dims that were equal in all calls share one. Sizes 0 and 1 have none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/named_sizes.h"
#include "fxjit/report.h"
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
  // What is declared of each; null: nothing.
  std::vector<const NamedSize*> declared;
};

// Such an entry for each dim and integer of `value`, which comes from data.
void append_of_data(const Value& value, bool from_data, std::vector<int>& to);

// Nothing for inputs that are not dense. `declared` is DeclaredInputs::of them;
// empty: nothing is declared.
std::optional<SizedInputs> sizes_of(std::span<const Value> inputs,
                                    std::vector<const NamedSize*> declared);

// Which sizes of a structure have which names, by position; -1: none.
struct SizeNaming {
  std::vector<int> name;
  std::vector<NamedSize> names;  // All with a name and from 2 on.
  // The values of the names; of equal positions one.
  std::vector<int64_t> values(std::span<const int64_t> sizes) const;
};

// The inputs with names in place of sizes, for a trace: names are those of
// `table`, which gets them.
ValueList named_inputs(std::span<const Value> inputs, const SizeNaming& naming,
                       std::span<const int64_t> sizes, SizeTable& table);

class SizeKinds {
 public:
  // Graphs of more bytes than this are dropped, the least recently used first,
  // but for the newest.
  explicit SizeKinds(size_t most_bytes) : most_bytes_(most_bytes) {}

  struct Kind {
    SizeNaming naming;
    std::vector<int64_t> sizes;  // Those without names are the kind's.
    std::unique_ptr<passes::NamedGraph> graph;
    passes::Part part;   // But for its model.
    std::string inputs;  // "int64[batch, length], int64[batch, length]"
    uint64_t last_use = 0;

    // The graph of these sizes; null when they are of another kind.
    const passes::ModelGraph* at(std::span<const int64_t> of) const;
    KindReport report() const;
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
  Found find(const SizedInputs& inputs);

  // Takes note of a call without a kind. The names that a new kind for it
  // should have; nothing where numbers are better.
  std::optional<SizeNaming> note(const SizedInputs& inputs);
  void add(const SizedInputs& inputs, Kind kind);
  // Takes note that numbers serve inputs which names do not, and why.
  void note_failure(const SizedInputs& inputs, const std::string& why);
  // Why such inputs have no more kinds, told once: the guard of the last one
  // that these fail. Empty when they may have more, or that was told.
  std::string why_no_more(const SizedInputs& inputs);
  void clear() { families_.clear(); }
  size_t count() const;
  // What the graphs take of memory, as NamedGraph::bytes() counts.
  size_t bytes() const;
  // What reports say of the kinds, and of inputs that have none.
  std::vector<KindReport> report() const;

 private:
  // The calls of one structure.
  struct Family {
    std::vector<int64_t> first;  // The sizes of the first call.
    std::vector<int> group;      // By position; equal for equal histories.
    std::vector<bool> varies;
    std::vector<Kind> kinds;
    size_t made = 0;  // Kinds, dropped ones as well.
    int failures = 0;
    bool told = false;
    KindReport failed = {};  // The last one of them.
  };

  static Family first_call(const SizedInputs& inputs);

  // Makes room for a graph of `added` bytes.
  void drop_over(size_t added);

  const size_t most_bytes_;
  uint64_t uses_ = 0;
  std::map<std::string, Family> families_;
};

}  // namespace fxjit
