// fxjit_bench [--threads=N] [--once] [Google Benchmark's options]
//
// --threads=N  threads of one call (default 1)
// --version    versions and CPU level
// --once       one iteration of each row, for tests
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/fusion_bench.h"
#include "fxjit/compile.h"

namespace {

struct Settings {
  int threads = 1;
  bool version = false;
  // Later options win: these hold unless the user gives others.
  std::vector<std::string> google{"fxjit_bench", "--benchmark_min_time=0.05"};
};

Settings parse(int argc, char** argv) {
  Settings settings;
  const std::string threads = "--threads=";
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.starts_with(threads))
      settings.threads = std::atoi(option.c_str() + threads.size());
    else if (option == "--version")
      settings.version = true;
    else if (option == "--once")
      settings.google.push_back("--benchmark_min_time=0.000000001");
    else
      settings.google.push_back(option);
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings = parse(argc, argv);
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
  try {
    benchmark::AddCustomContext("fxjit", fxjit::version_text());
    benchmark::AddCustomContext("threads", std::to_string(settings.threads));
    fxjit::bench::register_fusion_benchmarks(settings.threads);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const fxjit::Error& error) {
    std::cerr << "fxjit_bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
