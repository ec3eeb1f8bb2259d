// Other runtimes, called from Python by contestant.py.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "src/io/npy.h"
#include "src/support/machine/cpu_quota.h"
#include "tools/fxjit/answer.h"
#include "tools/fxjit/child.h"
#include "tools/fxjit/contestants.h"
#include "tools/fxjit/places.h"

namespace fxjit::command {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct PeerKind {
  const char* name;
  const char* script_name;  // As contestant.py calls it.
  const char* suffix;       // The models that it reads end so.
};

constexpr PeerKind kPeers[] = {{"onnxruntime", "onnxruntime", ".onnx"},
                               {"openvino", "openvino", ".onnx"},
                               {"torch", "eager", ".pt2"},
                               {"inductor", "inductor", ".pt2"}};

const PeerKind& kind_of(const std::string& name) {
  return *std::find_if(std::begin(kPeers), std::end(kPeers),
                       [&](const PeerKind& kind) { return kind.name == name; });
}

double number_of(const json& answer, const char* field) {
  const auto found = answer.find(field);
  if (found == answer.end() || !found->is_number())
    throw ChildError(std::string("it said nothing of ") + field);
  return found->get<double>();
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

class Peer : public Contestant {
 public:
  Peer(const PeerKind& kind, const BenchOptions& options, fs::path folder,
       const std::vector<std::string>& inputs)
      : kind_(kind),
        options_(options),
        folder_(std::move(folder)),
        inputs_(inputs) {}

  ValueList start(Row& row) override;
  std::vector<double> turn(double seconds) override {
    return times("run", seconds);
  }
  std::vector<double> empty(double seconds) override {
    return times("empty", seconds);
  }

 private:
  bool is_exported() const;
  std::vector<std::string> script(const std::string& what) const;
  std::string model_file() const;
  std::string made_onnx() const;
  ValueList results() const;
  std::vector<double> times(const std::string& what, double seconds);

  const PeerKind& kind_;
  const BenchOptions& options_;
  const fs::path folder_;
  const std::vector<std::string>& inputs_;
  std::unique_ptr<Child> child_;
};

bool Peer::is_exported() const {
  return fs::path(options_.model).extension() == ".pt2";
}

std::vector<std::string> Peer::script(const std::string& what) const {
  std::vector<std::string> command = {options_.python,
                                      shared_file("contestant.py"), what};
  if (!options_.weights.empty())
    command.insert(command.end(), {"--weights", options_.weights});
  return command;
}

std::string Peer::model_file() const {
  if (kind_.suffix == std::string(".pt2")) {
    if (!is_exported()) throw ChildError("it needs a .pt2 file");
    return options_.model;
  }
  if (!options_.onnx.empty()) return options_.onnx;
  const fs::path beside = fs::path(options_.model).replace_extension(".onnx");
  return is_file(beside) ? beside.string() : made_onnx();
}

// Made once for all peers.
std::string Peer::made_onnx() const {
  const std::string file = (folder_ / "model.onnx").string();
  if (is_file(file)) return file;
  const std::string needed =
      "it needs an ONNX file (--onnx FILE, or " +
      fs::path(options_.model).replace_extension(".onnx").string() + ")";
  if (!is_exported()) throw ChildError(needed);
  const std::string unfinished = file + ".part";
  auto command = script("export");
  command.insert(command.end(),
                 {"--model", options_.model, "--output", unfinished});
  try {
    Child child(command, (folder_ / "export.log").string());
    answer_of(child, options_.peer_timeout);
  } catch (const ChildError& error) {
    throw ChildError(needed + "; making one failed: " + error.what());
  }
  std::error_code error;
  fs::rename(unfinished, file, error);
  if (error) throw ChildError(needed + "; making one gave none");
  return file;
}

ValueList Peer::start(Row& row) {
  const fs::path output = folder_ / kind_.name;
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw ChildError(output.string() + ": " + error.message());
  auto command = script(kind_.script_name);
  const int threads =
      options_.threads ? options_.threads : support::available_cpus();
  command.insert(
      command.end(),
      {"--model", model_file(), "--output", output.string(), "--threads",
       std::to_string(threads), "--cache", (output / "cache").string()});
  for (const std::string& input : inputs_)
    command.insert(command.end(), {"--input", input});
  child_ = std::make_unique<Child>(command, (output / "log").string());
  const json ready = answer_of(*child_, options_.peer_timeout);
  child_->stop();
  row.version = ready.value("version", "");
  row.first_ms = number_of(ready, "load_ms") + number_of(ready, "first_ms");
  return results();
}

ValueList Peer::results() const {
  ValueList results;
  for (fs::path file;
       is_file(file = folder_ / kind_.name /
                      (std::to_string(results.size()) + ".npy"));)
    results.emplace_back(io::load_npy(file.string()));
  return results;
}

std::vector<double> Peer::times(const std::string& what, double seconds) {
  child_->resume();
  child_->say(what + " " + std::to_string(seconds));
  const json answer = answer_of(*child_, seconds + options_.peer_timeout);
  child_->stop();
  std::vector<double> times;
  const auto found = answer.find("ns");
  if (found != answer.end() && found->is_array())
    for (const json& time : *found)
      if (time.is_number()) times.push_back(time.get<double>() / 1e3);
  if (times.empty()) throw ChildError("it said nothing of ns");
  return times;
}

}  // namespace

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const PeerKind& kind : kPeers) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<Contestant> make_peer(const std::string& name,
                                      const BenchOptions& options,
                                      const std::string& folder,
                                      const std::vector<std::string>& inputs) {
  return std::make_unique<Peer>(kind_of(name), options, folder, inputs);
}

std::vector<std::string> save_inputs(const Model& model,
                                     const ValueList& inputs,
                                     const std::string& folder) {
  std::vector<std::string> files;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor()) continue;
    const fs::path file =
        fs::path(folder) / ("input_" + std::to_string(i) + ".npy");
    io::save_npy(file.string(), inputs[i].as_tensor(),
                 model.inputs()[i].facts.carried);
    files.push_back(model.inputs()[i].name + "=" + file.string());
  }
  return files;
}

}  // namespace fxjit::command
