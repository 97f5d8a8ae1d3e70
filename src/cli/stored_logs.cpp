#include "cli/stored_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "cli/log_printer.hpp"
#include "cli/no_output.hpp"
#include "cli/views/folded_logs.hpp"
#include "jobman/controller/job_folder.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using client::LogFile;
using client::LogStage;

/// What is wanted of a log.
struct LogText {
  base::Path path = {};
  LineFilter filter = {};
  std::int64_t begin = 0;
  std::int64_t most = client::kWholeLog;  ///< bytes; more has come later

  /// Passes on the lines that are kept. Returns how many bytes it has read.
  Result<std::int64_t> Read(const ui::TakePiece& take) const {
    LineFilter keeps = filter;
    std::int64_t read = 0;
    base::Status taken = base::Ok();
    const auto pass = [&](std::string_view bytes) {
      const auto part = std::min(most - read, static_cast<std::int64_t>(bytes.size()));
      taken = take(keeps.Take(0, bytes.substr(0, static_cast<std::size_t>(part))));
      read += part;
      return taken.ok() && read < most;
    };
    JM_TRY(client::ReadLog(path, begin, pass));
    JM_TRY(std::move(taken));
    for (const auto& [host, rest] : keeps.Finish()) JM_TRY(take(rest));
    return read;
  }
};

/// Of the log as it is now; what comes later is not read.
Result<ui::HostText> TextOf(const LogFile& file, const LogsWanted& wanted) {
  LogText log{
      .path = file.path, .filter = wanted.filter, .begin = client::BeginOf(file.path, wanted.part)};
  ui::HostText text;
  const ui::TakePiece count = [&text](std::string_view bytes) {
    text.facts.Add(bytes);
    return base::Ok();
  };
  JM_ASSIGN_OR_RETURN(log.most, log.Read(count));
  text.read = [log = std::move(log)](const ui::TakePiece& take) -> base::Status {
    JM_TRY(log.Read(take));
    return base::Ok();
  };
  return text;
}

/// A host without a line that is wanted is left out. False if no host has one.
Result<bool> PrintFolded(App& app, core::JobId job, const client::ChosenLogs& logs,
                         const LogsWanted& wanted, const JobLabel& label, UntimedNote& note) {
  const LogStage& stage = logs.stage;
  views::FoldedLogs view{.job = job, .attempt = stage.attempt, .stage = stage.name};
  for (const LogFile& file : logs.files) {
    note.Look(job, file.path);
    JM_ASSIGN_OR_RETURN(ui::HostText text, TextOf(file, wanted));
    const bool all = !wanted.part.fits && !wanted.part.since;
    if (all || !text.facts.empty()) view.folding.Add(file.host, std::move(text));
  }
  const bool some = !view.folding.Groups().empty();
  if (app.mode() == OutputMode::kJson) {
    LargeJson texts;
    JM_TRY(texts.Print(views::ToJson(view, texts), app.terminal()));
    return some;
  }
  if (!some) return false;
  const bool headed = !label.title.empty() && app.mode() == OutputMode::kText;
  if (headed) app.terminal().Out(StageTitle(label.title, stage) + "\n");
  JM_TRY(view.folding.Print(app.terminal()));
  return true;
}

/// Whether there was anything to print.
Result<bool> PrintFiles(App& app, const client::Context& context, const core::Job& job,
                        const client::ChosenLogs& logs, const LogsWanted& wanted, LogLook look,
                        UntimedNote& note) {
  const LogStage& stage = logs.stage;
  const int host_count = client::HostCount(context.paths, job, stage);
  look.one_host = logs.files.size() == 1;
  look.times = wanted.times;
  LogPrinter printer(app, job.id, std::move(look), wanted.filter);
  for (const LogFile& file : logs.files) {
    note.Look(job.id, file.path);
    const auto print = [&](const client::LogPiece& piece) {
      return printer.Print(stage, file.host, host_count, piece);
    };
    const std::int64_t from = client::BeginOf(file.path, wanted.part);
    JM_TRY(client::ReadPieces(file.path, from, wanted.times, print));
    printer.Finish();
    if (app.terminal().out_error() != 0) break;  // nobody reads it
  }
  return printer.printed();
}

}  // namespace

void UntimedNote::Look(core::JobId job, const base::Path& log) {
  if (!wanted_ || !client::IsUntimed(log)) return;
  wanted_ = false;
  app_.Say(
      fmt::format("note: it is not known when the output of job {} came: an older jobman "
                  "fetched it{}",
                  core::FormatJobId(job), since_ ? "; all of it is shown" : ""));
}

Result<Shown> PrintStoredLogs(App& app, const client::Context& context, const core::Job& job,
                              const LogsWanted& wanted, const JobLabel& label, UntimedNote& note) {
  std::optional<client::ChosenLogs> logs;
  if (controller::IsOwnFolder(context.paths, job)) {
    JM_ASSIGN_OR_RETURN(logs, client::ChooseLogs(context.paths, job.id, wanted.query));
  }
  if (!logs) {
    SayNoLogsYet(app, job);
    return Shown::kNoneThere;
  }
  if (wanted.fold) {
    JM_ASSIGN_OR_RETURN(const bool some, PrintFolded(app, job.id, *logs, wanted, label, note));
    if (some || wanted.part.tail == 0) return Shown::kSome;
    if (wanted.part.fits && HasOutput(*logs)) return Shown::kNoMatch;
    SayNoOutput(app, job, *logs, wanted);
    return Shown::kNoneThere;
  }
  // Each line of the job is below its heading, and needs no name.
  LogLook look{.label = {.title = label.title}};
  if (!label.title.empty()) look.heading = StageHeading::kPrinted;
  JM_ASSIGN_OR_RETURN(const bool printed,
                      PrintFiles(app, context, job, *logs, wanted, std::move(look), note));
  if (printed || wanted.part.tail == 0) return Shown::kSome;
  if (wanted.part.fits && HasOutput(*logs)) return Shown::kNoMatch;
  SayNoOutput(app, job, *logs, wanted);
  return Shown::kNoneThere;
}

}  // namespace jobman::cli
