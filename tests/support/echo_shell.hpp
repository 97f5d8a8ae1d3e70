#pragma once

#include <optional>
#include <string>

#include "jobman/base/strings.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::test {

/// Hosts that know a few commands, at the pace of who asked: "cat"; "both", which writes to stdout
/// and stderr; "exit N"; "write N", which writes N bytes; "hang". On the loop.
class EchoShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    ++logins;
    last = target;
    if (refuses) co_return *refuses;
    while (!answers) co_await base::Sleep(kTurn);
    if (command.may_begin) JM_CO_TRY(co_await command.may_begin());
    ++begun;
    const Running running(this);
    const auto words = base::Split(command.command, ' ');
    if (words[0] == "cat") co_return co_await Cat(command, out);
    if (words[0] == "exit") co_return static_cast<int>(*base::ParseNumber(words[1]));
    if (words[0] == "write") co_return co_await Write(command, *base::ParseNumber(words[1]), out);
    if (words[0] == "both") {
      JM_CO_TRY(out("to out\n"));
      JM_CO_TRY(err("to err\n"));
      co_return 0;
    }
    for (;;) co_await base::Sleep(kTurn);
  }
  void Drop(const ports::HostTarget& target) override { last = target; }

  /// What "write" writes at that offset.
  static char ByteAt(std::int64_t offset) { return static_cast<char>('a' + offset / 1000 % 26); }

  ports::HostTarget last = {};
  std::optional<base::Error> refuses = {};
  bool answers = true;  ///< whether hosts accept the login
  int logins = 0;
  int begun = 0;
  int runs = 0;              ///< commands under way
  std::int64_t written = 0;  ///< by "write"
  std::int64_t taken = 0;    ///< by "cat"
  bool reads = true;         ///< whether "cat" takes its input

 private:
  static constexpr base::Duration kTurn = std::chrono::milliseconds{1};
  static constexpr std::int64_t kPiece = 50'000;
  struct Running {
    explicit Running(EchoShell* of) : shell(of) { ++shell->runs; }
    ~Running() { --shell->runs; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    EchoShell* shell;
  };

  static base::Task<base::Status> MayWrite(ports::RemoteCommand command) {
    while (command.pace) {
      JM_CO_ASSIGN_OR_RETURN(const bool may_read, command.pace->MayRead());
      if (may_read) break;
      co_await base::Sleep(kTurn);
    }
    co_return base::Ok();
  }
  base::Task<base::Result<int>> Cat(ports::RemoteCommand command, ports::ByteSink out) {
    for (;;) {
      std::optional<std::string> piece = std::exchange(command.input, {});
      if (piece->empty() && command.pace) {
        JM_CO_ASSIGN_OR_RETURN(piece, command.pace->NextInput());
      }
      if (piece && piece->empty()) co_return 0;
      if (piece) {
        taken += std::ssize(*piece);
        JM_CO_TRY(co_await MayWrite(command));
        JM_CO_TRY(out(*piece));
      }
      do {
        co_await base::Sleep(kTurn);
      } while (!reads);
    }
  }
  base::Task<base::Result<int>> Write(ports::RemoteCommand command, std::int64_t size,
                                      ports::ByteSink out) {
    while (written < size) {
      JM_CO_TRY(co_await MayWrite(command));
      std::string piece;
      for (std::int64_t end = std::min(size, written + kPiece); written < end; ++written)
        piece.push_back(ByteAt(written));
      JM_CO_TRY(out(piece));
      co_await base::Yield();
    }
    co_return 0;
  }
};

}  // namespace jobman::test
