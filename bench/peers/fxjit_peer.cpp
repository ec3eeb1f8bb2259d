// fxjit as one contestant of bench/peers. Loads a workload from the files that
// export.py wrote, answers it, and then runs on command:
//
//   fxjit_peer WORKLOAD DATA_FOLDER MODEL_FOLDER THREADS CACHE OUTPUT
//
// (WORKLOAD *_pt2: the program DATA_FOLDER/model.pt2; *_onnx: model.onnx;
// others: graphs in C++) prints one line of JSON when the results of the first
// call are in OUTPUT/0.npy, 1.npy, ..., and one for each line of standard
// input: "run SECONDS" gives the time of each call in nanoseconds, "profile"
// the steps, "end" ends. contestant.py speaks the same.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "bench/graphs.h"
#include "examples/minilm/bert.h"
#include "fxjit/compile.h"
#include "fxjit/onnx.h"
#include "fxjit/pt2.h"
#include "fxjit/safetensors.h"
#include "src/io/npy.h"

namespace fxjit::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

struct Arguments {
  std::string workload, data, model;
  int threads;
  std::string cache, output;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Private memory of this process in KiB.
long rss_anon() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  return 0;
}

using Tensors = std::map<std::string, Tensor, std::less<>>;

void add_file(Tensors& tensors, const std::string& path) {
  for (auto& [name, tensor] : load_safetensors(path))
    tensors.insert_or_assign(name, tensor);
}

const Tensor& find(const Tensors& tensors, std::string_view name) {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw UserError("[fxjit_peer] no tensor named " + std::string(name));
  return found->second;
}

// Inputs in the process's own memory, as those of the other contestants.
Tensor copy(const Tensor& mapped) {
  Tensor t = Tensor::empty(mapped.sizes(), mapped.dtype());
  t.copy_from(mapped);
  return t;
}

Workload minilm_workload(const std::string& folder, const Tensors& inputs) {
  return {fx::symbolic_trace(minilm::load_encoder(folder)),
          {find(inputs, "ids"), find(inputs, "mask")}};
}

// What is called. A program checks its inputs, as it does for everybody.
struct Loaded {
  Workload work;
  std::optional<imported::Program> program;

  Value operator()() const {
    return program ? program->run(work.inputs)
                   : work.module->forward(work.inputs);
  }
};

Loaded file_workload(imported::Program program, const Tensors& inputs) {
  std::vector<Value> values;
  for (const imported::Input& input : program.inputs)
    values.push_back(find(inputs, input.path));
  return {{program.module, std::move(values)}, program};
}

Workload graph_workload(const Arguments& arguments, const Tensors& inputs) {
  const std::string& name = arguments.workload;
  if (name.starts_with("minilm"))
    return minilm_workload(arguments.model, inputs);
  Tensors tensors = inputs;
  add_file(tensors, arguments.data + "/weights.safetensors");
  const TensorSource source = [&](std::string_view wanted, const Dims&) {
    return find(tensors, wanted);
  };
  if (name == "mlp") return mlp(source);
  if (name == "swiglu") return swiglu(source);
  if (name == "gated") return gated(source);
  if (name == "norm_softmax") return norm_softmax(source);
  throw UserError("[fxjit_peer] unknown workload " + name);
}

Loaded load(const Arguments& arguments, const Tensors& inputs) {
  if (arguments.workload.ends_with("_pt2"))
    return file_workload(pt2::load(arguments.data + "/model.pt2"), inputs);
  if (arguments.workload.ends_with("_onnx"))
    return file_workload(onnx::load(arguments.data + "/model.onnx"), inputs);
  return {graph_workload(arguments, inputs), std::nullopt};
}

Json profile_rows(const Workload& work) {
  const Profile profile = fxjit::profile(*work.module, work.inputs, 100);
  Json rows = Json::array();
  for (const StepProfile& step : profile.steps)
    rows.push_back({{"label", step.label},
                    {"us", step.microseconds},
                    {"gflops", step.gflops},
                    {"gb_per_s", step.gigabytes},
                    {"of_limit", step.of_limit},
                    {"native", step.native}});
  return {{"call_us", profile.call_microseconds},
          {"packed_bytes", profile.packed_bytes},
          {"arena_bytes", profile.arena_bytes},
          {"passes_ms", profile.passes_ms},
          {"emit_ms", profile.emit_ms},
          {"optimise_ms", profile.optimise_ms},
          {"codegen_ms", profile.codegen_ms},
          {"link_ms", profile.link_ms},
          {"pack_ms", profile.pack_ms},
          {"from_disk_cache", profile.from_disk_cache},
          {"steps", rows}};
}

Json time_calls(const Loaded& call, double seconds) {
  Json times = Json::array();
  const auto begin = Clock::now();
  while (ms_since(begin) < seconds * 1e3) {
    const auto start = Clock::now();
    const Value out = call();
    times.push_back((Clock::now() - start).count());
  }
  return {{"ns", std::move(times)}};
}

void say(const Json& line) { std::cout << line.dump() << std::endl; }

void serve(const Loaded& loaded) {
  for (std::string command; std::cin >> command && command != "end";) {
    if (command == "profile") {
      say(profile_rows(loaded.work));
      continue;
    }
    double seconds = 0;
    std::cin >> seconds;
    say(time_calls(loaded, seconds));
  }
}

// The tensors of a tuple of results, or the one result.
void save(const std::string& folder, const Value& answer) {
  const ValueList results =
      answer.is_tensor() ? ValueList{answer} : answer.as_sequence();
  for (std::size_t i = 0; i < results.size(); ++i)
    io::save_npy(folder + "/" + std::to_string(i) + ".npy",
                 results[i].as_tensor());
}

void run(const Arguments& arguments) {
  Tensors inputs;
  for (const auto& [name, tensor] :
       load_safetensors(arguments.data + "/inputs.safetensors"))
    inputs.emplace(name, copy(tensor));
  const long anon_before = rss_anon();
  auto start = Clock::now();
  const Loaded loaded = load(arguments, inputs);
  const double load_ms = ms_since(start);
  CompileOptions options;
  options.threads = arguments.threads;
  options.cache_folder = arguments.cache == "none" ? "" : arguments.cache;
  start = Clock::now();
  compile(*loaded.work.module, options);
  const bool native = prepare(*loaded.work.module, loaded.work.inputs);
  const double compile_ms = ms_since(start);
  start = Clock::now();
  const Value answer = loaded();
  const double first_ms = ms_since(start);
  save(arguments.output, answer);
  const auto times = time_calls(loaded, 0.05);
  say({{"version", version_text()},
       {"native", native},
       {"load_ms", load_ms},
       {"compile_ms", compile_ms},
       {"first_ms", first_ms},
       {"anon_before_kib", anon_before},
       {"anon_kib", rss_anon()}});
  serve(loaded);
}

}  // namespace
}  // namespace fxjit::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << fxjit::version_text() << '\n';
    return 0;
  }
  if (argc != 7) {
    std::cerr << "usage: fxjit_peer WORKLOAD DATA_FOLDER MODEL_FOLDER THREADS "
                 "CACHE|none OUTPUT\n";
    return 2;
  }
  try {
    fxjit::bench::run(
        {argv[1], argv[2], argv[3], std::atoi(argv[4]), argv[5], argv[6]});
    return 0;
  } catch (const fxjit::Error& error) {
    std::cerr << "fxjit_peer: " << error.what() << '\n';
    return 1;
  }
}
