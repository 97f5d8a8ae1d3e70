#include "ssh/channel.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace jobman::ssh {
namespace {

/// Signal names of RFC 4254, section 6.10.
int SignalNumber(std::string_view name) {
  constexpr std::pair<std::string_view, int> kSignals[] = {
      {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"FPE", SIGFPE},   {"HUP", SIGHUP},
      {"ILL", SIGILL},   {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE},
      {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV}, {"TERM", SIGTERM}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"BUS", SIGBUS},   {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}};
  for (const auto& [known, number] : kSignals)
    if (name.starts_with(known)) return number;
  return SIGKILL;
}

void OnExitStatus(ssh_session, ssh_channel, int status, void* data) noexcept {
  *static_cast<std::optional<int>*>(data) = status;
}

void OnExitSignal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*,
                  void* data) noexcept {
  *static_cast<std::optional<int>*>(data) = 128 + SignalNumber(signal != nullptr ? signal : "");
}

/// Empty at the end of the input; nothing if it has not arrived yet.
base::Result<std::optional<std::string>> NextPiece(ports::RemoteCommand& command) {
  if (command.pace) return command.pace->NextInput();
  if (!command.next_input) return std::optional<std::string>(std::string());
  JM_ASSIGN_OR_RETURN(std::string piece, command.next_input());
  return std::optional<std::string>(std::move(piece));
}

constexpr std::uint32_t kChunk = 64 * 1024;
/// libssh keeps the largest buffers that a session ever needed: two copies of what is sent at once.
/// So the beginning of an input, which is all of an order or of the host script, goes in small
/// pieces, each when the one before it has left.
constexpr std::uint32_t kFirstChunk = 1024 - 128;
constexpr std::size_t kGently = std::size_t{128} * 1024;
constexpr int kChunksPerTurn = 16;  // then others on the loop get their turn

}  // namespace

Channel::Channel(std::shared_ptr<Session> session)
    : session_(std::move(session)), channel_(ssh_channel_new(session_->raw())) {
  JM_CHECK(channel_ != nullptr, "libssh has no memory");
  callbacks_.userdata = &exit_code_;
  callbacks_.channel_exit_status_function = OnExitStatus;
  callbacks_.channel_exit_signal_function = OnExitSignal;
  ssh_callbacks_init(&callbacks_);
  ssh_set_channel_callbacks(channel_, &callbacks_);
}

Channel::~Channel() {
  // libssh breaks the session if an open request is answered after its channel was freed.
  if (!opened_) session_->Retire();
  if (session_->alive() && executing_ && !exit_code_) EndCommand();
  ssh_remove_channel_callbacks(channel_, &callbacks_);
  ssh_channel_free(channel_);
  session_->After();
}

void Channel::EndCommand() {
  // libssh drops a request while the one before it is unanswered. Once more: is it answered?
  if (!accepted_) accepted_ = ssh_channel_request_exec(channel_, "") == SSH_OK;
  if (accepted_) {
    ssh_channel_request_send_signal(channel_, "TERM");
  } else {
    session_->Retire();
  }
}

int Channel::Open() {
  const int code = ssh_channel_open_session(channel_);
  session_->After();
  if (code == SSH_OK) opened_ = true;
  return code;
}

void Channel::RequestAgent() {
  ssh_channel_request_auth_agent(channel_);
  session_->After();
}

int Channel::Execute(const std::string& command) {
  const int code = ssh_channel_request_exec(channel_, command.c_str());
  session_->After();
  executing_ = code != SSH_ERROR;
  accepted_ = code == SSH_OK;
  return code;
}

void Channel::Signal(const std::string& name) {
  ssh_channel_request_send_signal(channel_, name.c_str());
  session_->After();
}

base::Result<bool> Channel::Drain(bool is_stderr, const ports::ByteSink& sink, ports::Pace* pace) {
  static thread_local std::array<char, kChunk> buffer;
  bool any = false;
  for (int chunk = 0; chunk < kChunksPerTurn; ++chunk) {
    if (pace != nullptr) {
      JM_ASSIGN_OR_RETURN(const bool may_read, pace->MayRead());
      if (!may_read) break;
    }
    const int count =
        ssh_channel_read_nonblocking(channel_, buffer.data(), kChunk, is_stderr ? 1 : 0);
    if (count <= 0) break;  // nothing, EOF, or an error that the session reports
    any = true;
    if (!sink) continue;
    JM_TRY(sink(std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  }
  return any;
}

base::Result<bool> Channel::Feed(ports::RemoteCommand& command) {
  bool any = false;
  for (int chunk = 0; chunk < kChunksPerTurn && !fed_all_; ++chunk) {
    if (fed_ == command.input.size() && !refused_) {
      JM_ASSIGN_OR_RETURN(auto piece, NextPiece(command));
      if (!piece) return any;
      fed_before_ += std::exchange(fed_, 0);
      command.input = std::move(*piece);
    }
    const std::size_t left = command.input.size() - fed_;
    if (left == 0) {
      fed_all_ = true;
      static_cast<void>(std::exchange(command.input, {}));  // the command may run for weeks
      ssh_channel_send_eof(channel_);
      return true;
    }
    const bool gently = fed_before_ + fed_ < kGently;
    if (gently && session_->sending()) return any;
    const std::size_t most = gently ? kFirstChunk : kChunk;
    const std::size_t room = std::min<std::size_t>(ssh_channel_window_size(channel_), most);
    const auto size = static_cast<std::uint32_t>(std::min(room, left));
    if (size == 0) return any;
    const int sent = ssh_channel_write(channel_, command.input.data() + fed_, size);
    if (sent == 0 || sent == SSH_AGAIN) return any;
    any = true;
    // A command that does not read its input is not an error.
    if (sent < 0) refused_ = true;
    fed_ += sent < 0 ? left : static_cast<std::size_t>(sent);
  }
  return any;
}

bool Channel::AtEnd() const {
  return ssh_channel_is_eof(channel_) != 0;
}

}  // namespace jobman::ssh
