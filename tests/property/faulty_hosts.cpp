#include "tests/property/faulty_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/check.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/script_listener.hpp"

namespace jobman::test {

using base::Duration;
using base::Error;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Error Refused() {
  return {.code = base::Code::kUnavailable,
          .message = "connection refused",
          .reason = base::Reason::kHostRefused};
}

Error Hangs() {
  return {.code = base::Code::kDeadlineExceeded,
          .message = "the command did not answer",
          .reason = base::Reason::kHostHangs};
}

Error TimedOut() {
  return {.code = base::Code::kUnavailable,
          .message = "no answer",
          .reason = base::Reason::kHostTimeout};
}

base::Status Say(const ports::ByteSink& sink, const std::string& text) {
  return sink ? sink(text) : base::Ok();
}

bool IsCommand(const std::string& id) {
  const auto run = core::ParseRunId(id);
  return run && std::holds_alternative<core::CommandRun>(run->what);
}

/// JOBMAN_HOST_INDEX in the run's order, where it is quoted twice.
int HostIndex(const std::string& order) {
  const std::string name = "JOBMAN_HOST_INDEX=";
  const auto digit = order.find_first_of("0123456789", order.find(name) + name.size());
  return digit == std::string::npos ? -1 : std::atoi(order.c_str() + digit);
}

Duration Seconds(const std::string& text) {
  return seconds{base::ParseNumber(text).value_or(0)};
}

/// Whether the prefix names the run `id`; a number at its end stands for all smaller numbers.
bool IsEarlier(const std::string& id, const std::string& prefix) {
  const auto digits = prefix.find_last_not_of("0123456789") + 1;
  if (!id.starts_with(prefix.substr(0, digits))) return false;
  const auto before = base::ParseNumber(prefix.substr(digits));
  const auto number = base::ParseNumber(id.substr(digits));
  return !before || (number && *number < *before);
}

}  // namespace

std::string ModelRun::status() const {
  if (started == base::TimePoint{}) return "lost stopped before it started";
  if (running) return "running";
  return lost ? "lost its machine is gone" : fmt::format("exited {}", code);
}

// --- calls ---

