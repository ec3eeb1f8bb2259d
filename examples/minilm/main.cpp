// minilm: sentence embeddings with all-MiniLM-L6-v2 on fxjit.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "examples/minilm/bench.h"
#include "examples/minilm/embedder.h"
#include "examples/minilm/output.h"

namespace {

using minilm::Backend;
using minilm::Embedder;
using minilm::Embedding;

struct Settings {
  std::string model;
  minilm::EmbedderOptions embedder;
  bool json = false;
  std::vector<std::string> sentences;
  minilm::BenchOptions bench;
  std::string first, second;

  std::filesystem::path folder() const {
    return model.empty() ? minilm::default_model_folder()
                         : std::filesystem::path(model);
  }
};

void embed_and_print(Embedder& embedder, const Settings& settings,
                     const std::vector<std::string>& texts) {
  for (const Embedding& embedding : embedder.embed(texts)) {
    notice_truncation(embedding, settings.embedder.max_length);
    print(embedding, settings.json);
  }
  minilm::check_output();
}

void run_embed(const Settings& settings) {
  Embedder embedder(settings.folder(), settings.embedder);
  if (!settings.sentences.empty())
    return embed_and_print(embedder, settings, settings.sentences);
  // Batches of lines, so that memory does not grow with the input.
  constexpr size_t kBatchesAhead = 8;
  const size_t limit = settings.embedder.batch * kBatchesAhead;
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(std::move(line));
    if (lines.size() < limit) continue;
    embed_and_print(embedder, settings, lines);
    lines.clear();
  }
  // std::cin reads through stdin, which knows a failure from the end.
  if (std::ferror(stdin))
    throw fxjit::RuntimeError(std::string("cannot read standard input: ") +
                              std::strerror(errno));
  embed_and_print(embedder, settings, lines);
}

void run_similar(const Settings& settings) {
  Embedder embedder(settings.folder(), settings.embedder);
  const std::vector<std::string> texts{settings.first, settings.second};
  const auto embeddings = embedder.embed(texts);
  double cosine = 0;
  for (size_t i = 0; i < embeddings[0].values.size(); ++i)
    cosine += static_cast<double>(embeddings[0].values[i]) *
              static_cast<double>(embeddings[1].values[i]);
  for (const Embedding& embedding : embeddings)
    notice_truncation(embedding, settings.embedder.max_length);
  if (settings.json)
    std::cout << nlohmann::json{{"cosine", cosine}}.dump() << '\n';
  else
    std::printf("%.6f\n", cosine);
}

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--model", settings.model,
                 "Folder with model.safetensors, config.json and vocab.txt");
  app.add_option_function<std::string>(
         "--backend",
         [&settings](const std::string& name) {
           settings.embedder.backend =
               name == "interpreter" ? Backend::interpreter : Backend::jit;
         },
         "interpreter or jit (default)")
      ->check(CLI::IsMember({"interpreter", "jit"}));
  app.add_option("--threads", settings.embedder.threads,
                 "Threads of one call; 0: all CPUs the process may use")
      ->check(CLI::Range(0, 256));
  app.add_option("--batch", settings.embedder.batch,
                 "Sentences computed together at most (default 32)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--max-length", settings.embedder.max_length,
                 "Tokens kept of a sentence (default 256)")
      ->check(CLI::Range(2, 512));
  app.add_flag("--wait", settings.embedder.wait,
               "Compile a new input size before answering it");
}

// What was wrong, with a word that is no command.
std::string usage_failure(const CLI::App* app, const CLI::Error& error) {
  const std::vector<std::string> words = app->remaining();
  const std::string unknown =
      words.empty() ? "" : "\"" + words[0] + "\" is no command. ";
  return "minilm: " + unknown + error.what() +
         "\nThe commands are embed, similar and bench; each has --help.\n";
}

// CLI::Range lets NaN pass, which is neither below nor above.
std::string is_no_nan(const std::string& text) {
  const bool nan = std::isnan(std::strtod(text.c_str(), nullptr));
  return nan ? "expected a number, got " + text : "";
}

int run(int argc, char** argv) {
  CLI::App app{"Sentence embeddings with all-MiniLM-L6-v2"};
  app.failure_message(usage_failure);
  app.set_version_flag("--version", [] { return fxjit::version_text(); });
  app.require_subcommand(1);
  Settings settings;
  auto* embed = app.add_subcommand(
      "embed",
      "Print the embedding of each sentence, or of each line of "
      "standard input");
  embed->add_option("sentence", settings.sentences, "Sentences");
  embed->add_flag("--json", settings.json,
                  "One JSON object a line: text, tokens, embedding");
  auto* similar =
      app.add_subcommand("similar", "Print the cosine of two sentences");
  similar->add_option("first", settings.first, "A sentence")->required();
  similar->add_option("second", settings.second, "Another one")->required();
  similar->add_flag("--json", settings.json, "Print {\"cosine\": number}");
  auto* bench = app.add_subcommand(
      "bench", "Time interpreter, unfused and fused code on three input sizes");
  bench->add_flag("--json", settings.bench.json, "One JSON object a row");
  bench->add_flag("--profile", settings.bench.profile, "Time of each step");
  bench
      ->add_option("--seconds", settings.bench.seconds,
                   "Measured time per row (default 0.5)")
      ->check(CLI::Range(0.001, 600.0))
      ->check(is_no_nan);
  for (CLI::App* command : {embed, similar, bench})
    add_options(*command, settings);
  CLI11_PARSE(app, argc, argv);
  if (*embed) run_embed(settings);
  if (*similar) run_similar(settings);
  if (*bench)
    minilm::run_bench(settings.folder(), settings.embedder, settings.bench);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    minilm::check_output();
    return code;
  } catch (const fxjit::Error& error) {
    std::cerr << "minilm: " << error.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "minilm: out of memory\n";
  }
  return 1;
}
