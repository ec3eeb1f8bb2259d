// Measures one model in several ways and beside other runtimes, in turns, so
// that a change of the machine's speed meets all alike.
#include <algorithm>
#include <cstdio>
#include <set>

#include "fxjit/compile.h"
#include "fxjit/error.h"
#include "src/support/machine/cpu_quota.h"
#include "tools/fxjit/bench_output.h"
#include "tools/fxjit/contestants.h"
#include "tools/fxjit/places.h"
#include "tools/fxjit/results.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

struct Entry {
  std::unique_ptr<Contestant> contestant;
  Row row;
};

std::vector<OwnWay*> add_own(std::vector<Entry>& entries,
                             const BenchOptions& options) {
  std::vector<OwnWay*> own;
  for (const OwnWay::Kind kind : {OwnWay::Kind::interpreter,
                                  OwnWay::Kind::unfused, OwnWay::Kind::fused}) {
    auto way = std::make_unique<OwnWay>(kind, options);
    own.push_back(way.get());
    Entry& entry = entries.emplace_back();
    entry.row.name = way->name();
    entry.row.own = true;
    entry.contestant = std::move(way);
  }
  return own;
}

void add_peers(std::vector<Entry>& entries, const BenchOptions& options,
               const std::string& folder,
               const std::vector<std::string>& inputs) {
  std::set<std::string> added;
  for (const std::string& name : options.against) {
    if (!added.insert(name).second) continue;
    Entry& entry = entries.emplace_back();
    entry.row.name = name;
    entry.contestant = make_peer(name, options, folder, inputs);
  }
}

bool is_half(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

// Sums of f32 differ by less, answers of another graph by more.
double tolerance_of(const BenchOptions& options, const Model& model) {
  constexpr double kSingle = 1e-4, kHalf = 3e-2;
  if (options.tolerance) return *options.tolerance;
  for (const auto& [name, weight] : model.module().named_parameters())
    if (is_half(weight.tensor().dtype())) return kHalf;
  return kSingle;
}

// Runs `work` for the entry; what goes wrong with another runtime stands in its
// row.
template <typename Work>
void guarded(Entry& entry, const Work& work) {
  if (entry.row.own) return work();  // Ends the command.
  try {
    work();
  } catch (const UserError& error) {
    entry.row.error = error.what();
    entry.contestant.reset();  // Ends its process.
  }
}

// First answers, compared with the first one's.
void start(std::vector<Entry>& entries, double tolerance, Progress& progress) {
  ValueList expected;
  for (Entry& entry : entries) {
    progress.say("starting " + entry.row.name);
    guarded(entry, [&] {
      const ValueList results = entry.contestant->start(entry.row);
      if (&entry == &entries.front()) expected = results;
      entry.row.error = unlike(expected, results, tolerance);
      if (entry.row.error.empty())
        entry.row.difference = difference(expected, results);
    });
  }
}

// In each round everybody has a turn, in rotating order.
void measure(std::vector<Entry>& entries, const BenchOptions& options,
             Progress& progress) {
  const double turn = options.seconds / options.rounds;
  for (int round = 0; round < options.rounds; ++round)
    for (size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = entries[(i + static_cast<size_t>(round)) % entries.size()];
      if (!entry.row.error.empty()) continue;
      progress.say("round " + std::to_string(round + 1) + " of " +
                   std::to_string(options.rounds) + ": " + entry.row.name);
      guarded(entry, [&] {
        entry.row.rounds.push_back(entry.contestant->turn(turn));
      });
    }
  for (Entry& entry : entries)
    if (entry.row.error.empty())
      guarded(entry, [&] {
        Row empty;
        empty.rounds = {entry.contestant->empty(turn)};
        if (empty.calls()) entry.row.empty_us = empty.percentile(0.5);
      });
}

// Why the fused program is faster: tables of both.
void print_steps(const OwnWay& unfused, const OwnWay& fused,
                 const ValueList& inputs) {
  for (const auto& [name, way] :
       {std::pair("unfused", &unfused), std::pair("fused", &fused)})
    std::printf("\n%s:\n%s", name,
                profile_text(profile(way->model().module(), inputs)).c_str());
}

Measured measured_of(const std::vector<Entry>& entries,
                     const BenchOptions& options) {
  Measured measured = {
      options.model,
      options.threads ? options.threads : support::available_cpus(),
      options.rounds,
      {}};
  for (const Entry& entry : entries) measured.rows.push_back(entry.row);
  return measured;
}

void refuse_errors(const std::vector<Row>& rows) {
  std::string names;
  for (const Row& row : rows)
    if (!row.error.empty()) names += (names.empty() ? "" : ", ") + row.name;
  if (!names.empty())
    throw UserError("[bench] not measured or another answer: " + names);
}

}  // namespace

void bench(const BenchOptions& options) {
  const TemporaryFolder folder;
  Progress progress;
  progress.say("loading " + options.model);
  std::vector<Entry> entries;
  const std::vector<OwnWay*> own = add_own(entries, options);
  const Model& model = own.front()->model();
  const ValueList inputs = make_inputs(model, options.inputs);
  for (OwnWay* way : own) way->give(inputs);
  const auto files = save_inputs(model, inputs, folder.path());
  add_peers(entries, options, folder.path(), files);
  start(entries, tolerance_of(options, model), progress);
  measure(entries, options, progress);
  progress.clear();
  const Measured measured = measured_of(entries, options);
  options.json ? print_json(measured) : print_table(measured);
  if (options.steps) print_steps(*own[1], *own[2], inputs);
  if (!options.chart.empty()) write_chart(measured, options.chart);
  refuse_errors(measured.rows);
}

}  // namespace fxjit::command