Task<FaultyHosts::Code> FaultyHosts::Run(ports::SharedTarget target, ports::RemoteCommand command,
                                         ports::ByteSink out, ports::ByteSink err) {
  Duration travel{random_.Below(faultless_ ? 50 : 2'000)};
  co_await base::Sleep(travel);
  const auto machine = cloud_.MachineAt(target->address);
  const bool plugged = machine && !(clock_.Now() < unplugged_until_[*machine]);
  if (!plugged || (!faultless_ && odds_.Occurs(random_, Risk::kHost, 4))) {
    Duration silence{random_.Below(10'000)};
    co_await base::Sleep(silence);
    co_return random_.Percent(50) ? Refused() : TimedOut();
  }
  if (target->identity != *machine) {
    Error changed{.code = base::Code::kPermissionDenied,
                  .message = "another machine",
                  .reason = base::Reason::kHostKeyChanged};
    co_return changed;
  }
  if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
  if (!faultless_ && odds_.Occurs(random_, Risk::kHost, 1)) {
    const auto limit = command.limit ? command.limit : command.silence;
    JM_CHECK(limit.has_value(), "every call of a host has a limit");
    co_await base::Sleep(*limit);
    co_return Hangs();
  }
  while (command.next_input) {
    JM_CO_ASSIGN_OR_RETURN(const std::string piece, command.next_input());
    command.input += piece;
    if (piece.empty()) command.next_input = nullptr;
  }
  Session session{.machine = *machine,
                  .boot = cloud_.BootOf(*machine),
                  .input = std::move(command.input),
                  .out = std::move(out),
                  .err = std::move(err)};
  // Each login shell greets, which is no log.
  if (command.command.starts_with(controller::kSayLogBegins))
    JM_CO_TRY(Say(session.out, "welcome\n" + std::string(controller::kLogBegins)));
  Code code = co_await Serve(std::move(session), std::move(command.command));
  if (!faultless_ && odds_.Occurs(random_, Risk::kHost, 4))
    co_return TimedOut();  // the answer is lost
  co_return code;
}

Task<FaultyHosts::Code> FaultyHosts::Serve(Session session, std::string command) {
  if (command == remote::InstallCall().command) {
    installed_[session.machine] = true;
    co_return 0;
  }
  const bool brings_script = session.input.starts_with(remote::PackedHostScript());
  // Some hosts cannot take it so.
  const bool takes_it = faultless_ || !odds_.Occurs(random_, Risk::kHost, 4);
  if (brings_script && !takes_it) co_return remote::kExitNotInstalled;
  if (brings_script) installed_[session.machine] = true;
  if (!installed_[session.machine]) co_return remote::kExitNotInstalled;
  const auto name = command.find(remote::HostScriptName());
  const Words words = base::Split(command.substr(name + remote::HostScriptName().size() + 1), ' ');
  if (words[0] == "run") co_return co_await StartAndFollow(std::move(session), words);
  if (words[0] == "follow") {
    const auto offset = static_cast<std::size_t>(base::ParseNumber(words[2]).value_or(0));
    co_return co_await Follow(std::move(session), words[1], offset);
  }
  if (words[0] == "stop") co_return co_await Stop(std::move(session), words);
  if (words[0] == "renew") co_return Renew(session, words[1]);
  if (words[0] == "notice") co_return Tell(session, words);
  co_return base::Internal("an unknown call of the host script: " + command);
}

Task<FaultyHosts::Code> FaultyHosts::StartAndFollow(Session session, Words words) {
  const std::string id = words[1];
  if (Find(session.machine, id) == nullptr) {
    const Duration grace = words.size() > 3 ? Seconds(words[3]) : Duration{0};
    if (words.size() > 4 && words[4] != "-") {
      co_await EndOthers(session, words[4], grace, id);
    }
    if (words.size() > 5) {  // which hold the chips: setup steps and earlier attempts
      co_await EndOthers(session, words[5] + "s", grace, id);
      const std::string number = id.substr(id.find_last_not_of("0123456789") + 1);
      co_await EndOthers(session, words[5] + "a" + number, grace, id);
    }
    if (!Reachable(session)) co_return TimedOut();
    for (const auto& [other, run] : runs_[session.machine]) {
      if (!run.running || other == id || !IsCommand(id)) continue;
      JM_CO_TRY(Say(session.err, "jobman: busy process 1 of root holds the chips\n"));
      co_return remote::kExitHostError;
    }
    if (!faultless_ && odds_.Occurs(random_, Risk::kHost, 1)) {
      JM_CO_TRY(Say(session.err, "jobman: error cannot write (is the disk full?)\n"));
      co_return remote::kExitHostError;
    }
    if (const auto lapsed = LapsedSetup(session)) {
      JM_CO_TRY(Say(session.err, "jobman: lapsed " + *lapsed + "\n"));
      co_return 0;
    }
    if (Find(session.machine, id) == nullptr) Start(session, id);
  }
  const auto offset = static_cast<std::size_t>(base::ParseNumber(words[2]).value_or(0));
  co_return co_await Follow(std::move(session), id, offset);
}

/// The first setup run that the order needs and that has not succeeded since boot.
std::optional<std::string> FaultyHosts::LapsedSetup(const Session& session) {
  const std::string mark = "jm_setup='";
  const std::size_t from = session.input.find(mark) + mark.size();
  const std::string needed = session.input.substr(from, session.input.find('\'', from) - from);
  for (const std::string& id : base::Split(needed, ' ')) {
    if (id.empty()) continue;
    const ModelRun* const run = Find(session.machine, id);
    if (run == nullptr || run->status() != "exited 0" || run->boot != session.boot) return id;
  }
  return std::nullopt;
}

Task<FaultyHosts::Code> FaultyHosts::Follow(Session session, std::string id, std::size_t sent) {
  if (Find(session.machine, id) != nullptr) JM_CO_TRY(Say(session.err, "jobman: running\n"));
  while (true) {
    Settle();
    if (!Reachable(session) || (!faultless_ && odds_.Occurs(random_, Risk::kHost, 1, 500))) {
      Duration silence{random_.Below(faultless_ ? 1'000 : 30'000)};
      co_await base::Sleep(silence);
      co_return TimedOut();
    }
    const ModelRun* const run = Find(session.machine, id);
    const std::string status = run == nullptr ? "absent" : run->status();
    if (run != nullptr && run->log.size() > sent) {
      const auto room = static_cast<int>(run->log.size() - sent);
      const auto size = std::size_t{1} + static_cast<std::size_t>(random_.Below(room));
      const std::string chunk = run->log.substr(sent, size);
      sent += size;
      JM_CO_TRY(Say(session.out, chunk));
      co_await base::Yield();
    } else if (status != "running") {
      JM_CO_TRY(Say(session.err, "jobman: " + status + "\n"));
      co_return 0;
    } else {
      Duration nap{500 + random_.Below(2'500)};
      co_await base::Sleep(nap);
    }
  }
}

Task<FaultyHosts::Code> FaultyHosts::Stop(Session session, Words words) {
  const Duration grace = Seconds(words[2]);
  ModelRun* run = Find(session.machine, words[1]);
  if (run == nullptr) {
    runs_[session.machine][words[1]] = {.id = words[1],
                                        .of = core::ParseRunId(words[1]).value(),
                                        .machine = session.machine,
                                        .stopped = true};
  } else {
    run->stopped = run->stopped || run->running;
    if (run->running) Terminate(*run, grace);
  }
  if (words.size() > 3) co_await EndOthers(session, words[3], grace, words[1]);
  while (true) {
    Settle();
    if (!Reachable(session)) co_return TimedOut();
    run = Find(session.machine, words[1]);
    if (run == nullptr || !run->running) break;
    Duration nap{200};
    co_await base::Sleep(nap);
  }
  if (run != nullptr) run->stop_answered = clock_.Now();
  JM_CO_TRY(Say(session.out, (run == nullptr ? "absent" : run->status()) + "\n"));
  co_return 0;
}

Task<void> FaultyHosts::EndOthers(Session session, std::string prefix, Duration grace,
                                  std::string except) {
  for (bool any = true; any && Reachable(session);) {
    any = false;
    for (auto& [id, run] : runs_[session.machine]) {
      if (!run.running || id == except || !IsEarlier(id, prefix)) continue;
      any = true;
      if (!run.stopped) Terminate(run, grace);
      run.stopped = true;
    }
    Duration nap{200};
    if (any) co_await base::Sleep(nap);
    Settle();
  }
}

FaultyHosts::Code FaultyHosts::Renew(const Session& session, const std::string& id) {
  const ModelRun* const run = Find(session.machine, id);
  const bool done = run != nullptr && run->status() == "exited 0" && run->boot == session.boot;
  if (run == nullptr || run->running || done) return 0;
  forgotten_.push_back(*run);
  runs_[session.machine].erase(id);
  return 0;
}

FaultyHosts::Code FaultyHosts::Tell(const Session& session, const Words& words) {
  ModelRun* const run = Find(session.machine, words[1]);
  if (run != nullptr && run->running && words[2] != "none" && random_.Percent(50)) {
    Terminate(*run, seconds{20});
  }
  JM_TRY(Say(session.out, (run == nullptr ? "absent" : run->status()) + "\n"));
  return 0;
}

// --- runs ---

ModelRun* FaultyHosts::Find(const std::string& machine, const std::string& id) {
  auto& runs = runs_[machine];
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

void FaultyHosts::Start(const Session& session, const std::string& id) {
  ModelRun run{.id = id,
               .of = core::ParseRunId(id).value(),
               .machine = session.machine,
               .host = HostIndex(session.input)};
  run.boot = session.boot;
  run.started = clock_.Now();
  run.running = true;
  run.lines = random_.Below(30);
  const bool fails =
      !faultless_ && odds_.Occurs(random_, Risk::kCommand, 20, IsCommand(id) ? 100 : 300);
  const int dice = fails ? random_.Below(20) : 100;
  if (dice < 8) run.code = 1;
  if (dice >= 8 && dice < 14) run.code = 75;
  run.killed = dice >= 14 && dice < 20;
  const int longest = !IsCommand(id) ? 5 : faultless_ ? 10 : 90;
  run.ends = run.started + milliseconds{200 + random_.Below(longest * 1000)};
  on_start_(run);
  runs_[session.machine][id] = run;
}

/// TERM, and KILL after the grace; the command may end by itself before.
void FaultyHosts::Terminate(ModelRun& run, Duration grace) {
  const base::TimePoint end =
      clock_.Now() + Duration{1 + random_.Below(static_cast<int>(grace.count()) + 1000)};
  if (end >= run.ends) return;
  run.ends = end;
  run.code = random_.Percent(80) ? 143 : 137;
  run.killed = false;
}

bool FaultyHosts::Reachable(const Session& session) const {
  const auto unplugged = unplugged_until_.find(session.machine);
  const bool plugged = unplugged == unplugged_until_.end() || clock_.Now() >= unplugged->second;
  return plugged && cloud_.BootOf(session.machine) == session.boot;
}

void FaultyHosts::Settle() {
  const base::TimePoint now = clock_.Now();
  for (auto& [machine, runs] : runs_) {
    for (auto& [id, run] : runs) {
      if (!run.running) continue;
      if (cloud_.BootOf(machine) != run.boot) {
        run.running = false;
        run.lost = true;
        continue;
      }
      const auto passed = std::min(now, run.ends) - run.started;
      const auto written = run.lines * passed.count() / (run.ends - run.started).count();
      run.log.clear();
      for (int line = 0; line < written; ++line) {
        run.log += fmt::format("line {} of {} on {}\n", line, id, machine);
      }
      run.running = now < run.ends;
      run.lost = !run.running && run.killed;
    }
  }
}

void FaultyHosts::EndFaults() {
  faultless_ = true;
  PlugAll();
}

std::string FaultyHosts::KillOne() {
  std::vector<std::string> up;
  for (const auto& [machine, runs] : runs_) {
    if (cloud_.BootOf(machine) > 0) up.push_back(machine);
  }
  if (up.empty()) return {};
  const auto index = static_cast<std::size_t>(random_.Below(static_cast<int>(up.size())));
  unplugged_until_[up[index]] = base::TimePoint::max();
  return up[index];
}

void FaultyHosts::UnplugOne() {
  if (runs_.empty()) return;
  auto machine = runs_.begin();
  std::advance(machine, random_.Below(static_cast<int>(runs_.size())));
  unplugged_until_[machine->first] = clock_.Now() + seconds{random_.Below(600)};
}

std::vector<const ModelRun*> FaultyHosts::RunsOf(core::JobId job) const {
  std::vector<const ModelRun*> found;
  for (const auto& [machine, runs] : runs_) {
    for (const auto& [id, run] : runs) {
      if (run.of.on.job == job) found.push_back(&run);
    }
  }
  for (const ModelRun& run : forgotten_) {
    if (run.of.on.job == job) found.push_back(&run);
  }
  return found;
}

}  // namespace jobman::test
