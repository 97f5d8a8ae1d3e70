#include "config/convert/sbatch.hpp"

#include <array>
#include <optional>
#include <set>
#include <vector>

#include "config/convert/reports.hpp"
#include "config/convert/sbatch_options.hpp"
#include "config/convert/sbatch_values.hpp"
#include "config/convert/script.hpp"
#include "config/convert/words.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"

namespace jobman::config::convert {
namespace {

constexpr std::string_view kMark = "#SBATCH";
constexpr const char* kAddressesOfHosts = "JOBMAN_HOSTS has the addresses of the hosts";

/// A batch script runs once, on the first node; here it runs on every host, each with its index.
constexpr std::array kSlurmVariables = {
    TheirVariable{"SLURM_ARRAY_TASK_ID", "\"${JOBMAN_ARRAY_VALUE:-}\""},
    TheirVariable{"SLURM_ARRAY_TASK_COUNT", "\"${JOBMAN_ARRAY_SIZE:-}\""},
    TheirVariable{"SLURM_ARRAY_TASK_MIN", "", "write the number"},
    TheirVariable{"SLURM_ARRAY_TASK_MAX", "", "write the number"},
    TheirVariable{"SLURM_ARRAY_JOB_ID", "",
                  "each job of an array has a number of its own, JOBMAN_JOB_ID"},
    TheirVariable{"SLURM_JOB_ID", "\"$JOBMAN_JOB_ID\""},
    TheirVariable{"SLURM_JOBID", "\"$JOBMAN_JOB_ID\""},
    TheirVariable{"SLURM_PROCID", "\"$JOBMAN_HOST_INDEX\""},
    TheirVariable{"SLURM_NODEID", "\"$JOBMAN_HOST_INDEX\""},
    TheirVariable{"SLURM_LOCALID", "0"},
    TheirVariable{"SLURM_NTASKS", "\"$JOBMAN_NUM_HOSTS\""},
    TheirVariable{"SLURM_NPROCS", "\"$JOBMAN_NUM_HOSTS\""},
    TheirVariable{"SLURM_NNODES", "\"$JOBMAN_NUM_HOSTS\""},
    TheirVariable{"SLURM_JOB_NUM_NODES", "\"$JOBMAN_NUM_HOSTS\""},
    TheirVariable{"SLURM_CPUS_PER_TASK", "\"$(nproc)\""},
    TheirVariable{"SLURM_CPUS_ON_NODE", "\"$(nproc)\""},
    TheirVariable{"SLURMD_NODENAME", "\"$(hostname)\""},
    TheirVariable{"SLURM_RESTART_COUNT", "\"$((JOBMAN_ATTEMPT - 1))\""},
    TheirVariable{"SLURM_SUBMIT_DIR", "\"$PWD\""},
    TheirVariable{"SLURM_JOB_NODELIST", "", kAddressesOfHosts},
    TheirVariable{"SLURM_NODELIST", "", kAddressesOfHosts},
};

/// What a script may call, and what is not there.
struct MissingTool {
  std::string_view name;
  std::string_view cure;
};
constexpr const char* kNoLauncher =
    "leave it out: the script runs on every host, JAX finds the others";
constexpr std::array kMissingTools = {
    MissingTool{"srun", kNoLauncher},
    MissingTool{"mpirun", kNoLauncher},
    MissingTool{"mpiexec", kNoLauncher},
    MissingTool{"sbatch", "leave it out: jobman create makes another job, on your machine"},
    MissingTool{"scontrol", kAddressesOfHosts},
    MissingTool{"sbcast", "leave it out: code.dir brings files to every host"},
};

class SbatchConverter {
 public:
  SbatchConverter(int source, Draft& draft, Diagnostics& out)
      : source_(source), draft_(draft), out_(out), reports_(draft, out) {}

  void Convert(std::string_view text, const std::string& name) {
    if (!name.empty()) draft_.Set("job.name", name);
    int number = 0;
    const std::vector<std::string> lines = base::Split(text, '\n');
    for (const std::string& line : lines) {
      ++number;
      const std::string_view bare = base::Trim(line);
      if (in_head_ && !bare.empty() && !bare.starts_with('#')) in_head_ = false;
      if (IsDirective(line)) {
        Directive(line, number);
        continue;
      }
      if (!in_head_) CheckTools(line, number);
      script_.push_back(line);
    }
    Finish();
  }

 private:
  Position At(int line, int column = 1) const {
    return {.source = source_, .line = line, .column = column};
  }

  static bool IsDirective(std::string_view line) {
    if (!line.starts_with(kMark) || line.size() == kMark.size()) return false;
    return line[kMark.size()] == ' ' || line[kMark.size()] == '\t';
  }

  void Directive(std::string_view line, int number) {
    if (!in_head_) {
      return reports_.PassOver(At(number), std::string(base::Trim(line)),
                               "sbatch reads no options after the first command either");
    }
    const auto words =
        WordsOf(line.substr(kMark.size()), At(number, static_cast<int>(kMark.size()) + 1),
                Rules::kOptions, out_);
    if (words) Options(*words);
  }

  void Options(const std::vector<Word>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word* const next = i + 1 < words.size() ? &words[i + 1] : nullptr;
      if (OneOption(words[i], next)) ++i;
    }
  }

  /// Whether the next word was its value.
  bool OneOption(const Word& word, const Word* next) {
    const bool letter = word.text.size() > 1 && word.text[0] == '-' && word.text[1] != '-';
    const std::size_t cut = letter ? 2 : word.text.find('=');
    const std::string name = word.text.substr(0, cut);
    const SbatchOption* const option = FindSbatchOption(name);
    if (option == nullptr) {
      Unknown(word, name);
      return next != nullptr && !next->text.starts_with('-');
    }
    std::optional<std::string> value;
    if (cut < word.text.size()) value = word.text.substr(letter ? cut : cut + 1);
    const bool takes_next =
        !value && next != nullptr && option->takes == SbatchOption::Takes::kValue;
    if (takes_next) value = next->text;
    if (!value && option->takes == SbatchOption::Takes::kValue) {
      reports_.Wrong(word.pos, name + " needs a value");
      return false;
    }
    Take(*option, word, value.value_or(""));
    return takes_next;
  }

  void Unknown(const Word& word, const std::string& name) {
    const auto near = base::Nearest(name, SbatchOptionNames());
    reports_.Refuse(word.pos, "\"" + name + "\" is not an option of sbatch that jobman knows",
                    near ? "did you mean " + *near + "?"
                         : "leave it out; the guide from-elsewhere.md lists what is converted");
  }

  void Take(const SbatchOption& option, const Word& word, const std::string& value) {
    const std::string name = "--" + std::string(option.name);
    switch (option.fate) {
      case Fate::kPassedOver:
        return reports_.PassOver(word.pos, name, option.why);
      case Fate::kRefused:
        return reports_.Refuse(word.pos, name + " has no meaning here", std::string(option.why));
      case Fate::kConverted:
        return Converted(option.name, word, value);
    }
  }

  void Converted(std::string_view name, const Word& word, const std::string& value) {
    if (name == "job-name") return draft_.Set("job.name", value);
    if (name == "chdir")
      return draft_.Set("code.dir", value, "--chdir; its files are sent to every host");
    if (name == "time") return Time(word, value);
    if (name == "array") return Array(word, value);
    if (name == "export") return Export(word, value);
    if (name != "no-requeue") return;  // --requeue is what jobs here do
    draft_.Set("retries.preemption", 0, "--no-requeue");
    draft_.Set("retries.infra", 0, "--no-requeue");
  }

  void Time(const Word& word, const std::string& value) {
    const std::string lower = base::ToLower(value);
    const auto limit = ReadSlurmTime(value);
    if (lower == "unlimited" || lower == "infinite" || (limit && limit->count() == 0)) return;
    if (!limit) {
      return reports_.Wrong(word.pos, "--time: \"" + value + "\" is no time",
                            "write minutes, hours:minutes:seconds or days-hours:minutes");
    }
    draft_.Set("watchdog.max_duration.after", base::FormatExactDuration(*limit),
               "--time; of the command alone, in each attempt");
    draft_.Set("watchdog.max_duration.do", "fail");
  }

  void Array(const Word& word, const std::string& value) {
    array_ = ReadSlurmArray(value);
    if (!array_) {
      return reports_.Wrong(word.pos, "--array: \"" + value + "\" is no list of numbers",
                            "for example: 0-15, 1,3,7-9 or 0-15:4%2");
    }
    draft_.Set("array", array_->values);
    if (array_->limit) draft_.Set("job.max_running", *array_->limit);
  }

