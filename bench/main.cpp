// Measures graphs of its own interpreted, compiled without fusion and compiled
// with it; see kUsage. `fxjit bench` does so for a model of the user's.
#include <benchmark/benchmark.h>

#include <charconv>
#include <iostream>
#include <string>
#include <vector>

#include "bench/fusion_bench.h"
#include "bench/loop_bench.h"
#include "fxjit/compile.h"

namespace {

constexpr const char* kUsage =
    R"(fxjit_bench [options] [Google Benchmark's options]

  --threads=N      threads of one call (default 1)
  --once           one iteration of each row, for tests
  --version        versions and CPU level
  --help           this text

Of Google Benchmark's, --benchmark_filter=REGEX (a leading - leaves out),
--benchmark_list_tests, --benchmark_min_time=SECONDS, --benchmark_repetitions=N,
--benchmark_out=FILE and --benchmark_format=console|json|csv are of use.

Counters: steps, MB and MFLOP are kernels, bytes read and written and operations
of one call; of_limit is what the machine would need at least for the fused
program over the time of a call. Rows loop/... say what
iterations and branches cost beyond their bodies. fxjit_prim_bench has the cost of
single functions.
)";

struct Settings {
  int threads = 1;
  bool version = false, help = false;
  // Later options win: these hold unless the user gives others.
  std::vector<std::string> google{"fxjit_bench", "--benchmark_min_time=0.05"};
};

// At least one thread; UserError for anything but a number.
int threads_of(const std::string& text) {
  int threads = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc() || stop != end || threads < 1)
    throw fxjit::UserError("--threads: expected a number of at least 1, got " +
                           text);
  return threads;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string value = option.substr(option.find('=') + 1);
    if (option.starts_with("--threads="))
      settings.threads = threads_of(value);
    else if (option == "--version")
      settings.version = true;
    else if (option == "--help" || option == "-h")
      settings.help = true;
    else if (option == "--once")
      settings.google.push_back("--benchmark_min_time=0.000000001");
    else
      settings.google.push_back(option);
  }
  return settings;
}

void run_all(const Settings& settings) {
  fxjit::bench::register_fusion_benchmarks(settings.threads);
  fxjit::bench::register_loop_benchmarks(settings.threads);
  benchmark::RunSpecifiedBenchmarks();
}

int run(int argc, char** argv) {
  Settings settings = parse(argc, argv);
  if (settings.help) {
    std::cout << kUsage;
    return 0;
  }
  if (settings.version) {
    std::cout << fxjit::version_text() << '\n';
    return 0;
  }
  std::vector<char*> arguments;
  for (std::string& option : settings.google)
    arguments.push_back(option.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::AddCustomContext("fxjit", fxjit::version_text());
  benchmark::AddCustomContext("threads", std::to_string(settings.threads));
  run_all(settings);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const fxjit::Error& error) {
    std::cerr << "fxjit_bench: " << error.what() << '\n';
    return 1;
  }
}
