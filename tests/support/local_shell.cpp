#include "tests/support/local_shell.hpp"

#include <signal.h>

#include <filesystem>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::test {
namespace {

/// Reads the pieces of the input; what they are for is seen by who tests a real shell.
base::Status ReadInput(ports::RemoteCommand& command) {
  while (command.next_input) {
    JM_ASSIGN_OR_RETURN(const std::string piece, command.next_input());
    command.input += piece;
    if (piece.empty()) command.next_input = nullptr;
  }
  return base::Ok();
}

/// As ReadInput(), of input that arrives.
base::Task<base::Status> AwaitInput(ports::Pace* pace, std::string* input) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(const auto piece, pace->NextInput());
    if (piece && piece->empty()) co_return base::Ok();
    if (piece) *input += *piece;
    if (!piece) co_await base::Sleep(std::chrono::milliseconds{5});
  }
}

base::Task<base::Status> AwaitRoom(ports::Pace* pace) {
  while (true) {
    JM_CO_ASSIGN_OR_RETURN(const bool may, pace->MayRead());
    if (may) co_return base::Ok();
    co_await base::Sleep(std::chrono::milliseconds{5});
  }
}

}  // namespace

LocalShell::~LocalShell() {
  std::error_code none;
  for (const auto& host : std::filesystem::directory_iterator(root_, none)) {
    for (const auto& run :
         std::filesystem::directory_iterator(host.path() / ".jobman/runs", none)) {
      if (base::FileSize(run.path() / "exit")) continue;  // its pid may be reused
      const auto words = base::Split(base::ReadFile(run.path() / "pid").value_or(""), ' ');
      const auto leader = base::ParseNumber(words.empty() ? "" : words.front());
      if (leader && *leader > 1) kill(-static_cast<pid_t>(*leader), SIGKILL);
    }
  }
}

base::Task<base::Result<int>> LocalShell::Run(ports::SharedTarget target,
                                              ports::RemoteCommand command, ports::ByteSink out,
                                              ports::ByteSink err) {
  ++calls_;
  base::Error refused{.code = base::Code::kUnavailable,
                      .message = target->address + ": connection refused",
                      .reason = base::Reason::kHostRefused};
  if (unplugged_.contains(target->address)) {
    co_await base::Yield();
    co_return refused;
  }
  const std::string home = HomeOf(target->address).string();
  JM_CO_TRY(base::EnsureDir(home));
  if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
  const std::vector<std::string> argv = {
      "env", "--chdir=" + home, "HOME=" + home, "GCE_METADATA_HOST=", "/bin/sh",
      "-c",  command.command};
  JM_CO_TRY(ReadInput(command));
  if (command.pace) {
    JM_CO_TRY(co_await AwaitRoom(command.pace.get()));
    JM_CO_TRY(co_await AwaitInput(command.pace.get(), &command.input));
  }
  JM_CO_ASSIGN_OR_RETURN(const auto ended, co_await base::RunProcess(argv, command.input));
  if (lost_answers_ > 0 && kept_answers_-- <= 0) {
    --lost_answers_;
    co_return refused;
  }
  if (out) JM_CO_TRY(out(ended.out));
  if (err && !ended.err.empty()) JM_CO_TRY(err(ended.err));
  co_return ended.exit_code;
}

}  // namespace jobman::test
