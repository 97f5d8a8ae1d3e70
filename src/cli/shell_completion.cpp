#include "cli/shell_completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

// CLI11 describes a closed set of values as "NAME:{a,b,c}".
std::vector<std::string> ClosedSet(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return base::Split(type.substr(open + 1, close - open - 1), ',');
}

bool NamesPath(const std::string& type) {
  return base::Contains(type, "FILE") || base::Contains(type, "DIR");
}

CommandWords::Option ReadOption(const CLI::Option& option) {
  CommandWords::Option words{.description = option.get_description(),
                             .takes_value = option.get_items_expected_max() > 0,
                             .takes_file = NamesPath(option.get_type_name()),
                             .values = ClosedSet(option.get_type_name())};
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  return words;
}

void ReadPositional(const CLI::Option& option, CommandWords& command) {
  const std::string& name = option.get_single_name();
  if (name == "JOB") command.takes_job = true;
  if (NamesPath(name)) command.takes_file = true;
  for (const std::string& value : ClosedSet(option.get_type_name()))
    command.values.push_back(value);
}

// --- What the three scripts share: a command's place in the tree, "/controller/run". ---

using Visit = void (*)(std::string& out, const std::string& at, const CommandWords& command,
                       const CommandWords& root);

void Walk(std::string& out, const std::string& at, const CommandWords& command,
          const CommandWords& root, Visit visit) {
  visit(out, at, command, root);
  for (const CommandWords& child : command.commands)
    Walk(out, at + "/" + child.names.front(), child, root, visit);
}

// Options of the command, and the global ones, which may stand anywhere.
std::vector<CommandWords::Option> OptionsOf(const CommandWords& command, const CommandWords& root) {
  std::vector<CommandWords::Option> options = command.options;
  if (&command == &root) return options;
  for (const CommandWords::Option& option : root.options)
    if (option.names.back() != "--help") options.push_back(option);
  return options;
}

// Lines of a shell's `case`: how a word leads from one place to the next.
void AppendSteps(std::string& out, const std::string& at, const CommandWords& command,
                 const CommandWords& /*root*/) {
  for (const CommandWords& child : command.commands) {
    std::vector<std::string> patterns;
    for (const std::string& name : child.names) patterns.push_back(at + "/" + name);
    out +=
        fmt::format("      {}) at={}/{} ;;\n", base::Join(patterns, "|"), at, child.names.front());
  }
}

// The place of the word under the cursor. `first` is the index of the first word behind "jobman".
std::string FindPlace(const CommandWords& root, std::string_view words, std::string_view first,
                      std::string_view current) {
  std::vector<std::string> valued;
  for (const CommandWords::Option& option : root.options)
    if (option.takes_value) valued.push_back(base::Join(option.names, "|"));
  std::string text = fmt::format(
      "  for ((i = {}; i < {}; i++)); do\n"
      "    word=${{{}[i]}}\n"
      "    if [[ -n $skip ]]; then skip=; continue; fi\n"
      "    case $word in\n"
      "      {}) skip=1; continue ;;\n"
      "    esac\n"
      "    case $at/$word in\n",
      first, current, words, base::Join(valued, "|"));
  Walk(text, "", root, root, AppendSteps);
  return text + "    esac\n  done\n";
}

std::vector<std::string> Names(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  for (const CommandWords& command : commands) names.push_back(command.names.front());
  return names;
}

std::string PlacePattern(const std::string& at) {
  return at.empty() ? "''" : at;
}

// --- bash ---

void AppendBashValues(std::string& out, const std::string& at, const CommandWords& command,
                      const CommandWords& root) {
  for (const CommandWords::Option& option : OptionsOf(command, root)) {
    if (!option.takes_value) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back("\"" + at + " " + name + "\"");
    const std::string values = base::Join(option.values, " ");
    const std::string reply = option.takes_file ? "COMPREPLY=($(compgen -f -- \"$cur\"))"
                              : values.empty()
                                  ? "COMPREPLY=()"
                                  : "COMPREPLY=($(compgen -W '" + values + "' -- \"$cur\"))";
    out += fmt::format("    {}) {}; return ;;\n", base::Join(patterns, "|"), reply);
  }
}

void AppendBashPlace(std::string& out, const std::string& at, const CommandWords& command,
                     const CommandWords& root) {
  std::vector<std::string> options;
  for (const CommandWords::Option& option : OptionsOf(command, root))
    options.insert(options.end(), option.names.begin(), option.names.end());
  std::vector<std::string> words = Names(command.commands);
  words.insert(words.end(), command.values.begin(), command.values.end());
  out += fmt::format("    {}) options='{}' words='{}' jobs={} files={} ;;\n", PlacePattern(at),
                     base::Join(options, " "), base::Join(words, " "), command.takes_job ? "1" : "",
                     command.takes_file ? "1" : "");
}

// --- zsh ---

std::string ZshPair(const std::string& word, const std::string& description) {
  return base::ShellQuote(base::ReplaceAll(word, ":", "\\:") + ":" + description);
}