  /// ALL and NONE say what becomes of the caller's environment, which hosts do not get.
  void Export(const Word& word, const std::string& value) {
    for (const std::string& part : base::Split(value, ',')) {
      const std::size_t equals = part.find('=');
      const std::string name = part.substr(0, equals);
      if (name == "ALL" || name == "NONE" || name == "NIL") continue;
      if (!base::IsEnvName(name)) {
        reports_.Wrong(word.pos, "--export: \"" + name + "\" is not a variable name");
      } else if (equals == std::string::npos) {
        draft_.SetMemberExpression("command.env", name, "${oc.env:" + name + "}");
        given_.push_back(name);
      } else {
        draft_.SetMember("command.env", name, part.substr(equals + 1));
        given_.push_back(name);
      }
    }
  }

  /// The line's command, after NAME=VALUE, exec and time.
  static std::string CommandOf(std::string_view line) {
    for (const std::string& word : base::Split(base::Trim(line), ' ')) {
      const std::size_t equals = word.find('=');
      const bool assigns = equals != std::string::npos && base::IsEnvName(word.substr(0, equals));
      if (!word.empty() && !assigns && word != "exec" && word != "time") return word;
    }
    return {};
  }

  void CheckTools(std::string_view line, int number) {
    const std::string command = CommandOf(line);
    const Position at = out_.Locate(At(number), command);
    if (command == "module" || command == "ml") {
      stubs_.insert(command);
      return reports_.PassOver(at, command, "hosts have no environment modules; see setup");
    }
    for (const MissingTool& tool : kMissingTools) {
      if (command == tool.name)
        reports_.Refuse(at, command + " is not on the hosts", std::string(tool.cure));
    }
  }

  /// Programs that the script calls may read these two, so they are set whether it does or not.
  void SetArrayVariables(const std::string& script) {
    if (!array_) return;
    Give("SLURM_ARRAY_TASK_ID", "${array.value}");
    Give("SLURM_ARRAY_TASK_COUNT", "${array.size}");
    for (const std::string& name : NamesIn(script, "SLURM_ARRAY_TASK_M")) {
      if (name == "SLURM_ARRAY_TASK_MIN") Give(name, std::to_string(array_->least));
      if (name == "SLURM_ARRAY_TASK_MAX") Give(name, std::to_string(array_->greatest));
    }
  }

  void Give(const std::string& name, std::string expression) {
    draft_.SetMemberExpression("command.env", name, std::move(expression));
    given_.push_back(name);
  }

  /// What is passed over does nothing, wherever in the script it is called.
  std::string WithStubs(const std::string& script) const {
    std::string lines;
    for (const std::string& name : stubs_) lines += name + "() { :; }  # not on the hosts\n";
    return WithShellLines(script, lines);
  }

  void Finish() {
    const std::string script = WithStubs(base::Join(script_, "\n"));
    SetArrayVariables(script);
    if (!NamesIn(script, "SLURM_JOB_NAME").empty() && draft_.Has("job.name"))
      Give("SLURM_JOB_NAME", array_ ? "${job.group}" : "${job.name}");
    if (base::Trim(script).empty())
      reports_.Wrong({.source = source_}, "the script is empty", "give a batch script");
    draft_.Set("command.cmd", WithTheirVariables({.text = script, .pos = At(1)}, "SLURM",
                                                 kSlurmVariables, given_, out_, reports_));
    if (!draft_.Has("code")) {
      draft_.Remark("The hosts get this script alone. To send them the files beside it:");
      draft_.Remark("  code: {dir: .}");
    }
    reports_.Finish();
  }

  int source_;
  Draft& draft_;
  Diagnostics& out_;
  Reports reports_;
  bool in_head_ = true;
  std::vector<std::string> script_ = {};
  std::set<std::string> stubs_ = {};     ///< commands of the script that do nothing here
  std::vector<std::string> given_ = {};  ///< variables of command.env
  std::optional<SlurmArray> array_ = {};
};

}  // namespace

void ConvertSbatch(std::string_view text, int source, const std::string& name, Draft& draft,
                   Diagnostics& out) {
  if (!CheckBytes(text, source, 0, out)) return;
  if (base::Contains(text, "\r\n")) {
    return out.Report({.source = source, .line = 1, .column = 1},
                      "the lines end as on DOS, which no shell of Linux reads",
                      "remove the carriage returns: dos2unix FILE");
  }
  SbatchConverter(source, draft, out).Convert(text, name);
}

}  // namespace jobman::config::convert
