#include "cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <set>

#include "cli/status_words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_forward.hpp"
#include "jobman/client/copy.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/log_files.hpp"
#include "jobman/client/wait_goal.hpp"
#include "jobman/config/schema.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/prices.hpp"

namespace jobman::cli {
namespace {

using Words = std::vector<std::string>;

/// CLI11 describes a closed set of values as "NAME:{a,b,c}".
Words ClosedSet(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return base::Split(type.substr(open + 1, close - open - 1), ',');
}

bool NamesPath(const std::string& type) {
  return base::Contains(type, "FILE") || base::Contains(type, "DIR") || type == "PATH";
}

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// Where the cursor is in the command tree, and what precedes it.
struct Place {
  const CLI::App* root = nullptr;
  const CLI::App* command = nullptr;
  const CLI::Option* valued = nullptr;  ///< the option whose value is at the cursor
  Words positionals = {};               ///< of the command
  bool foreign = false;                 ///< after "--": the words of a command on hosts
  std::string typed = {};  ///< the word at the cursor, or what is to be completed of it
  std::string lead = {};   ///< what precedes that in the word: "--for="
};

/// An option of the command, or a global one, which may be anywhere.
const CLI::Option* FindOption(const Place& place, const std::string& word) {
  for (const CLI::App* app : {place.command, place.root}) {
    for (const CLI::Option* option : app->get_options())
      if (!option->get_positional() && option->check_name(word)) return option;
  }
  return nullptr;
}

void Advance(Place& place, const std::string& word) {
  if (place.valued != nullptr) {
    place.valued = nullptr;
  } else if (place.foreign) {
    return;
  } else if (word == "--") {
    place.foreign = true;
  } else if (word.starts_with('-')) {
    const CLI::Option* option = FindOption(place, word);
    if (option != nullptr && TakesValue(*option)) place.valued = option;
  } else {
    for (const CLI::App* child : place.command->get_subcommands({})) {
      if (!child->check_name(word)) continue;
      place.command = child;
      return;
    }
    place.positionals.push_back(word);
  }
}

/// What is to be completed begins after the first `count` characters of what was.
void PassOver(Place& place, std::size_t count) {
  place.lead += place.typed.substr(0, count);
  place.typed.erase(0, count);
}

/// Of "--for=RUN", the option's value is to be completed.
void EnterValue(Place& place) {
  const std::size_t equals = place.typed.find('=');
  const bool begun = place.typed.starts_with("--") && equals != std::string::npos;
  if (!begun || place.foreign || place.valued != nullptr) return;
  const CLI::Option* option = FindOption(place, place.typed.substr(0, equals));
  if (option == nullptr || !TakesValue(*option)) return;
  place.valued = option;
  PassOver(place, equals + 1);
}

/// The words that a key takes, besides other values.
Words WordsOf(const config::KeyRow& row) {
  if (row.type == config::Type::kWord) return base::Split(row.allowed, '|');
  if (row.type == config::Type::kBool) return {"true", "false"};
  if (row.type == config::Type::kCount) return {"unlimited"};
  if (row.type == config::Type::kHosts) return {"all"};
  return {};
}

/// Collects the words that start with what was typed at the cursor.
class Offers {
 public:
  Offers(App& app, Place place) : app_(app), place_(std::move(place)) {}

  std::string Text() {
    if (place_.foreign) return {};
    if (place_.valued != nullptr) {
      AddValues(*place_.valued);
    } else if (place_.typed.starts_with('-')) {
      AddOptions();
    } else {
      for (const CLI::App* child : place_.command->get_subcommands({}))
        Add(child->get_name(), child->get_description());
      for (const CLI::Option* option : place_.command->get_options())
        if (option->get_positional()) AddPositional(*option);
    }
    return text_;
  }

 private:
  void Add(const std::string& word, const std::string& about = {}) {
    if (word.starts_with(place_.typed)) text_ += place_.lead + word + "\t" + about + "\n";
  }

  void AddFiles(const std::string& which = ":files") {
    text_ += which + (place_.lead.empty() ? "" : "\t" + place_.lead) + "\n";
  }

  void AddOptions() {
    for (const CLI::App* app : {place_.command, place_.root}) {
      const bool global = app != place_.command;
      for (const CLI::Option* option : app->get_options()) {
        const bool help = global && option->check_name("--help");  // the command has its own
        if (option->get_positional() || help) continue;
        for (const std::string& name : option->get_snames())
          Add("-" + name, option->get_description());
        for (const std::string& name : option->get_lnames())
          Add("--" + name, option->get_description());
      }
      if (place_.command == place_.root) break;
    }
  }

