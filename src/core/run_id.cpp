#include "jobman/core/run_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/overloaded.hpp"
#include "jobman/base/check.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// Parses an id from its beginning; `good` while every field was found.
struct Reader {
  std::string_view rest;
  bool good = true;

  void Mark(std::string_view mark) {
    good = good && rest.starts_with(mark);
    if (good) rest.remove_prefix(mark.size());
  }
  std::string Until(char end) {
    const std::string text(rest.substr(0, rest.find(end)));
    good = good && IsRunIdField(text);
    rest.remove_prefix(text.size());
    Mark(std::string_view(&end, 1));
    return text;
  }
  std::int64_t Number(std::string_view mark) {
    Mark(mark);
    const auto end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto number = base::ParseNumber(rest.substr(0, end));
    rest.remove_prefix(end);
    good = good && number;
    return number.value_or(0);
  }
  int Int(std::string_view mark) {
    const std::int64_t number = Number(mark);
    good = good && number <= std::numeric_limits<int>::max();
    return good ? static_cast<int>(number) : 0;
  }
};

}  // namespace

// The dot separates fields, so none may hold one.
bool IsRunIdField(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string RunIdPrefix(const JobOnHost& on) {
  JM_CHECK(IsRunIdField(on.store) && IsRunIdField(on.node), "valid ids");
  return fmt::format("{}.j{}.{}.h{}.", on.store, FormatJobId(on.job), on.node, on.host);
}

std::string FormatRunId(const RunId& run) {
  const auto command = [](const CommandRun& of) { return fmt::format("a{}", of.attempt); };
  const auto setup = [](const SetupRun& of) {
    return fmt::format("s{}-{}-g{}e{}", of.step, of.content, of.generation, of.epoch);
  };
  const auto task = [](const WorkRun& of) { return fmt::format("t{}", of.number); };
  return RunIdPrefix(run.on) + std::visit(Overloaded{command, setup, task}, run.what);
}

std::optional<RunId> ParseRunId(std::string_view text) {
  Reader reader{.rest = text};
  RunId run;
  run.on.store = reader.Until('.');
  run.on.job.value = reader.Number("j");
  reader.Mark(".");
  run.on.node = reader.Until('.');
  run.on.host = reader.Int("h");
  reader.Mark(".");
  if (reader.rest.starts_with('a')) {
    run.what = CommandRun{.attempt = reader.Int("a")};
  } else if (reader.rest.starts_with('t')) {
    run.what = WorkRun{.number = reader.Int("t")};
  } else {
    SetupRun setup{.step = reader.Int("s")};
    reader.Mark("-");
    setup.content = reader.Until('-');
    setup.generation = reader.Int("g");
    setup.epoch = reader.Int("e");
    run.what = setup;
  }
  // The comparison rejects leading zeros and trailing text.
  if (!reader.good || FormatRunId(run) != text) return std::nullopt;
  return run;
}

std::string ExecRunId(const JobOnHost& on, std::string_view name) {
  JM_CHECK(IsRunIdField(name), "a valid name");
  return ExecRunPrefix(on) + std::string(name);
}

std::string ExecRunPrefix(const JobOnHost& on) {
  return RunIdPrefix(on) + "x-";
}

JobOnHost OnHost(const std::string& store_id, const Job& job, int host) {
  const HostPosition position = PositionOf(*job.slice, host);
  return {.store = store_id, .job = job.id, .node = position.node_id, .host = position.host};
}

}  // namespace jobman::core
