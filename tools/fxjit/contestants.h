// Who takes part in `fxjit bench`: this library in three ways, and other
// runtimes in processes of their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/fxjit/commands.h"
#include "tools/fxjit/model.h"

namespace fxjit::command {

// What is known of one contestant; a line of the table.
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
  // The time that this share of all calls took at most: 0.5 is the median.
  double percentile(double share) const;
  // How far medians of rounds lie from the middle between the least and the
  // greatest, relative to the median.
  double spread() const;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  // The results of the first call. Fills `row`.
  virtual ValueList start(Row& row) = 0;
  // Microseconds of each call in a turn of so many seconds; at least one.
  virtual std::vector<double> turn(double seconds) = 0;
  // The same for calls that do nothing; empty where that needs no care.
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

// Another runtime, by its name among peer_names(). Its files go to `folder`,
// which holds the inputs by then (save_inputs). What goes wrong with it is a
// UserError.
std::unique_ptr<Contestant> make_peer(const std::string& name,
                                      const BenchOptions& options,
                                      const std::string& folder,
                                      const std::vector<std::string>& inputs);
// Writes the tensors among the inputs as files; "NAME=FILE" for each.
std::vector<std::string> save_inputs(const Model& model,
                                     const ValueList& inputs,
                                     const std::string& folder);

}  // namespace fxjit::command
