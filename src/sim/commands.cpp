#include "sim/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "jobman/base/strings.hpp"
#include "sim/settings.hpp"

namespace jobman::sim {

using base::InvalidArgument;

namespace {

/// One command: its words become members of the order's body.
class Words {
 public:
  Words(CLI::App& app, std::vector<Command>& given, const std::string& name,
        const std::string& order, const std::string& help)
      : command_(app.add_subcommand(name, help)), body_(std::make_shared<Json>(Json::object())) {
    command_->group("What goes wrong");
    command_->callback(
        [&given, order, body = body_] { given.push_back({.order = order, .body = *body}); });
  }
  /// A word that must be given ("node"), or an option ("--notice").
  Words& Take(const std::string& word, const std::string& member, const std::string& help) {
    const auto keep = [body = body_, member](const std::string& value) { (*body)[member] = value; };
    auto* option = command_->add_option_function<std::string>(word, keep, help);
    option->required(!word.starts_with("-"));
    return *this;
  }
  Words& Maybe(const std::string& word, const std::string& member, const std::string& help) {
    Take(word, member, help);
    command_->get_option(word)->required(false);
    return *this;
  }
  Words& Number(const std::string& word, const std::string& member, const std::string& help) {
    command_->add_option_function<std::int64_t>(
        word, [body = body_, member](const std::int64_t& value) { (*body)[member] = value; }, help);
    return *this;
  }
  Words& Flag(const std::string& word, const std::string& member, const std::string& help) {
    command_->add_flag_callback(
        word, [body = body_, member] { (*body)[member] = true; }, help);
    return *this;
  }
  CLI::App* command() { return command_; }
  std::shared_ptr<Json> body() { return body_; }

 private:
  CLI::App* command_;
  std::shared_ptr<Json> body_;
};

constexpr const char* kNodes = "Its id or full name; * and ? for several";

void AddSliceCommands(CLI::App& app, std::vector<Command>& given) {
  Words(app, given, "preempt", "preempt", "Take a spot node or a queued resource away")
      .Take("name", "node", kNodes)
      .Take("--as", "as", "preempted (the default), stopping or repairing first, silent, or gone")
      .Take("--for", "for", "How long the state before PREEMPTED lasts, or the silence (2s)")
      .Take("--notice", "notice", "The hosts read preempted=TRUE so long before")
      .Flag("--force", "force", "Also when it is on demand");
  Words(app, given, "maintain", "maintain", "A maintenance: same node, new external addresses")
      .Take("node", "node", kNodes)
      .Take("--notice", "notice", "Node and hosts announce it so long before")
      .Take("--for", "for", "How long it lasts (5s)");
  Words(app, given, "repair", "repair", "REPAIRING for a time, then READY again")
      .Take("node", "node", kNodes)
      .Take("--for", "for", "How long it lasts (5s)");
  Words reboot(app, given, "reboot", "node", "Restart the machines of a node");
  reboot.Take("node", "node", kNodes);
  (*reboot.body())["reboot"] = true;
  Words(app, given, "terminate", "terminate", "End a node as TERMINATED")
      .Take("node", "node", kNodes);
  Words(app, given, "stop", "stop", "STOPPING, then STOPPED").Take("node", "node", kNodes);
  Words(app, given, "start", "start", "Start a STOPPED node").Take("node", "node", kNodes);
  Words(app, given, "delete", "delete", "Delete a node or queued resource, as somebody else would")
      .Take("name", "node", kNodes);
  Words(app, given, "fail", "fail", "A queued resource ends as FAILED")
      .Take("name", "queuedResource", "Its id or full name")
      .Number("--code", "code", "Of google.rpc.Code (13)")
      .Take("--message", "message", "Of the error")
      .Flag("--expired", "expired", "Because its valid-until time has passed (code 4)");
}

void AddHostCommand(CLI::App& app, std::vector<Command>& given) {
  Words host(app, given, "host", "host", "Something happens to one host");
  host.command()
      ->add_option_function<std::string>(
          "host",
          [body = host.body()](const std::string& text) {
            const auto slash = text.rfind('/');
            const std::string index = slash == std::string::npos ? "" : text.substr(slash + 1);
            if (index != "*" && !base::ParseNumber(index)) {
              throw CLI::ValidationError("\"" + text + "\" is not NODE/INDEX");
            }
            (*body)["node"] = text.substr(0, slash);
            (*body)["index"] = index;
          },
          "NODE/INDEX; * for every index")
      ->required();
  host.Take("action", "action",
            "kill (off), boot (on again), cut (packets are lost), mend, hangup (connections end)")
      .Take("--for", "for", "kill and cut: how long until it is taken back");
}

void AddShow(CLI::App& app, std::vector<Command>& given) {
  Words show(app, given, "show", "node", "Show other fields of a node than the real ones");
  show.Take("node", "node", kNodes);
  const auto keep = [body = show.body()](const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) {
      const auto patch = SettingPatch(assignment);
      if (!patch.ok()) throw CLI::ValidationError(patch.error().ToString());
      (*body)["set"].update(*patch);
    }
  };
  show.command()
      ->add_option_function<std::vector<std::string>>(
          "field", keep, "KEY=VALUE, such as state=REPAIRING; null shows the real one again")
      ->required();
}

void AddSet(CLI::App& app, std::vector<Command>& given) {
  CLI::App* set = app.add_subcommand("set", "Change settings while it runs");
  set->group("What goes wrong");
  const auto keep = [&given](const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) {
      const auto patch = SettingPatch(assignment);
      if (!patch.ok()) throw CLI::ValidationError(patch.error().ToString());
      given.push_back({.order = "settings", .body = *patch});
    }
  };
  set->add_option_function<std::vector<std::string>>("setting", keep,
                                                     "KEY=VALUE, such as stock.us-central2-b/v4=16")
      ->required();
}

