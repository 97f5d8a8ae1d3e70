#include "jobman/config/queue_file.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "config/check.hpp"
#include "config/diagnostics.hpp"
#include "config/forms.hpp"
#include "config/interpolate.hpp"
#include "config/queue_format.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::config {
namespace {

using base::Json;
using Path = std::vector<std::string>;

/// Room for ten thousand tasks.
constexpr Limits kQueueLimits = {.bytes = std::size_t{4} << 20,
                                 .values = 300'000,
                                 .text = "4 MiB, the limit for a queue file",
                                 .one = "write all tasks in one document"};
constexpr std::size_t kMostTasks = 20'000;
/// A cause that is stored and shown for each refused task.
constexpr std::size_t kLongestCause = 500;
constexpr const char* kDefaultBranch = "main";

/// A task of the file on its way into the list.
struct Found {
  Value* item = nullptr;
  std::string accelerator = {};
  int hosts = 0;                       ///< of one node of that type; 0 if it is not known
  Path path = {};                      ///< accelerators.v4-8.tasks[3]
  const Json* level = nullptr;         ///< what its accelerator says
  std::vector<Problem> problems = {};  ///< of this task
  core::TaskDefinition definition = {};

  std::string Name(const std::string& key = {}) const {
    return JoinPath(path) + (key.empty() ? "" : "." + key);
  }
  /// Where a key of the task is, else the task.
  Position At(std::string_view key) const {
    const Value* const value = std::as_const(*item).Find(key);
    return value == nullptr ? item->pos : value->pos;
  }
  /// As it is written.
  std::string Id() const {
    const Value* const id = std::as_const(*item).Find("id");
    return id != nullptr && id->is_scalar() ? id->text : std::string();
  }
};

bool HasBroken(const Value& value) {
  return value.kind == Value::Kind::kBroken ||
         std::any_of(value.children.begin(), value.children.end(), &HasBroken);
}

/// The steps of ReadQueueFile() and their shared state.
class QueueReader {
 public:
  explicit QueueReader(const QueueFileRequest& request) : request_(request) {}

  QueueFileResult Run() {
    QueueFileResult result;
    if (ReadRoot() && CheckFile()) {
      for (Found& task : found_) Step(task, &QueueReader::CheckItem);
      RefuseTwins();
      for (Found& task : found_) Step(task, &QueueReader::Resolve);
      RefuseCycles();
      WarnOfDependencies();
      result.list = TakeList(result.problems);
    } else {
      result.problems = out_.Take();
    }
    result.warnings = out_.TakeWarnings();
    return result;
  }

 private:
  // --- The file ---

  bool ReadRoot() {
    const auto text = request_.text ? base::Result<std::string>(*request_.text)
                                    : base::ReadRegularFile(request_.file, kQueueLimits.bytes);
    const int index = out_.AddSource({.name = request_.file.string()}, text.value_or(""));
    if (!text.ok()) {
      const Problem problem = UnreadableFile(request_.file, text.error());
      out_.Report({.source = index}, problem.message, problem.hint);
      return false;
    }
    auto root = ReadYaml(*text, index, 0, out_, kQueueLimits);
    if (root) root_ = *std::move(root);
    // An editor may be about to write it: its tasks are not gone.
    if (out_.ok() && root_.is_null()) out_.Report({.source = index}, "the file is empty");
    if (out_.ok() && !root_.is_map()) {
      out_.Report(root_.pos, "expected a map of keys, found " + std::string(KindText(root_)),
                  "a queue file begins like this: accelerators: {v4-8: {tasks: [...]}}");
    }
    return out_.ok();
  }

