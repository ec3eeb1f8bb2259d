// fxjit_torch_fx WORK NODES REPEATS: fxjit's side of the comparison with
// torch.fx; prints seconds as JSON. The same work as torch_side.py, line by
// line.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "fxjit/compile.h"
#include "fxjit/functions.h"
#include "fxjit/fx.h"

namespace fxjit::bench {
namespace {

using fx::Graph;
using fx::GraphModule;
using fx::NodePtr;

Value chain(Value x, const Value& y, int nodes) {
  for (int i = 0; i < nodes / 4; ++i) {
    x = relu(x + y) * 0.5;
    x = method(x, "neg");
  }
  return x;
}

std::unique_ptr<Graph> build(int nodes) {
  static const fx::Target add = ops::get_function("torch.add");
  static const fx::Target relu = ops::get_function("torch.relu");
  static const fx::Target mul = ops::get_function("torch.mul");
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->placeholder("y");
  for (int i = 0; i < nodes / 4; ++i) {
    x = graph->call_function(add, {x, y});
    x = graph->call_function(relu, {x});
    x = graph->call_function(mul, {x, 0.5});
    x = graph->call_method("neg", {x});
  }
  graph->output(x);
  return graph;
}

std::unique_ptr<Graph> half_dead(int nodes) {
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  for (int i = 0; i < nodes / 2; ++i) {
    graph->call_function("torch.relu", {x});
    x = graph->call_function("torch.neg", {x});
  }
  graph->output(x);
  return graph;
}

Value pattern(Value x, Value y) {
  return relu(function("torch.add", {x, y}));
}
Value replacement(Value x, Value y) {
  return sigmoid(function("torch.sub", {x, y}));
}

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Each returns the seconds of one run; what is made before and destroyed after
// is not timed.
using Work = std::function<double(int nodes)>;

template <typename Run>
double timed(const Run& run) {
  const double start = now();
  [[maybe_unused]] const auto result = run();
  return now() - start;
}

const std::map<std::string, Work>& works() {
  static const std::map<std::string, Work> kWorks = {
      {"trace",
       [](int nodes) {
         return timed([=] {
           return fx::symbolic_trace(
               [=](Value x, Value y) -> Value { return chain(x, y, nodes); },
               {"x", "y"});
         });
       }},
      {"create",
       [](int nodes) { return timed([=] { return build(nodes); }); }},
      {"copy",
       [](int nodes) {
         const auto graph = build(nodes);
         return timed([&] { return graph->copy(); });
       }},
      {"print",
       [](int nodes) {
         const auto graph = build(nodes);
         return timed([&] { return graph->str(); });
       }},
      {"python_code",
       [](int nodes) {
         const auto graph = build(nodes);
         return timed([&] { return graph->python_code(); });
       }},
      {"eliminate_dead_code",
       [](int nodes) {
         const auto graph = half_dead(nodes);
         return timed([&] { return graph->eliminate_dead_code(); });
       }},
      {"lint",
       [](int nodes) {
         const auto graph = build(nodes);
         return timed([&] {
           graph->lint();
           return 0;
         });
       }},
      {"replace_pattern",
       [](int nodes) {
         const auto gm = GraphModule::create(nn::Module(), build(nodes));
         return timed([&] {
           return fx::replace_pattern(*gm, fx::Subgraph(pattern, {"x", "y"}),
                                      fx::Subgraph(replacement, {"x", "y"}));
         });
       }},
  };
  return kWorks;
}

double rss_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double memory(int nodes) {
  build(16);
  const double before = rss_bytes();
  const auto graph = build(nodes);
  return (rss_bytes() - before) / static_cast<double>(graph->size());
}

int usage() {
  std::cerr << "usage: fxjit_torch_fx WORK NODES REPEATS, NODES of at least 4\n"
               "  WORK: memory";
  for (const auto& [name, work] : works()) std::cerr << ' ' << name;
  std::cerr << '\n';
  return 2;
}

int run(const std::string& work, int nodes, int repeats) {
  if (work == "memory") {
    std::cout << "{\"bytes\": " << memory(nodes) << "}\n";
    return 0;
  }
  const auto found = works().find(work);
  if (found == works().end() || nodes < 4 || repeats < 1) return usage();
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i)
    best = std::min(best, found->second(nodes));
  std::cout << "{\"seconds\": " << best << "}\n";
  return 0;
}

}  // namespace
}  // namespace fxjit::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << fxjit::version_text() << '\n';
    return 0;
  }
  if (argc != 4) return fxjit::bench::usage();
  try {
    return fxjit::bench::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  } catch (const fxjit::Error& error) {
    std::cerr << "fxjit_torch_fx: " << error.what() << '\n';
    return 1;
  }
}
