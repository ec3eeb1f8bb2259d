// The text of a program: what it says in words, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fxjit/error.h"
#include "src/program/text/text.h"

namespace fxjit {
namespace TEST_FILE {

using program::Program;

TEST(ProgramText, TextsThatAreNoneAreRefused) {
  EXPECT_THROW(program::read_text("{"), UserError);
  EXPECT_THROW(program::read_text("{\"machine\": 3}"), UserError);
}

TEST(ProgramText, TextsNameTypesFunctionsAndPlaces) {
  Program program;
  program.buffers.push_back({.home = program::Home::packed, .bytes = 4});
  program::RowStep step;
  step.body.instrs.push_back({.prim = Prim::tanh, .type = DType::f64});
  program.steps.push_back({.body = program::StepBody(step),
                           .operands = {},
                           .label = "tanh",
                           .nodes = {}});
  std::string text = program::write_text(program);
  for (const char* word : {R"("home": "packed")", R"("rows",)",
                           R"("prim": "tanh")", R"("type": "float64")"})
    EXPECT_THAT(text, ::testing::HasSubstr(word));
  text.replace(text.find("tanh"), 4, "than");
  EXPECT_THROW(program::read_text(text), UserError);
}

}  // namespace TEST_FILE
}  // namespace fxjit
