// The man page and the completion for bash, from the command's own words.
#include <ctime>

#include "fxjit/version.h"
#include "tools/fxjit/command_line.h"

namespace fxjit::command {
namespace {

// As text of a page: no control lines, hyphens that can be copied.
std::string roff(const std::string& text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) safe += "\\&";
    if (text[i] == '\\')
      safe += "\\e";
    else if (text[i] == '-')
      safe += "\\-";
    else
      safe += text[i];
  }
  return safe;
}

std::string listed(const std::vector<OptionFacts>& options) {
  std::string page;
  for (const OptionFacts& option : options) {
    page +=
        ".TP\n.B " + roff(option.names) + "\n" + roff(option.meaning) + "\n";
    std::string choices;
    for (const std::string& choice : option.choices)
      choices += (choices.empty() ? "" : ", ") + choice;
    if (!choices.empty()) page += ".br\nOf: " + roff(choices) + ".\n";
  }
  return page;
}

std::string verbatim(const std::string& lines) {
  return ".nf\n" + roff(lines) + ".fi\n";
}

constexpr const char* kEnvironment =
    ".TP\n.B FXJIT_CACHE\nThe folder of compiled code; empty: none is kept.\n"
    ".TP\n.B FXJIT_KERNELS\nThe file of kernels that comes with the library; "
    "empty: none is used.\n"
    ".TP\n.B NO_COLOR\nNo colours on terminals, where it is not empty.\n";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

// How bash completes a value of this kind; `cur` is what stands there.
std::string action_for(const OptionFacts& option) {
  if (option.kind == "PEERS")
    return "_fxjit_list '" + joined(option.choices) + "'";
  if (!option.choices.empty())
    return "_fxjit_words '" + joined(option.choices) + "'";
  if (option.kind == "FOLDER") return "_fxjit_folders";
  if (option.kind == "PROGRAM") return "COMPREPLY=($(compgen -c -- \"$cur\"))";
  const size_t dot = option.kind.rfind('.');
  if (dot == option.kind.npos) return ":";
  const std::string files = "_fxjit_files " + option.kind.substr(dot);
  return option.kind.starts_with("NAME=") ? "[[ ! $given ]] || " + files
                                          : files;
}

std::string cases_of(const CLI::App& command) {
  const std::vector<OptionFacts> options = options_of(command);
  std::string actions, words;
  for (const OptionFacts& option : options) {
    words += (words.empty() ? "" : " ") + option.words;
    if (!option.kind.empty())
      actions += "        " + option.words + ") " + action_for(option) +
                 "; return ;;\n";
  }
  return "    " + command.get_name() + ")\n      case $prev in\n" + actions +
         "      esac\n      _fxjit_model '" + words + "' ;;\n";
}

constexpr const char* kHelpers = R"(# Completion of the command fxjit for bash.
_fxjit_words() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
# Several words with commas between: the last one is completed.
_fxjit_list() {
  local before=
  [[ $cur == *,* ]] && before=${cur%,*},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
}
_fxjit_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}
# Files with these endings, and folders on the way.
_fxjit_files() {
  local ending
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur"
    for ending; do compgen -f -X "!*$ending" -- "$cur"; done)
}
_fxjit_model() {
  if [[ $cur == -* ]]; then _fxjit_words "$1"; else _fxjit_files ''; fi
}
_fxjit() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
  local command=${COMP_WORDS[1]} given=
  COMPREPLY=()
  # bash takes "--input x=a.npy" for four words: "--input", "x", "=", "a.npy".
  if [[ $cur == = ]]; then cur= prev==; fi
  if [[ $prev == = ]]; then
    given=1
    for ((i = COMP_CWORD; i > 1; --i)); do
      if [[ ${COMP_WORDS[i]} == --* ]]; then prev=${COMP_WORDS[i]}; break; fi
    done
  fi
  if ((COMP_CWORD == 1)); then
)";

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string page = ".TH FXJIT 1 \"\" \"fxjit " FXJIT_VERSION_STRING
                     "\" \"User Commands\"\n"
                     ".SH NAME\nfxjit \\- runs, inspects, measures and checks models\n"
                     ".SH SYNOPSIS\n";
  std::string commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    page += ".B fxjit " + command->get_name() + "\n.I MODEL\n[options]\n.br\n";
    commands += ".SS fxjit " + command->get_name() + "\n" +
                roff(command->get_description()) + ".\n" +
                listed(options_of(*command)) + ".PP\nExamples:\n" +
                verbatim(examples_of(*command));
  }
  return page + ".B fxjit\n\\-\\-help | \\-\\-version\n.SH DESCRIPTION\n" +
         roff(app.get_description()) +
         "\n.I MODEL\nis a .pt2 file of torch.export.save, an .onnx model or a "
         "file of fx::save.\n.SH COMMANDS\n" +
         commands + ".SH EXIT STATUS\n" + verbatim(exit_codes()) +
         ".SH ENVIRONMENT\n" + kEnvironment;
}

std::string bash_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += command->get_name() + " ";
    cases += cases_of(*command);
  }
  for (const OptionFacts& option : options_of(app)) names += option.words + " ";
  names.pop_back();
  return kHelpers + ("    _fxjit_words '" + names + "'\n    return\n  fi\n") +
         "  case $command in\n" + cases +
         "  esac\n}\ncomplete -F _fxjit fxjit\n";
}

}  // namespace fxjit::command
