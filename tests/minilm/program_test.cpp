// minilm as a program: wrong options, models that do not fit together, output
// that nobody takes, limits of the system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/minilm/reference_data.h"
#include "tests/support/sanitizers.h"

namespace minilm {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Result {
  int code = -1;  // 128 + signal when ended by one.
  std::string output;
};

// "minilm" in a shell command stands for the program under test.
Result shell(const std::string& command) {
  const std::string program = FXJIT_BINARY_DIR "/bin/minilm";
  const std::string whole =
      "{ " + std::regex_replace(command, std::regex("minilm"), program) +
      "; } 2>&1";
  std::FILE* const pipe = popen(whole.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start " + whole);
  Result result;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  result.code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// A folder with the real model's files, to be replaced one by one.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(reference::model_dir() / "model.safetensors"))
        << reference::missing_model_message();
    fs::create_directories(folder_);
    for (const char* name : {"config.json", "vocab.txt", "model.safetensors"})
      fs::create_symlink(fs::absolute(reference::model_dir() / name),
                         folder_ / name);
  }
  ~Program() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& name, const std::string& text) {
    fs::remove(folder_ / name);
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  // config.json with another value.
  void set(const char* key, const nlohmann::json& value) {
    auto config =
        nlohmann::json::parse(text_of(reference::model_dir() / "config.json"));
    config[key] = value;
    replace("config.json", config.dump());
  }
  Result embed() const {
    return shell("minilm embed --backend interpreter hello --model " +
                 folder_.string());
  }
  void expect_refused(const std::string& because) const {
    const Result result = embed();
    EXPECT_EQ(result.code, 1) << result.output;
    EXPECT_THAT(result.output, StartsWith("minilm: "));
    EXPECT_THAT(result.output, HasSubstr(because));
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           ("fxjit_program_" + std::to_string(getpid()));
};

TEST_F(Program, Answers) {
  const Result result = embed();
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("3 tokens"));
}

TEST_F(Program, WrongOptionsAreNamed) {
  for (const auto& [arguments, part] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "subcommand is required"},
           {"embrace", "\"embrace\" is no command"},
           {"embed --batch 0 a", "--batch"},
           {"embed --threads -1 a", "--threads"},
           {"embed --max-length 1 a", "--max-length"},
           {"bench --seconds nan", "--seconds: expected a number, got nan"},
           {"bench --seconds 601", "--seconds"},
           {"embed --backend gpu a", "gpu not in {interpreter,jit}"},
           {"similar a", "second is required"}}) {
    const Result result = shell("minilm " + arguments);
    EXPECT_NE(result.code, 0) << arguments;
    EXPECT_LT(result.code, 128) << arguments;
    EXPECT_THAT(result.output, HasSubstr(part)) << arguments;
  }
}

TEST_F(Program, ModelsOfAnotherKindAreRefused) {
  set("hidden_act", "relu");
  expect_refused("hidden_act: expected \"gelu\", got \"relu\"");
  set("position_embedding_type", "relative_key");
  expect_refused("position_embedding_type");
  set("layer_norm_eps", -1);
  expect_refused("layer_norm_eps: expected a number above 0, got -1");
  set("num_hidden_layers", 1'000'000'000);
  expect_refused("num_hidden_layers: expected a whole number from 1 to");
  set("num_hidden_layers", 7);
  expect_refused("model.safetensors is not of the model that config.json");
}

TEST_F(Program, VocabulariesOfAnotherModelAreRefused) {
  const std::string good = text_of(reference::model_dir() / "vocab.txt");
  replace("vocab.txt", good + "one\nmore\n");
  expect_refused(
      "expected 30522 lines, the vocab_size of config.json, got 30524");
  replace("vocab.txt", good.substr(0, good.size() / 2));  // Cut short.
  expect_refused("vocab.txt: expected 30522 lines");
  replace("vocab.txt", good.substr(0, 500));
  expect_refused((folder_ / "vocab.txt").string());
}

TEST_F(Program, LengthsBeyondTheModelAreRefused) {
  const Result result =
      shell("minilm embed --max-length 512 a --model " + folder_.string());
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_NE(shell("minilm embed --max-length 513 a").code, 0);
}

TEST_F(Program, OutputThatCannotBeWrittenIsAFailure) {
  for (const char* arguments :
       {"embed a", "embed --json a", "similar a b", "--version", "--help",
        "bench --seconds 0.001 --json"}) {
    const Result result =
        shell("minilm " + std::string(arguments) + " > /dev/full");
    EXPECT_EQ(result.code, 1) << arguments;
    EXPECT_THAT(result.output,
                HasSubstr("minilm: cannot write to standard output: No space"))
        << arguments;
  }
  EXPECT_EQ(shell("minilm embed a >&-").code, 1);
}

// Where a broken pipe is no signal, the first failure ends the program.
TEST_F(Program, EndsWithTheReader) {
  const Result result = shell(
      "trap '' PIPE; yes hello 2> /dev/null | timeout 60 minilm embed "
      "| head -n 1");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.output, HasSubstr("Broken pipe"));
}

TEST_F(Program, InputThatCannotBeReadIsAFailure) {
  const Result result = shell("minilm embed < /");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.output, HasSubstr("cannot read standard input"));
  EXPECT_EQ(shell("minilm embed < /dev/null").code, 0);
}

// What the program opens must not get their numbers.
TEST_F(Program, ClosedDescriptorsFail) {
  const Result input = shell("timeout 60 minilm embed <&-");
  EXPECT_EQ(input.code, 1);
  EXPECT_THAT(input.output, HasSubstr("cannot read standard input: Bad file"));
  const Result output = shell("timeout 60 minilm embed a <&- >&-");
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.output, HasSubstr("cannot write to standard output: Bad"));
  EXPECT_EQ(shell("timeout 60 minilm embed a <&- 2>&-").code, 0);
  EXPECT_NE(shell("timeout 60 minilm embed --nonsense <&- >&- 2>&-").code, 0);
}

TEST_F(Program, TextsAreShownWhole) {
  EXPECT_THAT(shell("printf 'a\\0b\\n' | minilm embed").output,
              StartsWith(std::string("a\0b\n  ", 6)));
  // A notice is cut between characters, and holds no commands of terminals.
  const Result cut = shell(
      "minilm embed --max-length 2 \"$(printf 'a\\033[2J%039d\\303\\244b' 0)\" "
      "> /dev/null");
  EXPECT_THAT(cut.output, HasSubstr("\\u001b[2J"));
  EXPECT_THAT(cut.output, Not(HasSubstr("\033")));
  for (const char* pad : {"%037d", "%038d", "%039d", "%040d"}) {
    const Result result = shell("minilm embed --max-length 2 \"$(printf '" +
                                std::string(pad) + "\\303\\244b' 0)\"");
    EXPECT_THAT(result.output, Not(HasSubstr("\uFFFD"))) << pad;
    EXPECT_TRUE(nlohmann::json::accept(result.output.substr(
        result.output.find('"'),
        result.output.find('\n') - result.output.find('"'))))
        << result.output;
  }
}

TEST_F(Program, SmallLimitsAreSurvived) {
  const std::string cache = "FXJIT_CACHE=" + folder_.string() + "/cache ";
  const std::string call = "minilm embed --wait --threads 2 hello";
  // UndefinedBehaviorSanitizer asks by a pipe whether memory is readable.
  const std::string files = fxjit::testing::kAddressSanitizer ? "8" : "6";
  EXPECT_EQ(shell("ulimit -n " + files + "; " + cache + call).code, 0);
  // ThreadSanitizer keeps the shadow of constants in a file and reserves
  // terabytes.
  if (fxjit::testing::kThreadSanitizer)
    GTEST_SKIP()
        << "its runtime dies of the other limits before the program begins";
  // Files may not be large enough for a cache entry.
  EXPECT_EQ(shell("ulimit -f 1; " + cache + call).code, 0);
  const Result crowded = shell("ulimit -v 150000; " + cache + call);
  EXPECT_LT(crowded.code, 128) << crowded.output;
}

}  // namespace TEST_FILE
}  // namespace minilm
