#include "jobman/client/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/import_parts.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::client {
namespace {

constexpr base::Duration kTmuxLimit = std::chrono::seconds{10};

/// The sessions of this user's tmux; none if it is not installed, or nothing runs in it. An error
/// if it gives no answer: that is no sign that nobody is there.
base::Task<base::Result<std::set<std::string>>> TmuxSessions() {
  std::vector<std::string> argv = {"tmux", "list-sessions", "-F", "#{session_name}"};
  auto run = base::RunProcess(std::move(argv));
  const auto ended = co_await base::WithTimeout(std::move(run), kTmuxLimit, "tmux list-sessions");
  std::set<std::string> sessions;
  if (!ended.ok() && ended.error().code == base::Code::kNotFound) co_return sessions;
  JM_CO_TRY(ended);
  const bool none = base::Contains(ended->err, "no server running") ||
                    base::Contains(ended->err, "No such file") ||
                    base::Contains(ended->err, "no sessions");
  if (ended->exit_code != 0 && none) co_return sessions;
  if (ended->exit_code != 0) {
    co_return base::Error{.code = base::Code::kUnavailable,
                          .message = "tmux list-sessions: " + std::string(base::Trim(ended->err))};
  }
  for (const std::string& line : base::Split(ended->out, '\n')) sessions.insert(line);
  co_return sessions;
}

/// A number may be another process's by now.
bool IsOldJobman(std::int64_t process) {
  if (process <= 1) return false;
  const auto words = base::ReadFile(fmt::format("/proc/{}/cmdline", process));
  return words.ok() && words->find("jobman") != std::string::npos;
}

std::string NameOf(const config::OldEntry& entry) {
  return entry.id == 0 ? "worker " + entry.name : "job " + base::FormatJobNumber(entry.id);
}

/// The number after the largest that the store or the old tool has given to a job.
base::Task<base::Result<std::int64_t>> NextNumber(Context context, std::int64_t last) {
  const ports::JobFilter all{.with_deleted = true};
  JM_CO_ASSIGN_OR_RETURN(const auto known, co_await context.stores.jobs->List(all));
  for (const ports::JobSummary& job : known) last = std::max(last, job.id.value);
  co_return last + 1;
}

base::Error StillRuns(const std::vector<std::string>& alive) {
  const std::string more =
      alive.size() > 1 ? fmt::format("; and {} more", alive.size() - 1) : std::string();
  return {.code = base::Code::kFailedPrecondition,
          .message = "the old jobman still runs: " + alive.front() + more,
          .hint =
              "stop it there first, or two controllers fight for one slice; "
              "jobman import --dry-run names all"};
}

/// Queue files of the folder, and those that jobs name and that have a state beside them.
std::vector<base::Path> QueueFiles(const config::OldFolder& old, const Imported& imported) {
  std::vector<base::Path> files = old.queues;
  for (const ImportedRow& row : imported.jobs) {
    const bool known = std::find(files.begin(), files.end(), row.queue) != files.end();
    if (row.queue.empty() || known) continue;
    if (base::FileSize(config::OldStateFileOf(row.queue))) files.push_back(row.queue);
  }
  return files;
}

}  // namespace

base::Task<std::vector<std::string>> FindAlive(config::OldFolder old) {
  const auto answer = co_await TmuxSessions();
  const std::set<std::string> sessions = answer.ok() ? *answer : std::set<std::string>{};
  std::vector<std::string> alive;
  if (!answer.ok()) alive.push_back("perhaps, " + answer.error().message);
  for (const config::OldEntry& entry : old.entries) {
    const auto session =
        std::find_if(entry.sessions.begin(), entry.sessions.end(),
                     [&sessions](const std::string& one) { return sessions.contains(one); });
    if (session != entry.sessions.end()) {
      alive.push_back(fmt::format("{} in the tmux session {} (tmux kill-session -t '{}')",
                                  NameOf(entry), *session, *session));
    } else if (IsOldJobman(entry.process)) {
      alive.push_back(fmt::format("{} as process {}", NameOf(entry), entry.process));
    }
  }
  co_return alive;
}

base::Task<base::Result<Imported>> ImportFolder(Context context, ImportOrder order) {
  JM_CO_ASSIGN_OR_RETURN(const config::OldFolder old,
                         config::ReadOldFolder(order.dir, context.Now()));
  Imported imported{.generation = old.generation, .dir = old.dir, .notes = old.unclear};
  imported.alive = co_await FindAlive(old);
  if (!imported.alive.empty() && !order.dry_run) co_return StillRuns(imported.alive);
  JM_CO_ASSIGN_OR_RETURN(std::int64_t next, co_await NextNumber(context, old.last_id));
  NodeAsker nodes(context);
  // Copied for each entry, of which there may be thousands.
  const config::OldFolder of_entry{.generation = old.generation, .dir = old.dir};
  for (const config::OldEntry& entry : old.entries) {
    JM_CO_ASSIGN_OR_RETURN(ImportedRow row,
                           co_await ImportEntry(context, order, of_entry, entry, &next, &nodes));
    imported.jobs.push_back(std::move(row));
  }
  if (!order.dry_run && old.last_id > 0) {
    JM_CO_TRY(co_await context.stores.jobs->ReserveIds({old.last_id}));
  }
  for (const base::Path& file : QueueFiles(old, imported)) {
    JM_CO_ASSIGN_OR_RETURN(ImportedQueue queue, co_await ImportQueue(context, order, old, file));
    imported.queues.push_back(std::move(queue));
  }
  if (!old.tasks.empty()) {
    JM_CO_ASSIGN_OR_RETURN(ImportedQueue queue, co_await ImportSubmitted(context, order, old));
    imported.queues.push_back(std::move(queue));
  }
  imported.notes.insert(imported.notes.end(), nodes.troubles().begin(), nodes.troubles().end());
  co_return imported;
}

}  // namespace jobman::client
