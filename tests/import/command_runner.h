// Runs the command fxjit as a program.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace fxjit::testing_import {

struct Ran {
  int code = -1;     // -1 where it did not end by itself.
  std::string text;  // Output and errors.
};

// A line of the shell.
Ran run_line(const std::string& line);
// The command with these arguments and no cache on disk.
Ran fxjit_command(const std::string& arguments);
std::string fxjit_program();

// A folder of the test's own.
class Command : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const std::string& folder() const { return folder_; }
  std::string file(const std::string& name) const {
    return folder_ + "/" + name;
  }
  // Gives the path.
  std::string write(const std::string& name, const std::string& bytes) const;
  // The same for a program.
  std::string write_script(const std::string& name,
                           const std::string& text) const;

 private:
  std::string folder_;
};

}  // namespace fxjit::testing_import
