// The files beside the page, and the page in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/page/page_testing.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_page;  // NOLINT: the names of this folder
using nlohmann::json;
using ::testing::HasSubstr;
using testing_import::Ran;
using testing_import::run_line;

// The fields of a message: number and bytes, or the value of a varint as text.
struct Field {
  uint64_t number;
  std::string bytes;
};

uint64_t varint(const std::string& bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (!(byte & 0x80)) return value;
  }
  ADD_FAILURE() << "a number without an end";
  return value;
}

std::vector<Field> fields(const std::string& bytes) {
  std::vector<Field> found;
  for (size_t at = 0; at < bytes.size();) {
    const uint64_t key = varint(bytes, at);
    size_t length = 0;
    if ((key & 7) == 0) {
      found.push_back({key >> 3, std::to_string(varint(bytes, at))});
      continue;
    }
    length = (key & 7) == 5 ? 4 : varint(bytes, at);
    EXPECT_LE(length, bytes.size() - at);
    found.push_back({key >> 3, bytes.substr(at, length)});
    at += length;
  }
  return found;
}

std::vector<std::string> all(const std::string& message, uint64_t number) {
  std::vector<std::string> found;
  for (const Field& field : fields(message))
    if (field.number == number) found.push_back(field.bytes);
  return found;
}

TEST_F(Page, TheCompiledGraphAsOnnx) {
  const std::string path = file("graph.onnx");
  const json data =
      data_of(model_file("attention") + " --compiled-graph " + path);
  const std::string model = text_of(path);
  const std::string graph = all(model, 7).at(0);
  const std::vector<std::string> nodes = all(graph, 1);
  const json& steps = data["runs"][0]["steps"];
  ASSERT_GE(nodes.size(), steps.size());
  std::map<std::string, size_t> made;
  for (const std::string& input : all(graph, 11)) made[all(input, 1).at(0)] = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& read : all(nodes[i], 1))
      EXPECT_TRUE(made.contains(read)) << read;
    for (const std::string& written : all(nodes[i], 2))
      EXPECT_TRUE(made.emplace(written, i).second) << written;
    if (i < steps.size()) {
      EXPECT_EQ(all(nodes[i], 4).at(0),
                steps[i]["skeleton"].get<std::string>());
    }
  }
  for (const std::string& output : all(graph, 12))
    EXPECT_TRUE(made.contains(all(output, 1).at(0)));
}

// By PyPI's onnx, where a Python has it: FXJIT_ONNX_PYTHON names one.
TEST_F(Page, OnnxAcceptsTheCompiledGraph) {
  const char* const given = std::getenv("FXJIT_ONNX_PYTHON");
  const std::string python = given ? given : "python3";
  if (run_line(python + " -c 'import onnx' 2>&1").code != 0)
    GTEST_SKIP() << python << " has no package onnx; FXJIT_ONNX_PYTHON names "
                    "one that has";
  for (const char* name : {"attention", "convnext", "decoder", "counter"}) {
    const std::string path = file(std::string(name) + ".onnx");
    inspect(model_file(name) + " --compiled-graph " + path);
    const Ran ran = run_line(
        python + " -c 'import onnx, sys; onnx.checker.check_model("
                 "onnx.load(sys.argv[1]), full_check=True)' " + path + " 2>&1");
    EXPECT_EQ(ran.code, 0) << name << ": " << ran.text;
  }
}

TEST_F(Page, TheCompiledGraphForGraphviz) {
  inspect(model_file("attention") + " --compiled-graph " + file("graph.dot"));
  const std::string text = text_of(file("graph.dot"));
  EXPECT_THAT(text, ::testing::StartsWith("digraph"));
  EXPECT_THAT(text, HasSubstr("step0"));
  EXPECT_THAT(text, HasSubstr("-> out0"));
}

TEST_F(Page, Traces) {
  const json data = data_of(model_file("attention") + " --compare unfused --trace " +
                            file("trace.json"));
  const json trace = json::parse(text_of(file("trace.json")));
  for (const int run : {0, 1}) {
    double end = 0;
    size_t spans = 0;
    for (const json& event : trace["traceEvents"]) {
      if (event["pid"] != run + 1 || event["ph"] != "X" || event["tid"] != 1)
        continue;
      EXPECT_DOUBLE_EQ(event["ts"].get<double>(), end);
      end += event["dur"].get<double>();
      EXPECT_TRUE(event["args"].contains("MFLOP"));
      ++spans;
    }
    EXPECT_EQ(spans, data["runs"][run]["steps"].size());
  }
}

TEST_F(Page, CanBeUsedInABrowser) {
  inspect(model_file("gpt2") + " --compare unfused --html " + page());
  const Ran ran = run_line("python3 " FXJIT_SOURCE_DIR "/tests/page/click.py " +
                           page() + " 2>&1");
  constexpr int kNoBrowser = 77;
  if (ran.code == kNoBrowser) GTEST_SKIP() << ran.text;
  EXPECT_EQ(ran.code, 0) << ran.text;
}

}  // namespace TEST_FILE
}  // namespace fxjit
