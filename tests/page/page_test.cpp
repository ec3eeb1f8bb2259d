// `fxjit inspect --html`: what its pages hold, and what it says of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/archive.h"
#include "fxjit/fxjit.h"
#include "tests/page/page_testing.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_page;  // NOLINT: the names of this folder
using nlohmann::json;
using ::testing::HasSubstr;
using testing_import::fxjit_command;

std::set<std::string> captured_names(const json& data) {
  std::set<std::string> names;
  for (const json& node : data["captured"]["nodes"])
    names.insert(node["name"].get<std::string>());
  return names;
}

void expect_drawn(const json& graph, size_t boxes) {
  ASSERT_EQ(graph["boxes"].size(), boxes);
  for (const json& wire : graph["wires"]) {
    EXPECT_LT(wire[0].get<size_t>(), wire[1].get<size_t>());
    EXPECT_LT(wire[1].get<size_t>(), boxes);
    EXPECT_EQ(wire[2].size() % 2, 0u);
  }
}

void expect_complete(const json& data, const json& run) {
  const std::set<std::string> names = captured_names(data);
  for (const json& step : run["steps"]) {
    EXPECT_TRUE(step["us"].is_number()) << step["label"];
    EXPECT_GT(step["bytes"].get<double>(), 0) << step["label"];
    for (const json& node : step["nodes"])
      EXPECT_TRUE(names.contains(node["name"].get<std::string>())) << node;
    for (const json& kernel : step["kernels"])
      EXPECT_TRUE(data["kernels"].contains(kernel.get<std::string>()));
    const json& buffers =
        run["programs"][step["program"].get<size_t>()]["buffers"];
    for (const json& operand : step["operands"])
      EXPECT_LT(operand["buffer"].get<size_t>(), buffers.size());
  }
  double share = 0;
  for (const json& step : run["steps"]) share += step["share"].get<double>();
  EXPECT_NEAR(share, 1, 0.01);
}

TEST_F(Page, HoldsStepsGraphsAndCode) {
  const json data = data_of(model_file("convnext"));
  EXPECT_EQ(data["model"]["inputs"][0]["given"], "float32[1, 3, 64, 64]");
  ASSERT_EQ(data["runs"].size(), 1u);
  EXPECT_FALSE(data.contains("comparison"));
  const json& run = data["runs"][0];
  expect_complete(data, run);
  expect_drawn(data["captured"], data["captured"]["nodes"].size());
  expect_drawn(run["graph"],
               run["steps"].size() + run["graph"]["labels"].size());
  // Every step but the first reads what another one gives, and says why they
  // are two.
  for (size_t s = 1; s < run["steps"].size(); ++s) {
    const json& operands = run["steps"][s]["operands"];
    EXPECT_TRUE(std::any_of(operands.begin(), operands.end(),
                            [](const json& operand) {
                              return operand.contains("from") &&
                                     operand.contains("apart");
                            }))
        << run["steps"][s];
  }
  for (const auto& [symbol, code] : data["kernels"].items()) {
    EXPECT_THAT(unpacked(code["ir"]), HasSubstr("define"));
    EXPECT_THAT(unpacked(code["assembly"]), HasSubstr(symbol));
  }
}

// 3 convolutions: 2 x (results) x (channels of a group) x (window) operations.
TEST_F(Page, ConvolutionsCountTheirWork) {
  const json data = data_of(model_file("convnext"));
  std::map<std::string, double> expected;
  std::map<std::string, double> counted;
  for (const json& node : data["captured"]["nodes"])
    if (node["label"] == "conv2d") expected[node["name"]] = 0;
  // The stem: 16 features of 4x4 windows of 3 channels at 16 x 16 places; the
  // first block: depthwise 7x7.
  ASSERT_GE(expected.size(), 2u);
  for (const json& step : data["runs"][0]["steps"])
    for (const json& node : step["nodes"])
      if (expected.contains(node["name"])) counted[node["name"]] = step["flops"];
  EXPECT_EQ(counted["conv2d"], 2.0 * 16 * 16 * 16 * 3 * 16);
  EXPECT_EQ(counted["conv2d_1"], 2.0 * 16 * 16 * 16 * 49);
}

TEST_F(Page, TextOfModelsIsEscaped) {
  const std::string path = file("a<b>&\"{script}'.fx");
  const auto gm = fx::symbolic_trace(
      [](Value x) { return exp(x) + 1; }, {"x"});
  fx::save(*gm, path);
  const std::string name = "'" + file("a<b>&\"{script}") + "'\\''.fx'";
  inspect(name + " --shape x=4 --html '" + page() + "'");
  const std::string text = text_of(page());
  const size_t title = text.find("<title>") + 7;
  EXPECT_EQ(text.substr(title, text.find("</title>") - title),
            "a&lt;b&gt;&amp;&quot;{script}'.fx");
  EXPECT_EQ(text.find("<b>"), text.npos);
  EXPECT_EQ(data_in(text)["model"]["path"], path);
}