void AddServiceCommands(CLI::App& app, std::vector<Command>& given) {
  Words(app, given, "fault", "faults", "Let the next calls of a method go wrong")
      .Take("method", "method", "Such as nodes.create; * and ? as in a shell")
      .Take("error", "error", "Such as unavailable, stockout, drop_reply")
      .Number("--times", "times", "How many calls (1)")
      .Take("--retry-after", "retry_after", "Seconds of a Retry-After header");
  Words(app, given, "stockout", "stockout", "No capacity for a time")
      .Maybe("where", "where", "ZONE/TYPE or ZONE/FAMILY, with * and ? (everywhere)")
      .Take("--for", "for", "How long (30s)");
  Words(app, given, "unplug", "unplug", "Refuse all connections to the API for a time")
      .Take("--for", "for", "How long (10s)");
  AddSet(app, given);
  Words(app, given, "calm", "calm",
        "Take back faults, stockouts, dead and cut hosts, what a script has still to do");
}

std::string WithoutComment(const std::string& line) {
  if (line.starts_with("#")) return {};
  return line.substr(0, line.find(" #"));
}

}  // namespace

void AddCommands(CLI::App& app, std::vector<Command>& given) {
  AddSliceCommands(app, given);
  AddShow(app, given);
  AddHostCommand(app, given);
  AddServiceCommands(app, given);
}

base::Result<std::vector<Command>> ParseCommands(const std::string& line) {
  std::vector<Command> given;
  CLI::App app("", "");
  app.set_help_flag();
  app.require_subcommand(1);
  AddCommands(app, given);
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  const std::string word = line.substr(0, line.find(' '));
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    const auto near = base::Nearest(word, known);
    return InvalidArgument(
        "there is no command \"" + word + "\"",
        near ? "did you mean " + *near + "?" : "known: " + base::Join(known, ", "));
  }
  try {
    app.parse(line, false);
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(word + ": " + error.what());
  }
  return given;
}

base::Result<Json> ScriptBody(const std::string& file, const std::string& text) {
  Json lines = Json::array();
  const std::vector<std::string> all = base::Split(text, '\n');
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string line(base::Trim(WithoutComment(all[i])));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", file, i + 1);
    const auto blank = line.find_first_of(" \t");
    const auto after = base::ParseDuration(line.substr(0, blank));
    if (!after.ok() || blank == std::string::npos) {
      return InvalidArgument(where + ": \"" + line + "\" is not \"T COMMAND ARGS\"",
                             "for example 30s preempt train-1");
    }
    auto commands = ParseCommands(std::string(base::Trim(line.substr(blank))));
    if (!commands.ok()) return std::move(commands).error().With(where);
    for (Command& command : *commands) {
      lines.push_back({{"after", fmt::format("{}ms", after->count())},
                       {"order", command.order},
                       {"body", std::move(command.body)},
                       {"line", line}});
    }
  }
  return Json{{"lines", std::move(lines)}};
}

}  // namespace jobman::sim
