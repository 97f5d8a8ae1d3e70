#include "sim/command/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "sim/cloud/catalogue.hpp"
#include "sim/cloud/settings.hpp"
#include "sim/faults/acts.hpp"
#include "sim/faults/call_faults.hpp"
#include "sim/faults/storm.hpp"
#include "sim/service/tpu_service.hpp"

namespace jobman::sim {

namespace {

/// Where the cursor is in the command line, and what precedes it.
struct Cursor {
  const CLI::App* root = nullptr;
  const CLI::App* command = nullptr;
  const CLI::Option* valued = nullptr;  ///< the option whose value is at the cursor
  std::size_t positionals = 0;          ///< of the command, before the cursor
  std::string dir = {};                 ///< --dir
  std::string typed = {};  ///< the word at the cursor, or what is to be completed of it
  std::string lead = {};   ///< what precedes that in the word: "--as="
};

/// An option of the command that takes a value, or a global one, which may be anywhere.
const CLI::Option* ValuedOption(const Cursor& at, const std::string& word) {
  for (const CLI::App* app : {at.command, at.root}) {
    for (const CLI::Option* option : app->get_options()) {
      const bool named = !option->get_positional() && option->check_name(word);
      if (named) return option->get_items_expected_max() > 0 ? option : nullptr;
    }
  }
  return nullptr;
}

void TakeValue(Cursor& at, const CLI::Option& option, const std::string& value) {
  if (option.check_name("--dir")) at.dir = value;
}

/// The word before the cursor.
void PassWord(Cursor& at, const std::string& word) {
  if (at.valued != nullptr) {
    TakeValue(at, *std::exchange(at.valued, nullptr), word);
  } else if (word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    const CLI::Option* option = ValuedOption(at, word.substr(0, equals));
    if (equals == std::string::npos) {
      at.valued = option;
    } else if (option != nullptr) {
      TakeValue(at, *option, word.substr(equals + 1));
    }
  } else if (at.command != at.root) {
    ++at.positionals;
  } else {
    for (const CLI::App* child : at.root->get_subcommands({}))
      if (child->check_name(word)) at.command = child;
  }
}

/// What is to be completed begins after the first `count` characters of what was.
void PassPart(Cursor& at, std::size_t count) {
  at.lead += at.typed.substr(0, count);
  at.typed.erase(0, count);
}

/// Of "--as=stop", the option's value is to be completed.
void EnterValue(Cursor& at) {
  const std::size_t equals = at.typed.find('=');
  if (!at.typed.starts_with("--") || equals == std::string::npos || at.valued != nullptr) return;
  at.valued = ValuedOption(at, at.typed.substr(0, equals));
  if (at.valued != nullptr) PassPart(at, equals + 1);
}

/// The positional argument at the cursor; null if the command takes no more.
const CLI::Option* PositionalAt(const Cursor& at) {
  std::size_t index = 0;
  for (const CLI::Option* option : at.command->get_options()) {
    if (!option->get_positional()) continue;
    if (option->get_items_expected_max() > 1 || index == at.positionals) return option;
    ++index;
  }
  return nullptr;
}

/// The settings of maps, whose keys are free: "quota.", with what such a key begins with.
std::vector<std::string> MapSettings() {
  std::vector<std::string> keys;
  const Json all = ToJson(Settings{});
  for (const auto& [key, value] : all.items())
    if (value.is_object() && value.empty()) keys.push_back(key + ".");
  return keys;
}

/// The settings that have one value: "delays.create".
std::map<std::string, Json> SimpleSettings() {
  std::map<std::string, Json> simple;
  const Json all = ToJson(Settings{});
  for (const auto& [key, value] : all.items()) {
    if (!value.is_structured()) simple[key] = value;
    if (!value.is_object()) continue;
    for (const auto& [inner, one] : value.items()) simple[key + "." + inner] = one;
  }
  return simple;
}

/// Collects the words that start with what was typed at the cursor.
class SimOffers {
 public:
  SimOffers(Cursor at, const LookAtStatus& look) : at_(std::move(at)), look_(look) {}

  std::string Lines() {
    if (at_.valued != nullptr) {
      AddValues(*at_.valued);
    } else if (at_.typed.starts_with('-')) {
      AddOptions();
    } else if (at_.command == at_.root) {
      for (const CLI::App* child : at_.root->get_subcommands({}))
        if (!child->get_group().empty()) Add(child->get_name(), child->get_description());
    } else if (const CLI::Option* option = PositionalAt(at_)) {
      AddValues(*option);
    }
    return text_;
  }