  void AddValues(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type.starts_with("STATUS,")) return AddStates({});
    if (type.starts_with("STATE,")) return AddStates({client::kDone});
    if (base::Contains(type, ",...")) EnterList();
    if (type == "TASK,...") AddTasks();
    if (type == "JOB,...") AddJobs("");
    if (type == "ZONE" || type == "ZONE,...") AddZoneNames();
    if (option.check_name("--accelerator")) AddTypes();
    for (const std::string& value : ClosedSet(type)) Add(value);
    if (NamesPath(type)) AddFiles();
    if (type == "STAGE") AddStages();
    if (type == "KEY=VALUE,...") AddLabels();
    if (option.check_name("--set") || option.check_name("--set-file")) AddAssignments(type);
    const bool hosts = option.check_name("--host");
    if (hosts && type == "HOSTS") Add("all");
    if (hosts || option.check_name("--exclude")) AddHosts(type == "HOSTS");
  }

  void AddPositional(const CLI::Option& option) {
    const std::string& name = option.get_single_name();
    const bool more = place_.positionals.empty() || option.get_items_expected_max() > 1;
    if (name == "TARGET" && place_.positionals.size() == 1) return AddTargets();
    if (!more) return;
    if (name == "JOB" || name == "FILE|JOB") AddJobs("");
    if (name == "JOB" && place_.command->check_name("why")) AddTasks();
    if (name == "TASK") AddTasks();
    if (name == "WHO") AddGuests();
    if (name == "WHICH") AddForwards();
    if (name == "KEY") AddKeys("");
    if (name == "ZONE") AddZoneNames();
    if (name == "COMMAND" && place_.command->check_name("help")) {
      for (const CLI::App* command : place_.root->get_subcommands({}))
        Add(command->get_name(), command->get_description());
    }
    if (name == "PATH") return AddCopyPlaces();
    if (NamesPath(name)) AddFiles(name == "FILE|JOB" ? ":jobfiles" : ":files");
    for (const std::string& value : ClosedSet(option.get_type_name())) Add(value);
  }

  /// Those that are built in: no Tab asks a cloud.
  void AddZoneNames() {
    for (const std::string& zone : core::ZonesWithPrice(core::BuiltInPrices(), "")) Add(zone);
  }
  void AddTypes() {
    for (const std::string& type : core::AcceleratorTypes()) Add(type);
  }

  /// Of a list such as "state,ho", the last word is to be completed.
  void EnterList() { PassOver(place_, place_.typed.rfind(',') + 1); }

  /// Completes the last word of a list such as "running,failed", in the case that was typed.
  void AddStates(const Words& more) {
    const std::string& typed = place_.typed;
    const bool lower = std::any_of(typed.begin(), typed.end(), [](char c) { return c >= 'a'; });
    EnterList();
    Words words = StatusWords();
    if (!more.empty()) std::erase(words, "STARTING");  // wait does not take it
    words.insert(words.end(), more.begin(), more.end());
    for (const std::string& word : words) Add(lower ? base::ToLower(word) : word);
  }

  /// "tpu.zone=", and after it what the key takes.
  void AddAssignments(const std::string& type) {
    const std::size_t equals = place_.typed.find('=');
    if (equals == std::string::npos) return AddKeys("=");
    const config::KeyRow* row = config::FindKey(place_.typed.substr(0, equals));
    PassOver(place_, equals + 1);
    const bool path = row != nullptr && row->type == config::Type::kPath;
    if (path || type == "KEY=PATH") return AddFiles();
    if (row == nullptr) return;
    for (const std::string& word : WordsOf(*row))
      Add(word, word == row->fallback ? "the default" : "");
  }

  /// For --set (`end` is "="), leaves out what it cannot set: maps, and keys within lists.
  void AddKeys(const std::string& end) {
    for (const config::KeyRow& row : config::Schema()) {
      const std::string path(row.path);
      const bool map = row.type == config::Type::kMap || row.type == config::Type::kMaps;
      const bool settable = !map && path.find_first_of("[*") == std::string::npos;
      const bool known =
          row.status == config::KeyStatus::kWorks || row.status == config::KeyStatus::kTranslated;
      if (known && (end.empty() || settable)) Add(path + end, std::string(row.about));
    }
  }

  std::vector<ports::JobSummary> Jobs() {
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok()) return {};
    // All that is left to do with a deleted job is to clean it.
    const ports::JobFilter wanted{.with_deleted = place_.command->check_name("clean")};
    auto rows = context->Await(context->stores.jobs->List(wanted));
    return rows.ok() ? std::move(*rows) : std::vector<ports::JobSummary>{};
  }

