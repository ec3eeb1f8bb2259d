// fxjit: runs, inspects, measures and checks a model file.
#include <cstdio>
#include <new>

#include "fxjit/error.h"
#include "tools/fxjit/command_line.h"
#include "tools/fxjit/terminal.h"

namespace fxjit::command {
namespace {

// Begins as all other errors do, and names the help to read.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = "fxjit";
  for (const CLI::App* chosen : app->get_subcommands())
    command += " " + chosen->get_name();
  return command::Colours(stderr).red("fxjit:") + " " + error.what() +
         "\nRun " + command + " --help for more information.\n";
}

// CLI11 would list all words of the line as not expected.
void check_name(const CLI::App& app, const std::string& name) {
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw CLI::ValidationError("there is no command " + name + ": expected " +
                             known);
}

int run_command(int argc, char** argv) {
  CLI::App app(
      "Runs PyTorch (.pt2) and ONNX models as machine code, without Python or "
      "another runtime.",
      "fxjit");
  Commands commands;
  describe(app, commands);
  app.failure_message(usage_error);
  try {
    if (argc > 1 && argv[1][0] != '-') check_name(app, argv[1]);
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
