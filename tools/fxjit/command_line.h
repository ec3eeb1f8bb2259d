// The words of the command: subcommands, options, examples. Help, man page and
// completion are made from them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/fxjit/commands.h"

namespace fxjit::command {

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2 };

struct Commands {
  RunOptions run;
  InspectOptions inspect;
  BenchOptions bench;
  CheckOptions check;
  std::string document;  // What --generate asks for: "man" or "completion".
};

void describe(CLI::App& app, Commands& commands);

// What both documents say of one option.
struct OptionFacts {
  std::string names;    // "--input NAME=VALUE"
  std::string words;    // "--input", or several: "-h --help".
  std::string meaning;  // One sentence.
  std::string kind;     // What its value is: "FILE.npy"; empty for a flag.
  std::vector<std::string> choices;  // All values, where they are few.
};
// The options of one subcommand, without what stands by its place (MODEL).
std::vector<OptionFacts> options_of(const CLI::App& command);
// Examples and exit codes at the end of the help of `command`.
std::string examples_of(const CLI::App& command);
std::string exit_codes();

// The page fxjit.1, and a script for bash.
std::string man_page(const CLI::App& app);
std::string bash_completion(const CLI::App& app);

}  // namespace fxjit::command
