#include "cli/man_page.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/help.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

/// Text for roff: a backslash and the minus sign have other meanings there, and a line that begins
/// with a full stop or an apostrophe is a request.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    line_begins = c == '\n';
  }
  return escaped;
}

std::string Bold(std::string_view text) {
  return "\\fB" + Escaped(text) + "\\fR";
}

std::string Italic(std::string_view text) {
  return "\\fI" + Escaped(base::Trim(text)) + "\\fR";
}

/// Options without a group are hidden from --help, too.
bool IsShown(const CLI::Option& option) {
  return !option.get_group().empty();
}

/// Names and values of an option, as --help has them: "-s, --status STATUS,...".
std::string Term(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(Bold("-" + name));
  for (const std::string& name : option.get_lnames()) names.push_back(Bold("--" + name));
  if (option.get_positional()) names = {Bold(option.get_single_name())};
  const std::string value = CLI::Formatter().make_option_opts(&option);
  return base::Join(names, ", ") + (value.empty() ? "" : " " + Italic(value));
}

std::string Options(const CLI::App& command) {
  std::string text;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : command.get_options()) {
      const bool here = option->get_positional() == positional && IsShown(*option);
      // Its text would be the same at each command.
      const bool help = command.get_parent() != nullptr && option->check_name("--help");
      if (here && !help)
        text += ".TP\n" + Term(*option) + "\n" + Escaped(option->get_description()) + "\n";
    }
  }
  return text;
}

std::string ExampleLines(const CLI::App& command) {
  const std::string_view lines = ExamplesOf(command.get_name());
  return lines.empty() ? "" : ".PP\n.RS 4\n.nf\n" + Escaped(lines) + "\n.fi\n.RE\n";
}

/// "jobman controller run [OPTIONS]"
std::string Usage(const CLI::App& command, const std::string& path) {
  std::string text = Bold(path);
  bool takes_options = false;
  for (const CLI::Option* option : command.get_options())
    takes_options = takes_options || (!option->get_positional() && !option->check_name("--help"));
  if (takes_options) text += " [OPTIONS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || !IsShown(*option)) continue;
    const bool several = option->get_items_expected_max() > 1;
    const std::string name = option->get_single_name() + (several ? "..." : "");
    text += " " + (option->get_required() ? Italic(name) : "[" + Italic(name) + "]");
  }
  return text;
}

void AddCommand(const CLI::App& command, const std::string& before, std::string& page) {
  const std::string path = before + " " + command.get_name();
  const auto inner = command.get_subcommands({});
  // A command that needs a subcommand does nothing alone: they tell what it is for.
  if (command.get_require_subcommand_min() == 0) {
    page += ".SS " + Usage(command, path) + "\n" + Escaped(command.get_description()) + ".\n";
    if (!command.get_aliases().empty())
      page += "Also: " + Bold(base::Join(command.get_aliases(), ", ")) + ".\n";
    page += Options(command) + ExampleLines(command);
  }
  for (const CLI::App* child : inner)
    if (!child->get_group().empty()) AddCommand(*child, path, page);
}

/// Lines that stay apart where a sentence ends; elsewhere the terminal's width breaks them.
std::string Lines(const std::string& text) {
  return base::ReplaceAll(Escaped(text), ".\n", ".\n.br\n");
}

constexpr const char* kEnd =
    ".SH FILES\n.TP\n\\fI~/.local/state/jobman\\fR\n"
    "Jobs, logs and keys, unless \\fB\\-\\-home\\fR or \\fBJOBMAN_HOME\\fR says otherwise.\n"
    ".TP\n\\fI~/.config/jobman/config.yaml\\fR\nDefaults for every job file.\n"
    ".SH SEE ALSO\n"
    "\\fBjobman config explain\\fR \\fIKEY\\fR explains a key of the job file, \\fBjobman "
    "init\\fR\n"
    "writes a commented one. The folder \\fIdoc/jobman\\fR of the package has the whole "
    "reference.\n"
    ".PP\n\\fBssh\\fR(1), \\fBcrontab\\fR(5), \\fBsystemd.service\\fR(5)\n";

}  // namespace

std::string ManPage(const CLI::App& root) {
  std::string page =
      ".\\\" Written by jobman itself, from the texts of --help.\n"
      ".TH JOBMAN 1 \"\" \"jobman " JOBMAN_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\njobman \\- TPU VM lifecycle and job manager\n"
      ".SH SYNOPSIS\n\\fBjobman\\fR \\fICOMMAND\\fR [OPTIONS]\n.SH DESCRIPTION\n";
  page += Escaped(root.get_description()) + "\n.PP\n" + Lines(root.get_footer()) + "\n";
  page += ".SH OPTIONS\nEvery command takes these, before its name or after it.\n" + Options(root);
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : root.get_subcommands({})) AddCommand(*command, "jobman", page);
  return page + kEnd;
}

}  // namespace jobman::cli
