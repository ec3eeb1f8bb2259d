#include "examples/minilm/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "examples/minilm/output.h"

namespace minilm {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

struct Size {
  int64_t batch, tokens;
};
constexpr Size kSizes[] = {{1, 16}, {1, 128}, {8, 32}};

struct Mode {
  const char* name;
  Backend backend;
  bool fused;
};
constexpr Mode kModes[] = {{"interpreter", Backend::interpreter, false},
                           {"unfused", Backend::jit, false},
                           {"fused", Backend::jit, true}};

struct Row {
  const char* mode;
  Size size;
  double load_ms, trace_ms, compile_ms, first_ms, median_us, best_us;
};

Batch make_input(Size size) {
  const fxjit::Dims sizes{size.batch, size.tokens};
  Batch batch{fxjit::Tensor::empty(sizes, fxjit::DType::i64),
              fxjit::Tensor::full(sizes, 1, fxjit::DType::i64)};
  // Any ordinary words of the vocabulary.
  constexpr int64_t kFirstWord = 2000, kWords = 20000;
  for (int64_t i = 0; i < size.batch * size.tokens; ++i)
    batch.ids.data_as<int64_t>()[i] = kFirstWord + i * 7919 % kWords;
  return batch;
}

EmbedderOptions mode_options(const EmbedderOptions& base, const Mode& mode) {
  EmbedderOptions options = base;
  options.backend = mode.backend;
  options.wait = true;
  if (!mode.fused)
    options.disabled_passes = {"fuse", "fuse_epilogues", "fuse_attention",
                               "merge_linears"};
  return options;
}

Row measure(Embedder& embedder, const Mode& mode, Size size, double seconds) {
  Row row{mode.name, size, embedder.load_ms(), embedder.trace_ms(), 0, 0, 0, 0};
  const Batch batch = make_input(size);
  auto start = Clock::now();
  if (mode.backend == Backend::jit)
    fxjit::prepare(embedder.module(),
                   std::vector<fxjit::Value>{batch.ids, batch.mask});
  row.compile_ms = ms_since(start);
  start = Clock::now();
  embedder.run(batch);
  row.first_ms = ms_since(start);
  std::vector<double> calls;
  const auto begin = Clock::now();
  while (ms_since(begin) < seconds * 1e3 || calls.size() < 5) {
    start = Clock::now();
    embedder.run(batch);
    calls.push_back(ms_since(start) * 1e3);
  }
  std::sort(calls.begin(), calls.end());
  row.median_us = calls[calls.size() / 2];
  row.best_us = calls[calls.size() / 10];
  return row;
}

void print_header() {
  std::printf("%-12s %9s %9s %9s %11s %10s %12s %12s\n", "mode", "input",
              "load ms", "trace ms", "compile ms", "first ms", "median us",
              "10th pct us");
}

void print_row(const Row& row) {
  char input[24];
  std::snprintf(input, sizeof input, "%ld x %ld",
                static_cast<long>(row.size.batch),
                static_cast<long>(row.size.tokens));
  std::printf("%-12s %9s %9.1f %9.1f %11.1f %10.2f %12.1f %12.1f\n", row.mode,
              input, row.load_ms, row.trace_ms, row.compile_ms, row.first_ms,
              row.median_us, row.best_us);
  std::fflush(stdout);
}

void print_json(const Row& row) {
  const nlohmann::ordered_json json = {
      {"mode", row.mode},           {"batch", row.size.batch},
      {"tokens", row.size.tokens},  {"load_ms", row.load_ms},
      {"trace_ms", row.trace_ms},   {"compile_ms", row.compile_ms},
      {"first_ms", row.first_ms},   {"median_us", row.median_us},
      {"p10_us", row.best_us}};
  std::printf("%s\n", json.dump().c_str());
  std::fflush(stdout);
}

void print_profile(Embedder& embedder, Size size) {
  const Batch batch = make_input(size);
  const fxjit::Profile profile = fxjit::profile(
      embedder.module(), std::vector<fxjit::Value>{batch.ids, batch.mask});
  std::printf("\n%ld x %ld: %.1f us a call, arena %.2f MB, packed %.1f MB\n",
              static_cast<long>(size.batch), static_cast<long>(size.tokens),
              profile.call_microseconds,
              static_cast<double>(profile.arena_bytes) / 1e6,
              static_cast<double>(profile.packed_bytes) / 1e6);
  std::printf("passes %.1f, emit %.1f, optimise %.1f, codegen %.1f, link %.1f, "
              "pack %.1f ms%s\n",
              profile.passes_ms, profile.emit_ms, profile.optimise_ms,
              profile.codegen_ms, profile.link_ms, profile.pack_ms,
              profile.from_disk_cache ? " (objects from the disk cache)" : "");
  std::printf("%s", fxjit::profile_text(profile).c_str());
}

}  // namespace

void run_bench(const std::filesystem::path& folder,
               const EmbedderOptions& options, const BenchOptions& bench) {
  if (!bench.json) print_header();
  for (const Mode& mode : kModes) {
    Embedder embedder(folder, mode_options(options, mode));
    for (const Size& size : kSizes) {
      check_output();
      const Row row = measure(embedder, mode, size, bench.seconds);
      bench.json ? print_json(row) : print_row(row);
    }
    if (bench.profile && mode.fused)
      for (const Size& size : kSizes) print_profile(embedder, size);
  }
}

}  // namespace minilm
