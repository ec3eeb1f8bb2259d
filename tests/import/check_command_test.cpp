// fxjit check as a program: exit codes, what it writes, other runtimes, for
// which a script stands in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/fx/archive.h"
#include "src/io/npy.h"
#include "tests/import/command_runner.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using ::testing::HasSubstr;
using ::testing::Not;

class CheckCommand : public Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    const ModelCase one = read_case("attention");
    io::save_npy(file("x.npy"), one.inputs[0].as_tensor());
    io::save_npy(file("answer.npy"), one.expected.at(0));
    io::save_npy(file("other.npy"), one.inputs[0].as_tensor());
  }

  Ran check(const std::string& more) const {
    return fxjit_command("check " + model_path("attention") + " --input x=" +
                         file("x.npy") + " " + more);
  }
  // What the script of other runtimes says, with this file as the result.
  Ran beside(const std::string& result) const {
    const std::string fake = write_script(
        "python",
        "#!/bin/sh\necho '{\"version\": \"Fake 1.0\", \"results\": [\"" +
            file(result) + "\"], \"nodes\": {}}'\n");
    return check("--against torch --python " + fake);
  }
};

TEST_F(CheckCommand, SaysThatAllAgree) {
  const Ran ran = check("");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("all agree: 1 result; bounds found by runs"));
}

TEST_F(CheckCommand, WritesWhatShowsADifference) {
  const Ran ran = check("--tolerance 0 --output " + file("found"));
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("first node: %"));
  EXPECT_THAT(ran.text, HasSubstr("fxjit check " + file("found/model.fx")));
  EXPECT_THAT(ran.text, Not(HasSubstr("does not show it")));
  const size_t at = ran.text.rfind("fxjit check ");
  const std::string arguments =
      ran.text.substr(at + 6, ran.text.find('\n', at) - at - 6);
  const Ran again = fxjit_command(arguments + " --tolerance 0");
  EXPECT_EQ(again.code, 1) << again.text;
  EXPECT_THAT(again.text, HasSubstr("first node: %"));
  EXPECT_EQ(run_line("test -s " + file("found/check.txt")).code, 0);
}

TEST_F(CheckCommand, HoldsAgainstOtherRuntimes) {
  const Ran same = beside("answer.npy");
  EXPECT_EQ(same.code, 0) << same.text;
  EXPECT_THAT(same.text, HasSubstr("beside Fake 1.0"));
  const Ran other = beside("other.npy");
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.text, HasSubstr("wrong: "));
  EXPECT_THAT(other.text, HasSubstr("the interpreter gives the same"));
}

TEST_F(CheckCommand, NamesWhatIsMissing) {
  const Ran missing = fxjit_command("check " + file("nothing.pt2"));
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.text, HasSubstr(file("nothing.pt2")));
  EXPECT_THAT(fxjit_command("check " + model_path("attention") +
                            " --input y=1")
                  .text,
              HasSubstr("the model's inputs are x"));
  EXPECT_THAT(check("--against onnxruntime").text,
              HasSubstr("--against onnxruntime reads models of ONNX"));
  EXPECT_THAT(check("--against torch --python nowhere/python").text,
              HasSubstr("cannot be started"));
  const std::string fake = write_script(
      "python", "#!/bin/sh\necho '{\"error\": \"torch is missing\"}'\n");
  const Ran without = check("--against torch --python " + fake);
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.text, HasSubstr("[check] torch: torch is missing"));
  EXPECT_EQ(check("--against nobody").code, 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit
