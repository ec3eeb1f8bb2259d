// fxjit: runs, inspects, measures and checks a model file.
#include <cstdio>
#include <new>

#include "fxjit/error.h"
#include "tools/fxjit/command_line.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

int run_command(int argc, char** argv) {
  CLI::App app("Runs PyTorch programs natively: no Python, no PyTorch.",
               "fxjit");
  Commands commands;
  describe(app, commands);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty() && commands.document.empty())
      throw CLI::RequiredError("A subcommand");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (!commands.document.empty())
    std::fputs(
        (commands.document == "man" ? man_page(app) : bash_completion(app))
            .c_str(),
        stdout);
  if (app.got_subcommand("run")) run(commands.run);
  if (app.got_subcommand("inspect")) inspect(commands.inspect);
  if (app.got_subcommand("bench")) bench(commands.bench);
  if (app.got_subcommand("check") && !check(commands.check)) return kFailed;
  return kDone;
}

void report(const char* what) {
  const std::string name = command::Colours(stderr).red("fxjit:");
  std::fprintf(stderr, "%s %s\n", name.c_str(), what);
}

}  // namespace
}  // namespace fxjit::command

int main(int argc, char** argv) {
  using namespace fxjit::command;  // NOLINT: the one function of this file
  try {
    return run_command(argc, argv);
  } catch (const fxjit::Error& error) {
    report(error.what());
  } catch (const std::bad_alloc&) {
    report("out of memory");
  }
  return kFailed;
}
