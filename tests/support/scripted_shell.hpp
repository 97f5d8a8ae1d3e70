#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "jobman/base/strings.hpp"
#include "jobman/controller/script_listener.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"
#include "tests/support/fake_clock.hpp"

namespace jobman::test {

/// Hosts that answer calls of the host script from lists. A call without an answer left is still
/// under way.
class ScriptedShell final : public ports::HostShell {
 public:
  struct Answer {
    base::Result<int> code = 0;
    std::string out = {};
    std::string err = {};
    std::string first = {};  ///< on stderr, before the call takes its time
    std::string noise = {};  ///< of the login shell on stdout, before the log of a run
    /// After `out` and `err` the host hangs: the clock moves to the call's limit, and the call
    /// fails then. Without a limit it never ends.
    bool hangs = false;
    /// ... or prints such lines on stdout, one a second, until a sink or the limit ends the call.
    std::string trickles = {};
  };
  explicit ScriptedShell(FakeClock& clock) : clock_(clock) {}

  /// Adds an answer to "install", "run", "follow", "stop", "renew", "notice", "have" or
  /// "put", for any host.
  void Add(const std::string& verb, Answer answer) { answers_[verb].push_back(std::move(answer)); }

  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    const std::optional<base::Duration> limit = command.limit ? command.limit : command.silence;
    const std::optional<base::Duration> command_limit = command.limit;
    while (command.next_input) {
      JM_CO_ASSIGN_OR_RETURN(const std::string piece, command.next_input());
      command.input += piece;
      if (piece.empty()) command.next_input = nullptr;
    }
    const auto may_begin = std::move(command.may_begin);
    const bool says_log = command.command.starts_with(controller::kSayLogBegins);
    const Answer answer = Next(std::move(command));
    if (may_begin && Connects(answer)) JM_CO_TRY(co_await may_begin());
    if (out && says_log && answer.trickles.empty())
      JM_CO_TRY(out(answer.noise + std::string(controller::kLogBegins)));
    if (err && !answer.first.empty()) JM_CO_TRY(err(answer.first));
    clock_.Advance(takes);
    while (answer.code.ok() && *answer.code == kSilent) co_await base::Sleep(std::chrono::hours{1});
    if (out && !answer.out.empty()) JM_CO_TRY(out(answer.out));
    if (err && !answer.err.empty()) JM_CO_TRY(err(answer.err));
    co_await base::Yield();
    constexpr int kMostLines = 1000;
    const auto began = clock_.Now();
    for (int i = 0; i < kMostLines && !answer.trickles.empty(); ++i) {
      clock_.Advance(std::chrono::seconds{1});
      if (command_limit && clock_.Now() - began > *command_limit) co_return NoAnswer();
      if (out) JM_CO_TRY(out(answer.trickles + "\n"));
    }
    while (!answer.trickles.empty()) co_await base::Sleep(std::chrono::hours{1});
    if (!answer.hangs) co_return answer.code;
    while (!limit) co_await base::Sleep(std::chrono::hours{1});
    clock_.Advance(*limit);
    co_return NoAnswer();
  }
  static base::Error NoAnswer() {
    return {.code = base::Code::kDeadlineExceeded,
            .message = "the command did not answer",
            .reason = base::Reason::kHostHangs};
  }
  void Drop(const ports::HostTarget& target) override { dropped.push_back(target.identity); }

  std::vector<std::string> verbs = {};     ///< of the calls so far
  std::vector<std::string> commands = {};  ///< their arguments: "run ID 0"
  std::vector<std::string> inputs = {};    ///< of the calls
  std::vector<std::string> dropped = {};   ///< identities
  base::Duration takes = {};               ///< how far each call moves the clock

 private:
  static constexpr int kSilent = -1;

  /// An error without a word of the host is one of the connection.
  static bool Connects(const Answer& answer) {
    const bool broke = !answer.code.ok() && answer.code.error().reason != base::Reason::kHostHangs;
    return !broke || !answer.first.empty() || !answer.out.empty() || !answer.err.empty();
  }

  Answer Next(ports::RemoteCommand command) {
    const std::string script = remote::HostScriptName();
    const auto name = command.command.find(script);
    const bool install = command.command == remote::InstallCall().command;
    commands.push_back(install ? "install" : command.command.substr(name + script.size() + 1));
    inputs.push_back(std::move(command.input));
    verbs.push_back(base::Split(commands.back(), ' ').front());
    auto& left = answers_[verbs.back()];
    if (left.empty()) return {.code = kSilent};
    Answer answer = std::move(left.front());
    left.pop_front();
    return answer;
  }

  FakeClock& clock_;
  std::map<std::string, std::deque<Answer>> answers_ = {};
};

}  // namespace jobman::test
