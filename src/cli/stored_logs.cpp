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

/// The log as it is now; what comes later is not read.
Result<ui::HostText> TextOf(const LogFile& file) {
  ui::HostText text;
  const auto count = [&text](std::string_view bytes) {
    text.facts.Add(bytes);
    return true;
  };
  JM_TRY(client::ReadLog(file.path, 0, count));
  text.read = [path = file.path,
               size = text.facts.size()](const ui::TakePiece& take) -> base::Status {
    std::int64_t left = size;
    base::Status taken = base::Ok();
    const auto some = [&](std::string_view bytes) {
      const auto part = std::min(left, static_cast<std::int64_t>(bytes.size()));
      taken = take(bytes.substr(0, static_cast<std::size_t>(part)));
      left -= part;
      return taken.ok() && left > 0;
    };
    JM_TRY(client::ReadLog(path, 0, some));
    return taken;
  };
  return text;
}

base::Status PrintFolded(App& app, core::JobId job, const client::ChosenLogs& logs,
                         const JobLabel& label) {
  const LogStage& stage = logs.stage;
  views::FoldedLogs view{.job = job, .attempt = stage.attempt, .stage = stage.name};
  for (const LogFile& file : logs.files) {
    JM_ASSIGN_OR_RETURN(ui::HostText text, TextOf(file));
    view.folding.Add(file.host, std::move(text));
  }
  if (app.mode() == OutputMode::kJson) {
    LargeJson texts;
    return texts.Print(views::ToJson(view, texts), app.terminal());
  }
  const bool headed = !label.title.empty() && app.mode() == OutputMode::kText;
  if (headed) app.terminal().Out(StageTitle(label.title, stage) + "\n");
  return view.folding.Print(app.terminal());
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
    JM_TRY(PrintFolded(app, job.id, *logs, label));
    return Shown::kSome;
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
