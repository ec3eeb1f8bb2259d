#include "fxjit/fx/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

std::string error_of(std::string_view input) {
  try {
    parse_graph(input);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Text, RoundTrips) {
  constexpr std::string_view kText =
      "graph {\n"
      "  %x : 'torch.Tensor' = placeholder[x](3.5) -> float32[2, 3]\n"
      "  %_args = placeholder[*args]\n"
      "  %layers_0_weight = get_attr[layers.0.weight] -> "
      "float16[3, 2]{1, 3}+4\n"
      "  %add = call_function[_operator.add](%x, %layers_0_weight, alpha=2) -> "
      "(int64[], [bool[4]])\n"
      "  %view = call_method[\"odd ]'name\"](%add, (1,), [], (), {'k': [%x, "
      "None]}, slice(%x, 1, None), range(0, 3), Ellipsis, torch.bfloat16, "
      "True, 'a\\n\"b', -1, -inf, nan, 1e-05)\n"
      "  %class = output[output]((%view, %_args))\n"
      "}\n";
  EXPECT_EQ(text(*parse_graph(kText)), kText);
}

TEST(Text, ParsedGraphsAreLikeBuiltOnes) {
  const auto graph = parse_graph(R"(
    # A comment.
    graph {
      %x = placeholder[x] %add = call_function[add](%x, %x)
      %output = output[output](%add)
    })");
  graph->lint();
  EXPECT_EQ(graph->find_node("x")->num_users(), 1u);
  EXPECT_TRUE(graph->find_node("add")->calls(ops::get_op("add")));
  EXPECT_EQ(graph->output_node()->args()[0].as_node(), graph->find_node("add"));
}

TEST(Text, Errors) {
  EXPECT_EQ(error_of("graph {\n  %x = nonsense[x]\n}"),
            "[parse_graph] line 2, column 16: expected an opcode before "
            "'nonsense', got '[x]'");
  EXPECT_THAT(error_of("graph { %x = call_method[f](%y) }"),
              HasSubstr("expected a node defined before, not %y"));
  EXPECT_THAT(error_of("graph { %x = placeholder[x] %x = placeholder[x] }"),
              HasSubstr("expected a new name instead of %x"));
  EXPECT_THAT(error_of("graph { %x = call_function[no.such](1) }"),
              HasSubstr("expected a known function instead of no.such"));
  EXPECT_THAT(error_of("graph { %x = call_method[f](k=1, 2) }"),
              HasSubstr("expected a keyword argument"));
  EXPECT_THAT(error_of("graph { %x = call_method[f](99999999999999999999) }"),
              HasSubstr("expected a number that fits 64 bits"));
  EXPECT_THAT(error_of("graph { %x = placeholder[x] -> float32[2]{1, 1} }"),
              HasSubstr("expected as many strides as sizes"));
  EXPECT_THAT(error_of("graph {"), HasSubstr("expected '}', got the end"));
  EXPECT_THAT(error_of("graph {} x"), HasSubstr("nothing behind"));
  EXPECT_THAT(error_of("graph { %x = call_method[f]('abc) }"),
              HasSubstr("the end of a string"));
  EXPECT_THAT(error_of("graph { %x = call_method[f](" + std::string(5000, '[')),
              HasSubstr("nested at most"));
}

TEST(Text, TensorsInArgumentsHaveNoText) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_method("f", {x, Tensor::zeros({2})});
  EXPECT_THROW(text(graph), UserError);
}

// Damaged text gives a typed error or a graph, never anything else.
TEST(Text, SurvivesDamage) {
  const std::string good =
      "graph { %x : 'T' = placeholder[x](1.5) -> float32[2, 3]{1, 2}\n"
      "%a = call_function[_operator.add](%x, [1, (2,), {'k': slice(1, None, "
      "%x)}], k=True)\n %o = output[output]((%a, 'b\\x41')) }";
  std::mt19937 random(3);
  int parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = good;
    for (uint32_t i = 0; i <= random() % 3; ++i) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged.erase(at, 1 + random() % 4);
          break;
        case 1:
          damaged[at] = static_cast<char>(random() % 128);
          break;
        default:
          damaged.insert(at, good, random() % good.size(), random() % 8);
          break;
      }
    }
    try {
      parse_graph(damaged)->lint();
      ++parsed;
    } catch (const UserError&) {
      // Refused, as it should be.
    }
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