  void AddJobs(const std::string& end) {
    std::set<std::string> names;
    for (const ports::JobSummary& row : Jobs()) {
      Add(core::FormatJobId(row.id) + end, row.name + ", " + row.state);
      names.insert(row.name);
    }
    for (const std::string& name : names) Add(name + end, "the newest job of that name");
  }

  void AddGuests() {
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok()) return;
    const auto guests = context->Await(context->stores.guests->Guests());
    if (!guests.ok()) return;
    for (const core::Guest& guest : *guests)
      Add(core::FingerprintOf(guest.key), guest.user + ", " + guest.key.comment);
    std::set<std::string> users;
    for (const core::Guest& guest : *guests) users.insert(guest.user);
    for (const std::string& user : users) Add(user, "all keys of that user");
  }

  void AddForwards() {
    const auto paths = app_.Paths();
    const auto seen = paths.ok() ? client::LookAtForwards(*paths)
                                 : base::Result<client::SeenForwards>(paths.error());
    if (!seen.ok()) return;
    for (const client::BackgroundForward& one : seen->running) {
      for (const client::ForwardedPort& port : one.request.ports)
        Add(std::to_string(port.local), "of job " + core::FormatJobId(one.request.job));
    }
    Add("all", "every forward in the background");
  }

  /// Those of the store: no Tab reads a queue file.
  void AddTasks() {
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok()) return;
    const auto queues = context->Await(context->stores.queues->Queues());
    if (!queues.ok()) return;
    for (const ports::Queue& queue : *queues) {
      const auto read = context->Await(context->stores.queues->Tasks(queue.id, 0));
      if (!read.ok()) continue;
      for (const core::Task& task : read->tasks) Add(task.definition.id, task.why);
    }
  }

  /// "JOB:", or a file of this machine. What follows the colon is on hosts, which no Tab asks.
  void AddCopyPlaces() {
    if (!client::ParseCopyPlace(place_.typed).job.empty()) return;
    AddJobs(":");
    AddFiles();
  }

  /// "JOB:"
  void AddTargets() {
    if (client::ParseCopyPlace(place_.typed).job.empty()) AddJobs(":");
  }

  /// "team=" for the labels that jobs have, and after it their values.
  void AddLabels() {
    const bool valued = base::Contains(place_.typed, "=");
    std::set<std::string> words;
    for (const ports::JobSummary& row : Jobs())
      for (const auto& [key, value] : row.labels) words.insert(key + "=" + (valued ? value : ""));
    for (const std::string& word : words) Add(word);
  }

  /// The first word before the cursor that names a job: of cp's and sync's words, "JOB:PATH" does.
  std::string JobWord() const {
    const bool copies = place_.command->check_name("cp") || place_.command->check_name("sync");
    for (const std::string& word : place_.positionals) {
      std::string job = copies ? client::ParseCopyPlace(word).job : word;
      if (!job.empty()) return job;
    }
    return {};
  }

  std::optional<core::Job> JobBefore() {
    const std::string word = JobWord();
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok() || word.empty()) return std::nullopt;
    ports::JobStore* const jobs = context->stores.jobs;
    const auto ids = context->Await(client::FindJobs(jobs, {word}));
    if (!ids.ok() || ids->empty()) return std::nullopt;
    auto job = context->Await(jobs->Get(ids->front()));
    return job.ok() ? std::optional(std::move(*job)) : std::nullopt;
  }

  void AddStages() {
    const auto job = JobBefore();
    if (!job) return;
    for (const std::string& step : core::StepNames(job->spec)) Add(step, "a setup step");
    Add("run", "the command");
  }

  /// The hosts of the job, if it has or had some.
  void AddHosts(bool several) {
    const auto job = JobBefore();
    const auto paths = app_.Paths();
    if (!job || !paths.ok() || (!job->slice && !job->stage)) return;
    if (several) EnterList();
    const int count = client::HostCount(*paths, *job, {});
    for (int host = 0; host < count; ++host) Add(std::to_string(host));
  }

  App& app_;
  Place place_;
  std::string text_ = {};
};

}  // namespace

std::string Complete(App& app, const CLI::App& root, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  Place place{.root = &root, .command = &root, .typed = words.back()};
  words.pop_back();
  for (const std::string& word : words) Advance(place, word);
  EnterValue(place);
  return Offers(app, std::move(place)).Text();
}

}  // namespace jobman::cli
