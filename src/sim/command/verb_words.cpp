#include "sim/command/verb_words.hpp"

#include <fmt/format.h>

#include <memory>

#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "sim/cloud/settings.hpp"
#include "sim/faults/host_choice.hpp"
#include "sim/faults/verbs.hpp"

namespace jobman::sim {

using base::InvalidArgument;

namespace {

using Body = std::shared_ptr<Json>;

/// NODE/INDEX as two members.
void TakeHost(const std::string& text, Json& body) {
  const auto slash = text.rfind('/');
  const std::string index = slash == std::string::npos ? "" : text.substr(slash + 1);
  const auto choice = ParseHostChoice(index);
  if (index.empty() || !choice.ok()) {
    throw CLI::ValidationError("\"" + text + "\" is not NODE/INDEX" +
                               (index.empty() ? "" : ": " + choice.error().message));
  }
  body["node"] = text.substr(0, slash);
  body["index"] = index;
}

Json TakeSetting(const std::string& assignment) {
  auto patch = SettingPatch(assignment);
  if (!patch.ok()) throw CLI::ValidationError(patch.error().ToString());
  return std::move(patch).value();
}

/// Makes the option write its value into the body.
CLI::Option* AddOption(CLI::App& command, const std::string& name, const Argument& argument,
                       const Body& body) {
  using Texts = std::vector<std::string>;
  const std::string member = argument.member;
  const std::string help = argument.help;
  switch (argument.kind) {
    case Argument::Kind::kText:
      return command.add_option_function<std::string>(
          name, [body, member](const std::string& value) { (*body)[member] = value; }, help);
    case Argument::Kind::kNumber:
      return command.add_option_function<std::int64_t>(
          name, [body, member](const std::int64_t& value) { (*body)[member] = value; }, help);
    case Argument::Kind::kFlag:
      return command.add_flag_callback(
          name, [body, member] { (*body)[member] = true; }, help);
    case Argument::Kind::kHost:
      return command.add_option_function<std::string>(
          name, [body](const std::string& value) { TakeHost(value, *body); }, help);
    case Argument::Kind::kFields:
      return command.add_option_function<Texts>(
          name,
          [body, member](const Texts& values) {
            for (const auto& value : values) (*body)[member].update(TakeSetting(value));
          },
          help);
    case Argument::Kind::kSettings:
      return command.add_option_function<Texts>(
          name,
          [body](const Texts& values) {
            *body = Json::array();
            for (const auto& value : values) body->push_back(TakeSetting(value));
          },
          help);
  }
  return nullptr;
}

void AddArgument(CLI::App& command, const Argument& argument, const Body& body) {
  const std::string word = argument.word;
  const auto blank = word.find(' ');
  const bool option = word.starts_with("--");
  CLI::Option* added =
      AddOption(command, option ? word.substr(0, blank) : argument.member, argument, body);
  if (option && blank != std::string::npos) added->type_name(word.substr(blank + 1));
  if (word.ends_with(" T")) added->check(IsDuration());
  if (!option) added->type_name(word)->required(!word.starts_with("["));
}

void AddVerb(CLI::App& app, const Verb& verb, std::vector<Order>& given) {
  CLI::App* command = app.add_subcommand(verb.name, verb.help);
  command->group("Faults");
  const auto body = std::make_shared<Json>(Json::object());
  for (const Argument& argument : verb.arguments) AddArgument(*command, argument, body);
  command->callback([&given, name = verb.name, body] {
    if (!body->is_array()) return given.push_back({name, *body});
    for (const Json& one : *body) given.push_back({name, one});
  });
}

std::string WithoutComment(const std::string& line) {
  if (line.starts_with("#")) return {};
  return line.substr(0, line.find(" #"));
}

}  // namespace

CLI::Validator IsDuration() {
  const auto check = [](std::string& text) -> std::string {
    const auto duration = base::ParseDuration(text);
    return duration.ok() ? "" : duration.error().message + "; " + duration.error().hint;
  };
  return CLI::Validator(check, "");
}

void AddVerbs(CLI::App& app, std::vector<Order>& given) {
  for (const Verb& verb : Verbs()) AddVerb(app, verb, given);
}

base::Result<std::vector<Order>> ParseOrders(const std::string& line) {
  const std::string word = line.substr(0, line.find(' '));
  JM_ASSIGN_OR_RETURN(const Verb* verb, FindVerb(word));
  std::vector<Order> given;
  CLI::App app("", "");
  app.set_help_flag();
  app.require_subcommand(1);
  AddVerb(app, *verb, given);
  try {
    app.parse(line, false);
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(word + ": " + error.what(), "usage: " + Usage(*verb));
  }
  return given;
}

base::Result<Json> ParseScript(const std::string& file, const std::string& text) {
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
    auto orders = ParseOrders(std::string(base::Trim(line.substr(blank))));
    if (!orders.ok()) return std::move(orders).error().With(where);
    for (Order& order : *orders) {
      lines.push_back({{"after", fmt::format("{}ms", after->count())},
                       {"order", order.verb},
                       {"body", std::move(order.body)},
                       {"line", line}});
    }
  }
  return Json{{"lines", std::move(lines)}};
}

}  // namespace jobman::sim
