// What the command shows to people: help, man page, completion, colours and
// progress on terminals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "tests/import/command_runner.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using ::testing::HasSubstr;
using ::testing::Not;

class Terminal : public Command {};

// What a line of the shell prints on a terminal.
std::string on_terminal(const std::string& line) {
  int screen = -1;
  const pid_t child = forkpty(&screen, nullptr, nullptr, nullptr);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t bytes; (bytes = read(screen, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(bytes));
  close(screen);
  waitpid(child, nullptr, 0);
  return text;
}

// Proposals of the completion for the last of `words`.
std::string completed(const std::string& words, const std::string& folder) {
  const std::string script =
      FXJIT_BINARY_DIR "/share/bash-completion/completions/fxjit";
  const std::string program =
      "cd " + folder + "; . " + script + "; COMP_WORDS=(" + words +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fxjit; "
      "echo \"${COMPREPLY[*]}\"";
  std::string text = run_line("bash -c '" + program + "' 2>&1").text;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

TEST_F(Terminal, ColoursAndProgressOnTerminalsOnly) {
  const std::string line = "FXJIT_CACHE= " + fxjit_program() + " bench " +
                           model_path("attention") + " --seconds 0.01";
  const std::string screen = on_terminal("TERM=xterm NO_COLOR= " + line);
  EXPECT_THAT(screen, HasSubstr("\033[1m"));
  EXPECT_THAT(screen, HasSubstr("\r\033[Kround 5 of 5: fused"));
  const std::string plain = on_terminal("TERM=xterm NO_COLOR=1 " + line);
  EXPECT_THAT(plain, Not(HasSubstr("\033[1m")));
  EXPECT_THAT(on_terminal("TERM=dumb " + line), Not(HasSubstr("\033")));
  EXPECT_THAT(run_line("TERM=xterm " + line + " 2>&1").text,
              Not(HasSubstr("\033")));
  EXPECT_THAT(on_terminal("TERM=xterm " + fxjit_program() + " run none.pt2"),
              HasSubstr("\033[31mfxjit:\033[0m"));
}

TEST_F(Terminal, EveryCommandHasHelp) {
  for (const char* command : {"", "run", "inspect", "bench"}) {
    const Ran help = fxjit_command(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.text, HasSubstr("Examples:\n  fxjit "));
    EXPECT_THAT(help.text, HasSubstr("Exit codes:\n  0  done\n  1  "));
  }
}

TEST_F(Terminal, ManPage) {
  const std::string page =
      run_line("cat " FXJIT_BINARY_DIR "/share/man/man1/fxjit.1").text;
  EXPECT_THAT(page, ::testing::StartsWith(".TH FXJIT 1"));
  for (const char* words :
       {".SS fxjit run", ".SS fxjit inspect", ".SS fxjit bench",
        ".B \\-\\-against PEERS", "onnxruntime, openvino, torch",
        ".SH EXIT STATUS", ".SH ENVIRONMENT", "fxjit bench model.pt2"})
    EXPECT_THAT(page, HasSubstr(words));
  if (run_line("command -v groff").code == 0) {
    EXPECT_EQ(run_line("groff -man -Tutf8 -ww -z " FXJIT_BINARY_DIR
                       "/share/man/man1/fxjit.1 2>&1")
                  .text,
              "");
  }
}

TEST_F(Terminal, Completion) {
  if (run_line("bash -c :").code != 0) GTEST_SKIP() << "no bash";
  for (const char* name : {"a b.pt2", "w.safetensors", "x.npy", "m.onnx"})
    write(name, "");
  run_line("mkdir " + file("sub"));
  const auto proposes = [&](const std::string& words, const char* proposals) {
    EXPECT_EQ(completed(words, folder()), proposals) << words;
  };
  proposes("fxjit \"\"", "run inspect bench check -h --help --version");
  proposes("fxjit in", "inspect");
  proposes("fxjit bench --thr", "--threads");
  proposes("fxjit bench --against o", "onnxruntime openvino");
  proposes("fxjit bench --against torch,op", "torch,openvino");
  proposes("fxjit bench --disable fuse_a", "fuse_attention");
  proposes("fxjit run a", "a b.pt2");
  proposes("fxjit run a --weights \"\"", "sub w.safetensors");
  proposes("fxjit run a --weights = \"\"", "sub w.safetensors");
  proposes("fxjit run a --input x", "");
  proposes("fxjit run a --input x =", "sub x.npy");
  proposes("fxjit run a --input x = x", "x.npy");
  proposes("fxjit run a --output \"\"", "sub");
  proposes("fxjit bench a --onnx m", "m.onnx");
  proposes("fxjit run a --threads \"\"", "");
}

// What help shows is what completion proposes.
TEST_F(Terminal, CompletionKnowsAllOptions) {
  if (run_line("bash -c :").code != 0) GTEST_SKIP() << "no bash";
  for (const char* command : {"run", "inspect", "bench"}) {
    const std::string proposals =
        completed(std::string("fxjit ") + command + " -", folder());
    const Ran names = run_line("'" + fxjit_program() + "' " + command +
                               " --help | grep -o '^  --[a-z-]*'");
    EXPECT_GE(names.text.size(), 20u);
    std::istringstream lines(names.text);
    for (std::string name; lines >> name;)
      EXPECT_THAT(proposals, HasSubstr(name));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