void AppendZshPlace(std::string& out, const std::string& at, const CommandWords& command,
                    const CommandWords& root) {
  out += fmt::format("    {})\n      options=(", PlacePattern(at));
  for (const CommandWords::Option& option : OptionsOf(command, root))
    for (const std::string& name : option.names) out += " " + ZshPair(name, option.description);
  // Not `words`: that is the completion system's own name for the command line.
  out += " )\n      choices=(";
  for (const CommandWords& child : command.commands)
    out += " " + ZshPair(child.names.front(), child.description);
  for (const std::string& value : command.values) out += " " + ZshPair(value, "");
  out += fmt::format(" )\n      jobs={} files={} ;;\n", command.takes_job ? "1" : "",
                     command.takes_file ? "1" : "");
}

// --- fish ---

std::string FishQuote(const std::string& text) {
  return "'" + base::ReplaceAll(base::ReplaceAll(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string FishCondition(const std::string& at) {
  return "__jobman_at " + (at.empty() ? "/" : at);
}

void AppendFishOption(std::string& out, const std::string& condition,
                      const CommandWords::Option& option) {
  out += "complete -c jobman -n " + FishQuote(condition);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) out += option.takes_file ? " -r -F" : " -x";
  if (!option.values.empty()) out += " -a " + FishQuote(base::Join(option.values, " "));
  out += " -d " + FishQuote(option.description) + "\n";
}

void AppendFishPlace(std::string& out, const std::string& at, const CommandWords& command,
                     const CommandWords& root) {
  const std::string condition = FishCondition(at);
  const std::string start = "complete -c jobman -n " + FishQuote(condition);
  for (const CommandWords& child : command.commands)
    out += start + " -a " + child.names.front() + " -d " + FishQuote(child.description) + "\n";
  if (!command.values.empty())
    out += start + " -a " + FishQuote(base::Join(command.values, " ")) + "\n";
  if (command.takes_job) out += start + " -a '(jobman list --quiet --all 2>/dev/null)'\n";
  if (command.takes_file) out += start + " -F\n";
  for (const CommandWords::Option& option : OptionsOf(command, root))
    AppendFishOption(out, condition, option);
}

void AppendFishSteps(std::string& out, const std::string& at, const CommandWords& command,
                     const CommandWords& /*root*/) {
  for (const CommandWords& child : command.commands) {
    std::vector<std::string> patterns;
    for (const std::string& name : child.names) patterns.push_back(at + "/" + name);
    out += fmt::format("      case {}\n        set at {}/{}\n", base::Join(patterns, " "), at,
                       child.names.front());
  }
}

}  // namespace

CommandWords ReadCommandWords(const CLI::App& root) {
  CommandWords command{.names = {root.get_name()}, .description = root.get_description()};
  for (const std::string& alias : root.get_aliases()) command.names.push_back(alias);
  for (const CLI::Option* option : root.get_options()) {
    if (option->get_positional()) {
      ReadPositional(*option, command);
    } else {
      command.options.push_back(ReadOption(*option));
    }
  }
  for (const CLI::App* child : root.get_subcommands({}))
    command.commands.push_back(ReadCommandWords(*child));
  return command;
}

std::string BashCompletion(const CommandWords& root) {
  std::string text =
      "# Completion of jobman for bash: eval \"$(jobman completion bash)\"\n"
      "_jobman() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local at= word= i= skip= options= words= jobs= files=\n";
  text += FindPlace(root, "COMP_WORDS", "1", "COMP_CWORD");
  text += "  case \"$at $prev\" in\n";
  Walk(text, "", root, root, AppendBashValues);
  text += "  esac\n  case $at in\n";
  Walk(text, "", root, root, AppendBashPlace);
  return text +
         "  esac\n"
         "  [[ $cur == -* ]] && words=$options jobs= files=\n"
         "  [[ -n $jobs ]] && words+=\" $(jobman list --quiet --all 2>/dev/null)\"\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  [[ -n $files ]] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _jobman jobman\n";
}

std::string ZshCompletion(const CommandWords& root) {
  std::string text =
      "#compdef jobman\n"
      "# Completion of jobman for zsh: jobman completion zsh > \"${fpath[1]}/_jobman\"\n"
      "_jobman() {\n"
      "  local at= word= i= skip= jobs= files= ret=1\n"
      "  local -a options choices\n";
  text += FindPlace(root, "words", "2", "CURRENT");
  text += "  case $at in\n";
  Walk(text, "", root, root, AppendZshPlace);
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then _describe option options; return; fi\n"
         "  (( $#choices )) && _describe command choices && ret=0\n"
         "  [[ -n $jobs ]] && compadd -- ${(f)\"$(jobman list --quiet --all 2>/dev/null)\"} && "
         "ret=0\n"
         "  [[ -n $files ]] && _files && ret=0\n"
         "  return ret\n"
         "}\n"
         // From a folder of $fpath this file is the function's body, and this its first call.
         "if [[ ${funcstack[1]} == _jobman ]]; then\n"
         "  _jobman \"$@\"\n"
         "else\n"
         "  compdef _jobman jobman\n"
         "fi\n";
}

std::string FishCompletion(const CommandWords& root) {
  std::string text =
      "# Completion of jobman for fish: jobman completion fish > "
      "~/.config/fish/completions/jobman.fish\n"
      "function __jobman_at\n"
      "  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at/$word\"\n";
  Walk(text, "", root, root, AppendFishSteps);
  text +=
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv[1]\" -o \\( -z \"$at\" -a \"$argv[1]\" = / \\)\n"
      "end\n"
      "complete -c jobman -f\n";
  Walk(text, "", root, root, AppendFishPlace);
  return text;
}

}  // namespace jobman::cli
