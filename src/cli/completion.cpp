#include "cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "cli/status_words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/find_jobs.hpp"
#include "jobman/client/wait_goal.hpp"
#include "jobman/config/schema.hpp"

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

/// Collects the words that start with what was typed at the cursor.
class Offers {
 public:
  Offers(App& app, Place place, std::string typed)
      : app_(app), place_(std::move(place)), typed_(std::move(typed)) {}

  std::string Text() {
    if (place_.foreign) return {};
    if (place_.valued != nullptr) {
      AddValues(*place_.valued);
    } else if (typed_.starts_with('-')) {
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
    if (word.starts_with(typed_)) text_ += word + "\t" + about + "\n";
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
    const std::string before = base::Contains(type, ",...") ? ListBefore() : "";
    for (const std::string& value : ClosedSet(type)) Add(before + value);
    if (NamesPath(type)) text_ += ":files\n";
    if (type.starts_with("STATUS,")) AddStates({});
    if (type.starts_with("STATE,")) AddStates({client::kDone});
    if (type == "STAGE") AddStages();
    if (option.check_name("--set") || option.check_name("--set-file")) AddKeys("=");
  }

  void AddPositional(const CLI::Option& option) {
    const std::string& name = option.get_single_name();
    const bool more = place_.positionals.empty() || option.get_items_expected_max() > 1;
    if (name == "JOB" && more) AddJobs();
    if (name == "KEY") AddKeys("");
    if (name == "COMMAND" && place_.command->check_name("help")) {
      for (const CLI::App* command : place_.root->get_subcommands({}))
        Add(command->get_name(), command->get_description());
    }
    if (NamesPath(name)) text_ += ":files\n";
    for (const std::string& value : ClosedSet(option.get_type_name())) Add(value);
  }

  /// What precedes the last word of a list such as "state,ho".
  std::string ListBefore() const {
    const std::size_t comma = typed_.rfind(',');
    return comma == std::string::npos ? "" : typed_.substr(0, comma + 1);
  }

  /// Completes the last word of a list such as "running,failed", in the case that was typed.
  void AddStates(const Words& more) {
    const std::string before = ListBefore();
    const bool lower = std::any_of(typed_.begin(), typed_.end(), [](char c) { return c >= 'a'; });
    Words words = StatusWords();
    if (!more.empty()) std::erase(words, "STARTING");  // wait does not take it
    words.insert(words.end(), more.begin(), more.end());
    for (std::string& word : words) {
      if (lower) word = base::ToLower(word);
      Add(before + word);
    }
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

  void AddJobs() {
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok()) return;
    // All that is left to do with a deleted job is to clean it.
    const ports::JobFilter wanted{.with_deleted = place_.command->check_name("clean")};
    const auto rows = context->Await(context->stores.jobs->List(wanted));
    if (!rows.ok()) return;
    std::set<std::string> names;
    for (const ports::JobSummary& row : *rows) {
      Add(core::FormatJobId(row.id), row.name + ", " + row.state);
      names.insert(row.name);
    }
    for (const std::string& name : names) Add(name, "the newest job of that name");
  }

  void AddStages() {
    const auto context = app_.OpenForReading(Elsewhere::kIgnore);
    if (!context.ok() || place_.positionals.empty()) return;
    ports::JobStore* const jobs = context->stores.jobs;
    const auto ids = context->Await(client::FindJobs(jobs, place_.positionals));
    if (!ids.ok() || ids->empty()) return;
    const auto job = context->Await(jobs->Get(ids->front()));
    if (!job.ok()) return;
    for (const std::string& step : core::StepNames(job->spec)) Add(step, "a setup step");
    Add("run", "the command");
  }

  App& app_;
  Place place_;
  std::string typed_;
  std::string text_ = {};
};

}  // namespace

std::string Complete(App& app, const CLI::App& root, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const std::string typed = words.back();
  words.pop_back();
  Place place{.root = &root, .command = &root};
  for (const std::string& word : words) Advance(place, word);
  return Offers(app, std::move(place), typed).Text();
}

}  // namespace jobman::cli
