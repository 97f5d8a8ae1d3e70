#include "config/queue_format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "config/forms.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/places.hpp"

namespace jobman::config {
namespace {

using Text = std::string_view;

constexpr std::int64_t kMostRetries = 1'000'000;

constexpr KeyRow kFileRows[] = {
    {.path = "repos",
     .type = Type::kNamed,
     .about = "Repositories by names of your own: a URL, or a map.",
     .short_for = "url"},
    {.path = "repos.*.url",
     .fallback = "required",
     .about = "What git clones.",
     .example = "https://github.com/me/proj.git"},
    {.path = "repos.*.branch", .fallback = "main", .about = "The branch, unless a task names one."},
    {.path = "defaults",
     .type = Type::kAny,
     .about = "Values of tasks that do not have their own."},
    {.path = "accelerators",
     .type = Type::kAny,
     .about = "The tasks, by the accelerator type of the workers that take them."},
};

/// First what only a task has, last what only an accelerator has.
constexpr KeyRow kTaskRows[] = {
    {.path = "id",
     .fallback = "required",
     .about = "Its name, once in the file.",
     .example = "train-small"},
    {.path = "run", .fallback = "required", .about = "Shell script.", .example = "python train.py"},
    {.path = "depends_on",
     .type = Type::kTextList,
     .about = "Tasks that must be done before.",
     .example = "[prepare]",
     .or_one = true,
     .empty_is_none = true},
    {.path = "env",
     .about = "The conda or venv environment that it runs in.",
     .empty_is_none = true},
    {.path = "repo", .about = "A name of repos.", .empty_is_none = true},
    {.path = "branch",
     .fallback = "that of the repository",
     .about = "Branch or tag.",
     .empty_is_none = true},
    {.path = "workdir",
     .fallback = "the name of the repository",
     .about = "The folder below the home folder of the hosts.",
     .empty_is_none = true},
    {.path = "zone", .about = "The zone of the workers that take it.", .empty_is_none = true},
    {.path = "workers", .type = Type::kHosts, .fallback = "0", .about = "Hosts that it runs on."},
    {.path = "max_jobs",
     .type = Type::kNumber,
     .fallback = "1",
     .about = "How many workers may run it at a time.",
     .allowed = "1-10000"},
    {.path = "max_retries",
     .type = Type::kNumber,
     .fallback = "3",
     .about = "How often it may fail before it is parked.",
     .allowed = "0-1000000"},
    {.path = "hide", .type = Type::kBool, .fallback = "false", .about = "Not shown in the table."},
    {.path = "tasks", .type = Type::kAny, .about = "The tasks, in their order."},
};
constexpr std::size_t kOnlyOfTasks = 3;
constexpr std::span<const KeyRow> kAllRows = kTaskRows;

/// Python jobman deleted ~/WORKDIR, whatever it was.
base::Status CheckWorkdir(Text path) {
  if (path.starts_with("~/")) path.remove_prefix(2);
  if (path.ends_with('/')) path.remove_suffix(1);
  return CheckForm("venv.name", path.empty() ? "/" : path);
}

/// What stands once in the file becomes part of each of ten thousand tasks.
base::Status CheckLength(const char* what, Text text, std::size_t most) {
  if (text.size() <= most) return base::Ok();
  return base::InvalidArgument("\"" + base::Shorten(text, 40) + "\" is too long for " + what,
                               "use " + std::to_string(most) + " characters at most");
}

struct QueueForm {
  Text path;
  base::Status (*text)(Text) = nullptr;
};
/// Those of a job file are looked up there.
base::Status CheckBranch(Text text) {
  JM_TRY(CheckLength("a branch", text, 250));
  return CheckForm("code.ref", text);
}
base::Status CheckRepositoryUrl(Text text) {
  JM_TRY(CheckLength("a URL", text, 2000));
  return CheckForm("code.git", text);
}
base::Status CheckEnvName(Text text) {
  return CheckForm("venv.name", text);
}

constexpr QueueForm kQueueForms[] = {
    {"id", &CheckTaskId},
    {"depends_on", &CheckTaskId},
    {"env", &CheckEnvName},
    {"branch", &CheckBranch},
    {"workdir", &CheckWorkdir},
    {"zone", &CheckZone},
    {"repos.*.url", &CheckRepositoryUrl},
    {"repos.*.branch", &CheckBranch},
};

base::Status CheckQueueForm(Text row_path, Text text) {
  const auto* const found =
      std::find_if(std::begin(kQueueForms), std::end(kQueueForms),
                   [&](const QueueForm& form) { return form.path == row_path; });
  return found == std::end(kQueueForms) ? base::Ok() : found->text(text);
}

/// No key takes a map of texts.
base::Status CheckNoMember(Text /*row_path*/, Text /*name*/, Text /*value*/) {
  return base::Ok();
}

struct Advice {
  Text key;
  Text text;
};
/// Keys that a task does not have, and people write.
constexpr Advice kAdvice[] = {
    {"priority", "tasks are taken in their order; to run one first: jobman queue --prioritize ID"},
    {"command", "write run"},
    {"cmd", "write run"},
    {"retries", "write max_retries"},
};

Text AdviceOn(Text key) {
  const auto* const found = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                                         [&](const Advice& advice) { return advice.key == key; });
  return found == std::end(kAdvice) ? Text() : found->text;
}

constexpr Format FormatOf(std::span<const KeyRow> rows) {
  return {.rows = rows, .form = &CheckQueueForm, .member = &CheckNoMember, .advice = &AdviceOn};
}

constexpr Format kFile = FormatOf(kFileRows);
constexpr Format kDefaults =
    FormatOf(kAllRows.subspan(kOnlyOfTasks, kAllRows.size() - kOnlyOfTasks - 1));
constexpr Format kAccelerator = FormatOf(kAllRows.subspan(kOnlyOfTasks));
constexpr Format kTask = FormatOf(kAllRows.first(kAllRows.size() - 1));

}  // namespace

base::Status CheckTaskId(std::string_view id) {
  constexpr std::size_t kLongest = 100;
  const bool clean = std::none_of(id.begin(), id.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 32 || c == 127 || Text("/*?[\\").find(c) != Text::npos;
  });
  const bool named = !id.empty() && id.front() != '.' && id.front() != '-';
  if (clean && named && id.size() <= kLongest) return base::Ok();
  return base::InvalidArgument(
      "\"" + std::string(id) + "\" cannot be the id of a task",
      "use 100 characters at most, no blank, no / * ? [ \\, and neither . nor - at the beginning");
}

base::Status CheckMaxRetries(std::string_view number) {
  const auto value = base::ParseNumber(number);
  if (value && *value <= kMostRetries) return base::Ok();
  return base::InvalidArgument("\"" + std::string(number) + "\" is no number from 0 to " +
                               std::to_string(kMostRetries));
}

const Format& QueueFileFormat() {
  return kFile;
}
const Format& QueueDefaultsFormat() {
  return kDefaults;
}
const Format& QueueAcceleratorFormat() {
  return kAccelerator;
}
const Format& QueueTaskFormat() {
  return kTask;
}

}  // namespace jobman::config
