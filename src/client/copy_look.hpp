#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jobman/client/input_feed.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// What a host answers to `look`, line by line: "at 4096", "is SHA256"; dots, and what its login
/// shell may print, are left aside. The first of each counts, and is passed on to `input` at once.
class LookAnswer {
 public:
  explicit LookAnswer(std::shared_ptr<ResumingInput> input) : input_(std::move(input)) {}
  base::Status Hear(std::string_view bytes);
  bool complete() const { return at_ && (*at_ == 0 || hashed_); }

 private:
  void Read(const std::string& line);

  std::shared_ptr<ResumingInput> input_;
  std::string line_ = {};
  std::optional<std::int64_t> at_ = {};
  bool hashed_ = false;
};

/// Asks each host first how much it has of a copy, with the command that `look` gives for it, and
/// then gives the command that the host is called with the rest: its pace is a ResumingInput. A
/// host that does not answer costs the others nothing. `shell` must outlive it.
class LookFirst final : public ports::HostShell {
 public:
  using LookOn = std::function<std::string(const ports::HostTarget&)>;
  LookFirst(ports::HostShell* shell, LookOn look) : shell_(shell), look_(std::move(look)) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget& target) override { shell_->Drop(target); }

 private:
  ports::HostShell* shell_;
  LookOn look_;
};

}  // namespace jobman::client
