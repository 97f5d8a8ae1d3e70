#include "cli/help.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

constexpr const char* kGlobalOptions =
    "Every command also takes --home, --endpoint, --json, --quiet, --no-color, --verbose: see "
    "jobman --help.";

constexpr std::string_view kExampleIndent = "    ";
/// Where CLI11 begins the description of an option.
constexpr std::size_t kDescription = 30;

struct Examples {
  std::string_view command = {};
  std::string_view lines = {};
};

/// Each is a line that can be copied, of `tick` the second one into a crontab.
constexpr std::array kExamples = {
    Examples{"create",
             "jobman create train.yaml\n"
             "jobman create train.yaml --set tpu.zone=us-east5-a --dry-run\n"
             "jobman create train.yaml --array lr=0.1,0.01 --array seed=1-3\n"
             "jobman create sweep-*.yaml --follow\n"
             "jobman create --from-sky task.yaml --set tpu.zone=us-central2-b"},
    Examples{"run",
             "jobman run train.yaml\n"
             "jobman run 42 --cmd-only"},
    Examples{"list",
             "jobman list -s running,failed\n"
             "jobman list --watch\n"
             "jobman list -l team=vision --sort since -v"},
    Examples{"show",
             "jobman show 42\n"
             "jobman show train --json | jq '.jobs[0].exits'"},
    Examples{"why", "jobman why 42\njobman why lr-0.1"},
    Examples{"history",
             "jobman history 42\n"
             "jobman history 42 -a 3 -k state,host"},
    Examples{"logs",
             "jobman logs -f 42\n"
             "jobman logs 42 --host 0,3-7 --tail 20\n"
             "jobman logs 42 --stage install -a 1\n"
             "jobman logs 42 -t --since 10m\n"
             "jobman logs 'sweep-*' --grep loss --tail 1"},
    Examples{"wait",
             "jobman wait 42 && echo done\n"
             "jobman wait 'sweep-*' --timeout 8h\n"
             "jobman wait 42 --for running"},
    Examples{"cost",
             "jobman cost\n"
             "jobman cost 'sweep-*' --by day --since 7d\n"
             "jobman cost --csv >cost.csv"},
    Examples{"queue",
             "jobman queue\n"
             "jobman queue tasks.yaml --watch\n"
             "jobman queue --reset-failed\n"
             "jobman queue --prioritize lr-0.1,lr-0.3"},
    Examples{"task",
             "jobman task submit train.sh -a v4-8 -z us-central2-b\n"
             "jobman task submit sweep.yaml --array lr=0.1,0.01\n"
             "jobman task show lr-0.1\n"
             "jobman task logs -f lr-0.1\n"
             "jobman task pause 'lr-*' --queue tasks.yaml"},
    Examples{"status", "jobman status\njobman status --watch"},
    Examples{"cancel", "jobman cancel 42\njobman cancel 'sweep-*' --wait"},
    Examples{"resume",
             "jobman resume 42\n"
             "jobman resume 42 --set command.env.LR=0.01"},
    Examples{"reboot", "jobman reboot 42\njobman reboot 42 --force"},
    Examples{"requeue", "jobman requeue 42"},
    Examples{"maintain", "jobman maintain 42"},
    Examples{"edit", "jobman edit 42"},
    Examples{"delete",
             "jobman delete 42\n"
             "jobman delete 'sweep-*' --yes --wait\n"
             "jobman delete -s succeeded -l study=lr"},
    Examples{"clean", "jobman clean 42"},
    Examples{"gc", "jobman gc\njobman gc --zone us-east5-a,us-east5-b"},
    Examples{"worker",
             "jobman worker start -a v4-8 -z us-central2-b -p spot --count 4 --idle 30m\n"
             "jobman worker start -f worker.yaml --queue tasks.yaml\n"
             "jobman worker stop 42"},
    Examples{"exec",
             "jobman exec 42 -- uptime\n"
             "jobman exec 42 -w 0,3-7 -- df -h /tmp\n"
             "jobman exec 42 --fold -- 'pip freeze | grep jax'\n"
             "jobman exec 42 --exclude 0 --workdir -- git pull\n"
             "jobman exec 42 --job-env --timeout 5m -- python check.py\n"
             "jobman exec 42 --rerun-failed\n"
             "jobman exec 42 --detach --name eval -- python eval.py\n"
             "jobman exec 42 --follow eval\n"
             "jobman exec 42 --tty -w 0 --job-env -- python -m pdb train.py"},
    Examples{"top",
             "jobman top 42\n"
             "jobman top 42 --watch --every 2s\n"
             "jobman top 42 -w 0,3-7 -o wide --sort duty"},
    Examples{"ssh", "jobman ssh 42\njobman ssh 42 -w 3"},
    Examples{"ssh-config",
             "jobman ssh-config install\n"
             "ssh jobman-42-w3\n"
             "jobman ssh-config 42"},
    Examples{"cp",
             "jobman cp data 42:\n"
             "jobman cp 42:out.txt .\n"
             "jobman cp -w all 42:logs results\n"
             "jobman cp --patience 10m 42:checkpoint ."},
    Examples{"sync",
             "jobman sync . 42:code\n"
             "jobman sync data 42:/mnt/disk/data --delete --exclude '*.tmp'\n"
             "jobman sync . 42:code --dry-run"},
    Examples{"forward",
             "jobman forward 42 6006\n"
             "jobman forward 42 8080:6006 -w 3\n"
             "jobman forward train 6006 8080:80 --background\n"
             "jobman forward list\n"
             "jobman forward stop 6006"},
    Examples{"keys",
             "jobman keys add ~/ann.pub --user ann\n"
             "jobman keys add bob.pub --job 'sweep-*'\n"
             "jobman keys list\n"
             "jobman keys remove ann"},
    Examples{"init",
             "jobman init train.yaml --accelerator v4-32 --zone us-central2-b\n"
             "jobman init train.yaml --from-sbatch train.sh --accelerator v4-32"},
    Examples{"import",
             "jobman import ~/jobman --dry-run\n"
             "jobman import ~/jobman --set tpu.project=my-project"},
    Examples{"config",
             "jobman config check train.yaml\n"
             "jobman config show train.yaml --origins"},
    Examples{"doctor",
             "jobman doctor\njobman doctor train.yaml\njobman doctor -z us-central2-b --json"},
    Examples{"zones",
             "jobman zones -a v5litepod-16\n"
             "jobman zones us-central2-b\n"
             "jobman zones --csv >zones.csv"},
    Examples{"quota",
             "jobman quota\n"
             "jobman quota -z us-central2-b,us-west4-a\n"
             "jobman quota --all --csv >quota.csv"},
    Examples{"billing",
             "jobman billing --days 30 --by day\njobman billing --all --csv >billing.csv"},
    Examples{"storage", "jobman storage\njobman storage gs://my-data --json"},
    Examples{"controller", "jobman controller status\njobman controller install"},
    Examples{"tick", "jobman tick\n* * * * * jobman tick"},
    Examples{"store", "jobman store adopt"},
    Examples{"completion", "source <(jobman completion bash)"},
    Examples{"help", "jobman help exec"},
    Examples{"version", "jobman version --json"},
};