  /// What is outside of tasks.
  bool CheckFile() {
    InterpolatePart(root_, {"repos"}, request_.defaults.env, out_, produced_);
    InterpolatePart(root_, {"defaults"}, request_.defaults.env, out_, produced_);
    const Json file =
        CheckMap(root_, QueueFileFormat(), {.place = {.source = 0}}, request_.defaults, out_);
    if (file.contains("repos")) repos_ = file["repos"];
    if (Value* const defaults = root_.Find("defaults")) {
      defaults_ = CheckLevel(*defaults, {"defaults"}, QueueDefaultsFormat());
    }
    Value* const accelerators = root_.Find("accelerators");
    // Types whose tasks are all commented out are there; a file that ends here may be half written.
    if (accelerators == nullptr || accelerators->children.empty()) ReportNoTasks(accelerators);
    if (accelerators == nullptr || !ExpectMap(*accelerators, "accelerators")) return out_.ok();
    for (Value& level : accelerators->children) CheckAccelerator(level);
    return out_.ok();
  }

  /// `given`: what the file has in their place, if anything.
  void ReportNoTasks(const Value* given) {
    const bool other = given != nullptr && !given->is_null() && !given->is_map();
    if (other || !out_.ok()) return;  // which is reported, and may be the reason
    out_.Report(given == nullptr ? Position{.source = 0} : given->key_pos,
                "accelerators is missing", "for example: accelerators: {v4-8: {tasks: [...]}}");
  }

  /// Whether it has keys; reports what is neither a map nor nothing.
  bool ExpectMap(const Value& value, const std::string& name) {
    if (value.is_map()) return true;
    if (!value.is_null() && value.kind != Value::Kind::kBroken) {
      out_.Report(value.pos, name + ": expected a map, found " + std::string(KindText(value)));
    }
    return false;
  }

  Json CheckLevel(Value& level, const Path& path, const Format& format) {
    const std::string name = JoinPath(path);
    if (!ExpectMap(level, name)) return Json::object();
    return CheckMap(level, format, {.path = name, .place = level.key_pos}, request_.defaults, out_);
  }

  void CheckAccelerator(Value& level) {
    const std::string type = level.key;
    const Path path = {"accelerators", type};
    if (!core::MayBeType(type)) {
      return out_.Report(level.key_pos, "\"" + type + "\" is not an accelerator type",
                         "for example: v4-8");
    }
    const auto known = core::FindAccelerator(type);
    if (!known.ok()) out_.Warn(level.key_pos, known.error().message, known.error().hint);
    for (const Value& child : level.children) {
      const bool items = child.key == "tasks" && child.is_list();
      if (!items)
        InterpolatePart(root_, {path[0], type, child.key}, request_.defaults.env, out_, produced_);
    }
    const Json& said = levels_[type] = CheckLevel(level, path, QueueAcceleratorFormat());
    Value* const tasks = level.Find("tasks");
    if (tasks == nullptr || tasks->is_null()) return;
    if (!tasks->is_list()) {
      return out_.Report(tasks->pos, JoinPath(path) + ".tasks: expected a list, found " +
                                         std::string(KindText(*tasks)));
    }
    if (found_.size() + tasks->children.size() > kMostTasks) {
      return out_.Report(tasks->pos, "more than " + std::to_string(kMostTasks) +
                                         " tasks, the limit for a queue file");
    }
    for (std::size_t i = 0; i < tasks->children.size(); ++i) {
      found_.push_back({.item = &tasks->children[i],
                        .accelerator = type,
                        .hosts = known.ok() ? known->hosts : 0,
                        .path = {path[0], type, "tasks", std::to_string(i)},
                        .level = &said});
    }
  }

  // --- One task ---

  /// Does a step for a task that is fine so far, and keeps the problems that it finds with the
  /// task.
  void Step(Found& task, void (QueueReader::*step)(Found&)) {
    if (!task.problems.empty()) return;
    (this->*step)(task);
    task.problems = out_.Take();
  }

  /// The keys that it has itself.
  void CheckItem(Found& task) {
    InterpolatePart(root_, task.path, request_.defaults.env, out_, produced_);
    if (!out_.ok()) return;
    if (!task.item->is_map()) {
      return out_.Report(task.item->pos, task.Name() + ": expected a map, found " +
                                             std::string(KindText(*task.item)));
    }
    said_[task.Name()] =
        CheckMap(*task.item, QueueTaskFormat(), {.path = task.Name(), .place = task.item->pos},
                 request_.defaults, out_);
    // Another task referred to it, and was told what is wrong with it.
    const bool told = out_.ok() && HasBroken(*task.item);
    if (told) out_.Report(task.item->pos, task.Name() + " has a value that cannot be resolved");
  }