TEST_F(Page, ComparesSettings) {
  const std::string model = model_file("attention");
  const json data = data_of(model + " --compare unfused");
  ASSERT_EQ(data["runs"].size(), 2u);
  EXPECT_GT(data["runs"][1]["steps"].size(), data["runs"][0]["steps"].size());
  std::set<size_t> seen[2];
  double difference = 1e300;
  for (const json& group : data["comparison"]) {
    for (const auto& [side, which] : {std::pair("a", 0), std::pair("b", 1)})
      for (const json& step : group[side])
        EXPECT_TRUE(seen[which].insert(step.get<size_t>()).second);
    const double own = std::abs(group["b_us"].get<double>() -
                                group["a_us"].get<double>());
    EXPECT_LE(own, difference);
    difference = own;
  }
  for (const int which : {0, 1}) {
    expect_complete(data, data["runs"][which]);
    EXPECT_EQ(seen[which].size(), data["runs"][which]["steps"].size());
  }
  const json threads = data_of(model + " --compare threads=2");
  EXPECT_EQ(threads["runs"][0]["threads"], 1);
  EXPECT_EQ(threads["runs"][1]["threads"], 2);
}

TEST_F(Page, ComparesModelsAndPages) {
  const std::string model = model_file("attention");
  const json first = data_of(model + " --disable fuse");
  std::filesystem::rename(page(), file("before.html"));
  const json pages = data_of(model + " --compare " + file("before.html"));
  EXPECT_EQ(pages["runs"][1]["steps"], first["runs"][0]["steps"]);
  EXPECT_THAT(pages["runs"][1]["title"].get<std::string>(),
              HasSubstr("before.html"));
  for (const auto& [symbol, code] : first["kernels"].items())
    EXPECT_TRUE(pages["kernels"].contains(symbol));
  std::filesystem::copy(model, file("copy.pt2"));
  const json models = data_of(model + " --compare " + file("copy.pt2"));
  EXPECT_EQ(models["runs"][1]["title"], "copy.pt2");
  EXPECT_EQ(models["comparison"].size(), models["runs"][0]["steps"].size());
}

TEST_F(Page, PartsOfAGraphAreOneDrawing) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value places = method(exp(x) > 1, "nonzero");
        return method(places, "to", {DType::f32}) * 2 + 1;
      },
      {"x"});
  fx::save(*gm, file("parts"));
  const json data = data_of(file("parts") + " --shape x=8x8");
  const json& run = data["runs"][0];
  std::set<size_t> reached;
  for (const json& wire : run["graph"]["wires"])
    reached.insert(wire[1].get<size_t>());
  EXPECT_EQ(data["runs"][0]["programs"].size(), 2u);
  EXPECT_EQ(reached.size(), run["graph"]["boxes"].size() - 1);
}

TEST_F(Page, ALongModelStaysSmall) {
  constexpr int kPairs = 2'000;  // One step each, whichever the dim is.
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        for (int i = 0; i < kPairs; ++i)
          x = softmax(x, i % 2) * (1.0 + i % 50);
        return x;
      },
      {"x"});
  fx::save(*gm, file("long"));
  const json data = data_of(file("long") + " --shape x=24x40");
  EXPECT_GE(data["runs"][0]["steps"].size(), size_t{kPairs});
  EXPECT_LT(std::filesystem::file_size(page()), size_t{10'000'000});
}

TEST_F(Page, SaysWhatIsWrong) {
  const std::string model = model_file("attention");
  const auto fails = [&](const std::string& arguments,
                         const std::string& words) {
    const testing_import::Ran ran =
        fxjit_command("inspect " + model + " " + arguments);
    EXPECT_EQ(ran.code, 1) << arguments << ": " << ran.text;
    EXPECT_THAT(ran.text, HasSubstr(words)) << arguments;
  };
  const std::string html = "--html " + page() + " ";
  fails("--html " + file("none/page.html"), "none/page.html");
  fails("--html " + folder(), folder());
  fails("--trace " + file("none/trace.json"), "none/trace.json");
  fails("--compiled-graph " + file("graph.svg"), ".onnx or .dot");
  fails("--compiled-graph " + file("none/graph.dot"), "none/graph.dot");
  fails("--compare unfused", "--compare needs --html");
  fails(html + "--compare threads=two", "expected a number");
  fails(html + "--compare threads=-1", "expected a number");
  fails(html + "--compare " + model_file("images"),
        "images.pt2, with the inputs of");
  fails(html + "--compare " + model_file("gpt2"), "its inputs are input_ids");
  fails(html + "--compare " + file("none.html"), "none.html");
  fails(html + "--compare " + write("other.html", "<p>"), "not a page");
  fails(html + "--compare fused", "fused");
  EXPECT_FALSE(std::filesystem::exists(page()));
  data_of(model_file("images"));
  std::filesystem::rename(page(), file("images.html"));
  fails(html + "--compare " + file("images.html"), "had other inputs");
}

}  // namespace TEST_FILE
}  // namespace fxjit