class UsageFormatter final : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    std::string usage;
    for (int i = 0; i < option->get_expected_min(); ++i)
      usage += (i > 0 ? " " : "") + make_option_name(option, true);
    if (usage.empty()) usage = make_option_name(option, true);
    if (option->get_expected_max() > std::max(option->get_expected_min(), 1)) usage += "...";
    return option->get_required() ? usage : "[" + usage + "]";
  }
};

std::string FooterOf(std::string_view command) {
  std::string text;
  for (const std::string& line : base::Split(std::string(ExamplesOf(command)), '\n')) {
    if (!line.empty()) text += std::string(kExampleIndent) + line + "\n";
  }
  return text.empty() ? kGlobalOptions : "Examples:\n" + text + "\n" + kGlobalOptions;
}

/// The column at which a line goes on: that of its description, else that of its text.
std::size_t IndentOf(std::string_view line) {
  const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
  const bool described = text == 2 && line.size() > kDescription && line[kDescription - 1] == ' ' &&
                         line[kDescription] != ' ';
  return described ? kDescription : text;
}

std::string WrapLine(const std::string& line, int width) {
  const bool example = line.starts_with(kExampleIndent) && !line.starts_with("     ");
  if (example || ui::DisplayWidth(line) <= width) return line;
  const std::size_t indent = IndentOf(line);
  const int column = static_cast<int>(indent);
  return line.substr(0, indent) + WrapText(line.substr(indent), column, column, width);
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> HelpFormatter() {
  return std::make_shared<UsageFormatter>();
}

std::string_view ExamplesOf(std::string_view command) {
  const auto found = std::find_if(kExamples.begin(), kExamples.end(),
                                  [&](const Examples& one) { return one.command == command; });
  return found == kExamples.end() ? std::string_view() : found->lines;
}

void AddFooters(CLI::App& root) {
  for (CLI::App* command : root.get_subcommands({})) {
    command->footer(FooterOf(command->get_name()));
    for (CLI::App* inner : command->get_subcommands({})) {
      inner->footer(FooterOf(command->get_name()));
    }
  }
}

std::string WrapHelp(std::string_view text, int width) {
  // CLI11 leaves two blank lines where an option is hidden.
  std::string even = base::ReplaceAll(std::string(text), "\n\n\n", "\n\n");
  if (width <= 0) return even;
  std::vector<std::string> lines = base::Split(even, '\n');
  for (std::string& line : lines) line = WrapLine(line, width);
  return base::Join(lines, "\n");
}

std::vector<std::string> HelpAsOption(std::vector<std::string> args, std::string_view command) {
  if (command != "help") return args;
  args.erase(std::find(args.begin(), args.end(), command));
  args.emplace_back("--help");
  return args;
}

}  // namespace jobman::cli