  /// The same with what its levels say, and what follows from that.
  void Resolve(Found& task) {
    Json json = std::move(said_[task.Name()]);
    for (const Json* const level : {task.level, &std::as_const(defaults_)})
      AddMissing(json, *level);
    json["accelerator"] = task.accelerator;
    AddRepository(task, json);
    if (!out_.ok()) return;
    auto definition = core::TaskDefinitionFromJson(json);
    if (!definition.ok()) {  // a bug in the format
      return out_.Report(task.item->pos, definition.error().message);
    }
    task.definition = *std::move(definition);
    TrimWorkdir(task.definition);
    WarnOfPlaces(task);
  }

  static void AddMissing(Json& json, const Json& level) {
    for (const auto& [key, value] : level.items()) {
      const bool of_tasks = key != "tasks" && !json.contains(key);
      if (of_tasks) json[key] = value;
    }
  }

  void AddRepository(const Found& task, Json& json) {
    const std::string name = base::GetString(json, "repo");
    if (name.empty()) return;
    const Json& repo = base::GetMember(repos_, name);
    if (!repo.is_object()) {
      return out_.Report(task.At("repo"),
                         task.Name("repo") + ": there is no repository \"" + name + "\" in repos",
                         HintAmongRepos(name));
    }
    const std::string branch = base::GetString(repo, "branch");
    json["url"] = base::GetString(repo, "url");
    if (!json.contains("branch")) json["branch"] = branch.empty() ? kDefaultBranch : branch;
    if (json.contains("workdir")) return;
    json["workdir"] = name;
    const auto folder = CheckForm("venv.name", name);
    if (folder.ok()) return;
    out_.Report(
        task.At("repo"),
        task.Name("workdir") + ", which is the name of the repository: " + folder.error().message,
        "write workdir, or give the repository another name");
  }

  std::string HintAmongRepos(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [key, value] : repos_.items()) names.push_back(key);
    if (const auto nearest = base::Nearest(name, names)) return "did you mean " + *nearest + "?";
    return names.empty() ? "add it: repos: {" + name + ": URL}"
                         : "repos has: " + base::Join(names, ", ");
  }

  static void TrimWorkdir(core::TaskDefinition& task) {
    if (task.workdir.starts_with("~/")) task.workdir.erase(0, 2);
    if (task.workdir.ends_with('/')) task.workdir.pop_back();
  }

  void WarnOfPlaces(const Found& task) {
    const core::TaskDefinition& definition = task.definition;
    if (definition.zone.empty()) {
      out_.Warn(task.At("id"), definition.id + " names no zone, so no worker takes it",
                "write zone in the task, for its accelerator, or in defaults");
    }
    const core::HostSet& hosts = definition.workers;
    if (task.hosts == 0 || hosts.all || hosts.numbers.back() < task.hosts) return;
    out_.Warn(task.At("workers"),
              task.Name("workers") + ": there is no host " + std::to_string(hosts.numbers.back()) +
                  ": a " + task.accelerator + " has " + base::Plural(task.hosts, "host"),
              "hosts are counted from 0; only a worker of several slices has more");
  }

  // --- All tasks ---

  /// Neither of two tasks with one id is taken: which of them was meant, nobody knows.
  void RefuseTwins() {
    std::map<std::string, std::vector<Found*>> by_id;
    for (Found& task : found_) {
      if (const std::string id = task.Id(); !id.empty()) by_id[id].push_back(&task);
    }
    for (const auto& [id, twins] : by_id) {
      for (Found* const task : twins) {
        const Found* const other = twins.front() == task ? twins.back() : twins.front();
        if (other == task) continue;
        out_.Report(task->At("id"), task->Name("id") + ": there is another task \"" + id + "\"",
                    "it is in line " + std::to_string(other->At("id").line) +
                        "; an id is used once in a file");
        for (Problem& problem : out_.Take()) task->problems.push_back(std::move(problem));
      }
    }
  }

