// The contestants of `fxjit bench`: this library in three ways, and other
// runtimes in processes of their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/fxjit/commands.h"
#include "tools/fxjit/model.h"

namespace fxjit::command {

// A line of the table: what is known of one contestant.
struct Row {
  std::string name;
  bool own = false;       // This library, not another runtime.
  std::string version;    // The other runtime's.
  std::string error;      // Why there are no times.
  double first_ms = 0;    // From the model's file to the first answer.
  double empty_us = 0;    // What an empty call takes; taken off below.
  double difference = 0;  // From the first row's answer.
  std::vector<std::vector<double>> rounds;  // Microseconds of each call.

  bool measured() const { return error.empty() && !rounds.empty(); }
  size_t calls() const;
  // The time in microseconds that the share `share` of all calls did not
  // exceed; 0.5 gives the median.
  double percentile(double share) const;
  // Half of the distance between the least and the greatest median of a round,
  // relative to the median of all calls.
  double spread() const;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  // Loads the model, calls it once and returns the results. Fills `row`.
  virtual ValueList start(Row& row) = 0;
  // Calls the model for `seconds` seconds. Returns the microseconds of each
  // call, at least one.
  virtual std::vector<double> turn(double seconds) = 0;
  // The same for calls that do nothing. Empty for contestants without an
  // overhead of calls.
  virtual std::vector<double> empty(double) { return {}; }
};

// A model by the interpreter, compiled, or compiled without fusion.
class OwnWay : public Contestant {
 public:
  enum class Kind { interpreter, unfused, fused };
  OwnWay(Kind kind, const BenchOptions& options);

  ValueList start(Row& row) override;
  std::vector<double> turn(double seconds) override;
  const char* name() const;
  const Model& model() const { return model_; }
  void give(ValueList inputs) { inputs_ = std::move(inputs); }

 private:
  Kind kind_;
  Model model_;
  double load_ms_ = 0;
  ValueList inputs_;
};

// Another runtime, by a name of peer_names(). Its files go to `folder`, where
// save_inputs() must have written the inputs. Throws UserError if something is
// wrong with the runtime.
std::unique_ptr<Contestant> make_peer(const std::string& name,
                                      const BenchOptions& options,
                                      const std::string& folder,
                                      const std::vector<std::string>& inputs);
// Writes the tensors among the inputs to files. Returns "NAME=FILE" for each.
std::vector<std::string> save_inputs(const Model& model,
                                     const ValueList& inputs,
                                     const std::string& folder);

}  // namespace fxjit::command
