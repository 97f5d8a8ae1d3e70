#include "config/convert/sbatch_options.hpp"

#include <algorithm>
#include <iterator>

namespace jobman::config::convert {
namespace {

using Takes = SbatchOption::Takes;

constexpr const char* kSize = "the size of a slice is that of its type: tpu.accelerator";
constexpr const char* kNodes = "a slice is made for the job: no nodes are chosen";
constexpr const char* kPolicy = "there are no partitions, accounts and queues here";
constexpr const char* kLogs = "each host's output is kept: jobman logs JOB";
constexpr const char* kMail = "on.succeeded and on.failed of a job file send mail, with smtp";
constexpr const char* kTool = "it says how sbatch itself behaves";
constexpr const char* kLater = "leave it out, and create the job when it is time";
constexpr const char* kContainer = "leave it out; docker of a job file runs the command in one";
constexpr const char* kNoOption = "leave it out: there is no key for it";

constexpr SbatchOption Taken(std::string_view name, char letter, Takes takes = Takes::kValue) {
  return {.name = name, .letter = letter, .takes = takes, .fate = Fate::kConverted};
}
constexpr SbatchOption Passed(std::string_view name, char letter, std::string_view why,
                              Takes takes = Takes::kValue) {
  return {.name = name, .letter = letter, .takes = takes, .why = why};
}
constexpr SbatchOption Refused(std::string_view name, char letter, std::string_view cure,
                               Takes takes = Takes::kValue) {
  return {.name = name, .letter = letter, .takes = takes, .fate = Fate::kRefused, .why = cure};
}

constexpr SbatchOption kOptions[] = {
    Taken("array", 'a'),
    Taken("chdir", 'D'),
    Taken("export", '\0'),
    Taken("job-name", 'J'),
    Taken("no-requeue", '\0', Takes::kNothing),
    Taken("requeue", '\0', Takes::kNothing),
    Taken("time", 't'),

    Passed("error", 'e', kLogs),
    Passed("open-mode", '\0', kLogs),
    Passed("output", 'o', kLogs),

    Passed("cores-per-socket", '\0', kSize),
    Passed("cpus-per-gpu", '\0', kSize),
    Passed("cpus-per-task", 'c', kSize),
    Passed("extra-node-info", 'B', kSize),
    Passed("gpus", 'G', kSize),
    Passed("gpus-per-node", '\0', kSize),
    Passed("gpus-per-socket", '\0', kSize),
    Passed("gpus-per-task", '\0', kSize),
    Passed("gres", '\0', kSize),
    Passed("mem", '\0', kSize),
    Passed("mem-per-cpu", '\0', kSize),
    Passed("mem-per-gpu", '\0', kSize),
    Passed("mincpus", '\0', kSize),
    Passed("nodes", 'N', kSize),
    Passed("ntasks", 'n', kSize),
    Passed("ntasks-per-core", '\0', kSize),
    Passed("ntasks-per-gpu", '\0', kSize),
    Passed("ntasks-per-node", '\0', kSize),
    Passed("ntasks-per-socket", '\0', kSize),
    Passed("overcommit", 'O', kSize, Takes::kNothing),
    Passed("sockets-per-node", '\0', kSize),
    Passed("threads-per-core", '\0', kSize),
    Passed("tmp", '\0', kSize),
    Passed("tres-per-task", '\0', kSize),

    Passed("cluster-constraint", '\0', kNodes),
    Passed("constraint", 'C', kNodes),
    Passed("contiguous", '\0', kNodes, Takes::kNothing),
    Passed("core-spec", 'S', kNodes),
    Passed("cpu-freq", '\0', kNodes),
    Passed("distribution", 'm', kNodes),
    Passed("exclude", 'x', kNodes),
    Passed("exclusive", '\0', kNodes, Takes::kMaybe),
    Passed("gpu-bind", '\0', kNodes),
    Passed("gpu-freq", '\0', kNodes),
    Passed("gres-flags", '\0', kNodes),
    Passed("hint", '\0', kNodes),
    Passed("mem-bind", '\0', kNodes),
    Passed("network", '\0', kNodes),
    Passed("no-kill", 'k', kNodes, Takes::kMaybe),
    Passed("nodefile", 'F', kNodes),
    Passed("nodelist", 'w', kNodes),
    Passed("oversubscribe", 's', kNodes, Takes::kNothing),
    Passed("reboot", '\0', kNodes, Takes::kNothing),
    Passed("spread-job", '\0', kNodes, Takes::kNothing),
    Passed("switches", '\0', kNodes),
    Passed("thread-spec", '\0', kNodes),
    Passed("use-min-nodes", '\0', kNodes, Takes::kNothing),

    Passed("account", 'A', kPolicy),
    Passed("clusters", 'M', kPolicy),
    Passed("gid", '\0', kPolicy),
    Passed("licenses", 'L', kPolicy),
    Passed("nice", '\0', kPolicy, Takes::kMaybe),
    Passed("partition", 'p', kPolicy),
    Passed("priority", '\0', kPolicy),
    Passed("qos", 'q', kPolicy),
    Passed("reservation", '\0', kPolicy),
    Passed("time-min", '\0', kPolicy),
    Passed("wckey", '\0', kPolicy),

    Passed("mail-type", '\0', kMail),
    Passed("mail-user", '\0', kMail),

    Passed("acctg-freq", '\0', kTool),
    Passed("comment", '\0', kTool),
    Passed("delay-boot", '\0', kTool),
    Passed("get-user-env", '\0', kTool, Takes::kMaybe),
    Passed("kill-on-invalid-dep", '\0', kTool),
    Passed("parsable", '\0', kTool, Takes::kNothing),
    Passed("profile", '\0', kTool),
    Passed("propagate", '\0', kTool, Takes::kMaybe),
    Passed("quiet", 'Q', kTool, Takes::kNothing),
    Passed("test-only", '\0', "jobman create --dry-run shows what would be asked for",
           Takes::kNothing),
    Passed("verbose", 'v', kTool, Takes::kNothing),
    Passed("wait", 'W', "jobman create --wait waits", Takes::kNothing),

    Refused("bb", '\0', kNoOption),
    Refused("bbf", '\0', kNoOption),
    Refused("begin", 'b', kLater),
    Refused("container", '\0', kContainer),
    Refused("container-id", '\0', kContainer),
    Refused("deadline", '\0', kLater),
    Refused("dependency", 'd', "leave it out: jobman wait JOB && jobman create --from-sbatch FILE"),
    Refused("export-file", '\0',
            "write the variables with --export, or use --set command.env.NAME="),
    Refused("hold", 'H', kLater, Takes::kNothing),
    Refused("input", 'i', "leave it out, and redirect input in the script: code.dir has files"),
    Refused(
        "signal", '\0',
        "leave it out; when max_duration is over the command gets TERM, and command.grace later "
        "KILL"),
    Refused("uid", '\0', "leave it out; ssh.user is the login name on the hosts"),
    Refused("wait-all-nodes", '\0', "leave it out: a job starts when all its hosts answer"),
    Refused("wrap", '\0', "leave it out: the script is what runs"),
};

}  // namespace

const SbatchOption* FindSbatchOption(std::string_view name) {
  if (name.size() == 2 && name[0] == '-') return FindSbatchOption(name[1]);
  const auto* const found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const SbatchOption& option) {
        return name.starts_with("--") && option.name == name.substr(2);
      });
  return found == std::end(kOptions) ? nullptr : found;
}

const SbatchOption* FindSbatchOption(char letter) {
  const auto* const found =
      std::find_if(std::begin(kOptions), std::end(kOptions),
                   [&](const SbatchOption& option) { return option.letter == letter; });
  return letter == '\0' || found == std::end(kOptions) ? nullptr : found;
}

std::vector<std::string> SbatchOptionNames() {
  std::vector<std::string> names;
  for (const SbatchOption& option : kOptions) names.push_back("--" + std::string(option.name));
  return names;
}

}  // namespace jobman::config::convert