  void RefuseCycles() {
    std::vector<core::TaskDefinition> fine;
    std::vector<Found*> tasks;
    for (Found& task : found_) {
      if (!task.problems.empty()) continue;
      fine.push_back(task.definition);
      tasks.push_back(&task);
    }
    for (const auto& cycle : core::FindCycles(fine)) {
      for (std::size_t first = 0; first < cycle.size(); ++first) {
        Found& task = *tasks[cycle[first]];
        out_.Report(task.At("depends_on"),
                    task.Name("depends_on") +
                        ": these tasks wait for each other: " + CycleText(fine, cycle, first),
                    "remove one of these dependencies");
        task.problems = out_.Take();
      }
    }
  }

  /// "a -> b -> a", from one of them; long ones in part.
  static std::string CycleText(const std::vector<core::TaskDefinition>& tasks,
                               const std::vector<std::size_t>& cycle, std::size_t first) {
    constexpr std::size_t kMost = 10;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < cycle.size() && i < kMost; ++i) {
      ids.push_back(tasks[cycle[(first + i) % cycle.size()]].id);
    }
    if (cycle.size() > kMost) ids.emplace_back("...");
    ids.push_back(tasks[cycle[first]].id);
    return base::Join(ids, " -> ");
  }

  /// It may be a task that was done and is not in the file any more.
  void WarnOfDependencies() {
    std::map<std::string, const Found*, std::less<>> by_id;
    for (const Found& task : found_) by_id.emplace(task.Id(), &task);
    for (const Found& task : found_) {
      if (!task.problems.empty()) continue;
      for (const std::string& needed : task.definition.depends_on) {
        if (by_id.contains(needed)) continue;
        out_.Warn(out_.Locate(task.At("depends_on"), needed),
                  task.Name("depends_on") + ": there is no task \"" + needed + "\" in this file",
                  task.definition.id + " waits until there is one, and it is done");
      }
    }
  }

  core::TaskList TakeList(std::vector<Problem>& problems) {
    core::TaskList list;
    for (Found& task : found_) {
      if (task.problems.empty()) {
        list.tasks.push_back(std::move(task.definition));
        continue;
      }
      const std::string id = task.Id();
      const bool usable = QueueTaskFormat().form("id", id).ok();
      list.refused.push_back({.id = usable ? id : "", .why = WhyRefused(task.problems)});
      for (Problem& problem : task.problems) problems.push_back(std::move(problem));
    }
    return list;
  }

  /// The first problem, and how many there are besides.
  static std::string WhyRefused(const std::vector<Problem>& problems) {
    const std::string more =
        problems.size() == 1 ? "" : ", and " + std::to_string(problems.size() - 1) + " more";
    return LineOf(problems.front()) + more;
  }

  const QueueFileRequest& request_;
  Diagnostics out_ = {};
  Produced produced_ = {.most = 4 * kQueueLimits.bytes};
  Value root_ = {};
  Json repos_ = Json::object();
  Json defaults_ = Json::object();
  std::map<std::string, Json> levels_ = {};  ///< by accelerator
  std::map<std::string, Json> said_ = {};    ///< by the name of the task's place
  std::vector<Found> found_ = {};
};

}  // namespace

QueueFileResult ReadQueueFile(const QueueFileRequest& request) {
  return QueueReader(request).Run();
}

std::string LineOf(const Problem& problem) {
  const std::string hint = problem.hint.empty() ? "" : " (" + problem.hint + ")";
  const std::string line = problem.line == 0 ? "" : ":" + std::to_string(problem.line);
  const std::string cause = base::Shorten(problem.message + hint, kLongestCause);
  const std::string name = base::Path(problem.file).filename().string();
  return base::CleanLine(name + line + ": " + cause);
}

Problem UnreadableFile(const base::Path& file, const base::Error& error) {
  if (error.code == base::Code::kNotFound) {
    return {.file = file.string(), .message = "the file is not there"};
  }
  return {.file = file.string(), .message = error.message, .hint = error.hint};
}

}  // namespace jobman::config
