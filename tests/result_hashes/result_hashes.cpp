// Prints a hash of the results of each of some models and random graphs,
// compiled for each CPU level of the machine, one thread: two builds that print
// the same compute the same numbers. See scripts/result_hashes.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/graphs.h"
#include "fxjit/fxjit.h"
#include "tests/compile/models.h"
#include "tests/compile/random_graph.h"

namespace fxjit {
namespace {

class Hash {
 public:
  void add(const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      hash_ =
          (hash_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  void add(const Value& value) {
    visit_leaves(value, [&](const Value& leaf) {
      if (!leaf.is_tensor()) return add(repr(leaf));
      const Tensor tensor = leaf.as_tensor().contiguous();
      add(leaf.as_tensor().describe());
      add(tensor.data(),
          static_cast<size_t>(tensor.numel()) * tensor.item_size());
    });
  }
  unsigned long long value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

CompileOptions options_for(CpuLevel level) {
  CompileOptions options;
  options.cpu_level = level;
  options.threads = 1;
  options.cache_folder = "";
  return options;
}

// The hash of what the call gives and of what it leaves in its inputs; the text
// of the error for calls that have no result.
std::string hash_of(const fx::GraphModule& module, const ValueList& inputs) {
  Hash hash;
  try {
    hash.add(const_cast<fx::GraphModule&>(module).forward(inputs));
    hash.add(Value::list(inputs));
  } catch (const Error& error) {
    return error.message();
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", hash.value());
  return text;
}

void print(const std::string& name, CpuLevel level, const std::string& hash) {
  std::printf("%s %s %s\n", name.c_str(),
              std::string(cpu_level_name(level)).c_str(), hash.c_str());
}

std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> found;
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512})
    if (level <= host_cpu_level()) found.push_back(level);
  return found;
}

void fill(nn::Module& model) {
  for (auto& [name, parameter] : model.named_parameters())
    parameter.set_tensor(
        bench::random_tensor(name, parameter.tensor().sizes()));
  model.eval();
}

Value input(const Dims& sizes) { return bench::random_tensor("input", sizes); }

Value ids(const Dims& sizes) {
  const Tensor made = Tensor::empty(sizes, DType::i64);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<int64_t>()[i] = i * 7 % 10;
  return made;
}

struct Model {
  std::string name;
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

Model model(const std::string& name, const nn::ModuleRef& module,
            ValueList inputs) {
  fill(*module);
  return {name, fx::symbolic_trace(module), std::move(inputs)};
}

Model model(const std::string& name, bench::Workload workload) {
  return {name, workload.module, std::move(workload.inputs)};
}

nn::ModuleRef convolutions() {
  return nn::Sequential::create(
      nn::Conv2d::create(3, 32, 3, nn::ConvOptions{.stride = 2, .padding = 1}),
      nn::ReLU::create(),
      nn::Conv2d::create(32, 32, 3,
                         nn::ConvOptions{.padding = 1, .groups = 32}),
      nn::SiLU::create(), nn::Conv2d::create(32, 64, 1), nn::GELU::create(),
      nn::Conv2d::create(64, 64, 3, nn::ConvOptions{.padding = 1}),
      nn::ReLU::create(), nn::MaxPool2d::create(2),
      nn::Conv2d::create(64, 24, 5, nn::ConvOptions{.stride = 2}),
      nn::AdaptiveAvgPool2d::create(1), nn::Flatten::create(),
      nn::Linear::create(24, 10));
}

std::vector<Model> models() {
  std::vector<Model> all;
  all.push_back(model("gated", bench::gated()));
  all.push_back(model("norm_softmax", bench::norm_softmax()));
  all.push_back(model("mlp", bench::mlp()));
  all.push_back(model("swiglu", bench::swiglu()));
  all.push_back(model("gelu_mlp", bench::gelu_mlp(64, 256, 1024)));
  all.push_back(model("attention", bench::attention(8, 100, 64)));
  all.push_back(model("windows", testing::make_windows(), {input({1, 64, 8})}));
  all.push_back(model("rotary", testing::make_rotary(), {ids({2, 6})}));
  all.push_back(model("experts", testing::make_experts(), {input({7, 8})}));
  all.push_back(
      model("squeezed", testing::make_squeezed(), {input({2, 4, 9, 9})}));
  all.push_back(model("convolutions", convolutions(), {input({2, 3, 64, 64})}));
  nn::RecurrentOptions recurrent;
  recurrent.num_layers = 2;
  recurrent.bidirectional = true;
  all.push_back(
      model("lstm", nn::Sequential::create(nn::LSTM::create(24, 40, recurrent)),
            {input({11, 3, 24})}));
  all.push_back(
      model("gru", nn::Sequential::create(nn::GRU::create(24, 40, recurrent)),
            {input({11, 3, 24})}));
  nn::TransformerOptions layer;
  layer.dim_feedforward = 256;
  layer.batch_first = true;
  all.push_back(model(
      "encoder_layer",
      nn::Sequential::create(nn::TransformerEncoderLayer::create(64, 4, layer)),
      {input({2, 33, 64})}));
  return all;
}

void print_models() {
  for (Model& each : models())
    for (CpuLevel level : levels()) {
      compile(*each.module, options_for(level));
      print(each.name, level, hash_of(*each.module, each.inputs));
    }
}

void print_graphs(uint32_t count) {
  for (uint32_t seed = 1; seed <= count; ++seed) {
    const testing::GraphCase graph = testing::random_graph(seed);
    for (CpuLevel level : levels()) {
      const testing::GraphRun run = graph.run();
      compile(*run.module, options_for(level));
      print("graph " + std::to_string(seed), level,
            hash_of(*run.module, run.inputs));
    }
  }
}

}  // namespace
}  // namespace fxjit

int main(int argc, char** argv) {
  fxjit::print_models();
  fxjit::print_graphs(argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1]))
                               : 200);
  return 0;
}