 private:
  void Add(const std::string& word, const std::string& about = {}) {
    if (word.starts_with(at_.typed)) text_ += at_.lead + word + "\t" + about + "\n";
  }
  void AddAll(const std::vector<std::string>& words) {
    for (const std::string& word : words) Add(word);
  }

  void AddOptions() {
    for (const CLI::App* app : {at_.command, at_.root}) {
      for (const CLI::Option* option : app->get_options()) {
        // The command has a --help of its own; hidden options are in no group.
        const bool again = app != at_.command && option->check_name("--help");
        if (option->get_positional() || option->get_group().empty() || again) continue;
        for (const std::string& name : option->get_snames())
          Add("-" + name, option->get_description());
        for (const std::string& name : option->get_lnames())
          Add("--" + name, option->get_description());
      }
      if (at_.command == at_.root) break;
    }
  }

  /// By the name of the option's type, which help shows too.
  void AddValues(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type == "FILE" || type == "DIR" || type == "[SOCKET]") AddFiles();
    if (type == "NODE" || type == "NAME") AddNames(option.get_single_name(), type == "NAME");
    if (type == "NODE/INDEX") AddHosts();
    if (type == "WAY") AddAll(acts::Ways());
    if (type == "ACTION") AddAll(acts::HostActions());
    if (type == "ERROR") AddAll(FaultNames());
    if (type == "METHOD") AddAll(TpuService::MethodNames());
    if (type == "KIND,...") AddKinds();
    if (type.starts_with("KEY=VALUE") && !at_.command->check_name("show")) AddSettings();
    if (type.ends_with("{bash,zsh,fish}")) AddAll({"bash", "zsh", "fish"});
  }

  void AddFiles() { text_ += at_.lead.empty() ? ":files\n" : ":files\t" + at_.lead + "\n"; }

  Json Status() const { return look_ ? look_(at_.dir) : Json(); }
  static std::string Shown(const Json& entry, std::string_view key) {
    return base::CleanLine(Text(entry, key));
  }
  void AddEntries(const Json& entries) {
    for (const Json& entry : entries)
      Add(Shown(entry, "id"), Shown(entry, "type") + ", " + Shown(entry, "state"));
  }

  void AddNames(const std::string& member, bool queued_too) {
    const Json status = Status();
    if (member != "queuedResource") AddEntries(Member(status, "nodes"));
    if (queued_too) AddEntries(Member(status, "queued_resources"));
  }

  void AddHosts() {
    const Json status = Status();
    for (const Json& node : Member(status, "nodes")) {
      const std::string id = Shown(node, "id");
      for (std::size_t i = 0; i < Member(node, "hosts").size(); ++i)
        Add(fmt::format("{}/{}", id, i));
      Add(id + "/*", "all of its hosts");
    }
  }

  /// Of a list such as "cut,ha", the last word is to be completed.
  void AddKinds() {
    PassPart(at_, at_.typed.rfind(',') + 1);
    AddAll(StormKinds());
  }

  void AddSettings() {
    const auto settings = SimpleSettings();
    const std::size_t equals = at_.typed.find('=');
    if (equals == std::string::npos) {
      for (const auto& [key, value] : settings) Add(key + "=");
      for (const std::string& key : MapSettings()) AddMapKeys(key);
      return;
    }
    const auto found = settings.find(at_.typed.substr(0, equals));
    PassPart(at_, equals + 1);
    if (found != settings.end() && found->second.is_boolean()) AddAll({"true", "false"});
  }

  /// "quota.", then "quota.us-central2-b/": after it comes a type, or what else the setting takes.
  void AddMapKeys(const std::string& map) {
    if (!at_.typed.starts_with(map)) return Add(map);
    if (map == "requests_per_minute.") {
      for (const std::string& method : TpuService::MethodNames())
        Add(map + base::ReplaceAll(method, ".", "/") + "=");
      return;
    }
    for (const std::string& zone : Zones()) Add(map + zone + "/");
    Add(map + "*/");
  }

  Cursor at_;
  const LookAtStatus& look_;
  std::string text_ = {};
};

}  // namespace

std::string Complete(const CLI::App& root, std::vector<std::string> words,
                     const LookAtStatus& look) {
  if (words.empty()) words.emplace_back();
  Cursor at{.root = &root, .command = &root, .typed = words.back()};
  words.pop_back();
  for (const std::string& word : words) PassWord(at, word);
  EnterValue(at);
  return SimOffers(std::move(at), look).Lines();
}

}  // namespace jobman::sim
