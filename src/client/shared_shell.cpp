#include "jobman/client/shared_shell.hpp"

#include "client/shared_call.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/controller/local_socket.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Status;
using base::Task;

/// Many commands connect at once, and the kernel holds a limited number for the controller.
constexpr base::Duration kConnectAgain = std::chrono::milliseconds{10};

/// What the controller cannot do and we may: with another agent, another passphrase, with
/// descriptors that are free. Or it is about to end.
bool WorthATryOfOurs(const base::Error& error) {
  return error.reason == base::Reason::kHostAuth || error.reason == base::Reason::kKeyUnreadable ||
         error.reason == base::Reason::kAgentSilent || error.code == base::Code::kAborted ||
         error.code == base::Code::kCancelled || error.code == base::Code::kResourceExhausted;
}

}  // namespace

struct SharedShell::Link {
  enum class Answer { kUnknown, kAsked, kYes, kNo };

  asio::any_io_executor executor;
  base::Path socket;
  std::shared_ptr<ports::HostShell> own;  ///< none: the shell is gone
  SharedShellTimes times;
  Answer answer = Answer::kUnknown;
  base::Waiters answered = {};
  pid_t controller = 0;  ///< the process that answered last
};

namespace {

using Link = SharedShell::Link;
using CallPtr = std::unique_ptr<SharedCall>;

Task<Result<int>> RunOnOwn(std::shared_ptr<Link> link, ports::SharedTarget target,
                           ports::RemoteCommand command, ports::ByteSink out, ports::ByteSink err) {
  if (!link->own) co_return base::Error{.code = base::Code::kCancelled, .message = "shell closed"};
  co_return co_await link->own->Run(std::move(target), std::move(command), std::move(out),
                                    std::move(err));
}

/// The first request is confirmed; of others the next word is about the host.
Task<Result<CallPtr>> AskController(std::shared_ptr<Link> link, ports::SharedTarget target,
                                    ports::RemoteCommand command, bool first) {
  auto socket = controller::ConnectTo(link->socket);
  while (!socket.ok() && socket.error().code == base::Code::kResourceExhausted) {
    co_await base::Sleep(kConnectAgain);
    socket = controller::ConnectTo(link->socket);
  }
  if (!socket.ok()) co_return std::move(socket).error();
  JM_CO_ASSIGN_OR_RETURN(link->controller, controller::PeerOfSameUser(socket->get()));
  auto call = std::make_unique<SharedCall>(link->executor, std::move(*socket), std::move(target),
                                           std::move(command));
  JM_CO_TRY(co_await call->Ask(first));
  co_return std::move(call);
}

/// The first one's answer decides for all: a controller that hangs costs the others no time.
class FirstAnswer {
 public:
  explicit FirstAnswer(std::shared_ptr<Link> link) : link_(std::move(link)) {
    first_ = link_->answer == Link::Answer::kUnknown;
    if (first_) link_->answer = Link::Answer::kAsked;
  }
  ~FirstAnswer() {
    if (first_) Set(Link::Answer::kUnknown);  // it was cancelled
  }
  FirstAnswer(const FirstAnswer&) = delete;
  FirstAnswer& operator=(const FirstAnswer&) = delete;

  bool is_first() const { return first_; }
  base::Duration limit() const { return first_ ? link_->times.first_answer : link_->times.answer; }
  void Set(Link::Answer answer) {
    if (!std::exchange(first_, false)) return;
    link_->answer = answer;
    link_->answered.WakeAll();
  }

 private:
  std::shared_ptr<Link> link_;
  bool first_ = false;
};

/// A command that the controller has taken, or, after the first one, was asked to run. An error if
/// it cannot be: then nothing has run.
Task<Result<CallPtr>> OpenCall(std::shared_ptr<Link> link, ports::SharedTarget target,
                               ports::RemoteCommand command) {
  while (link->answer == Link::Answer::kAsked) co_await link->answered.Wait();
  if (link->answer == Link::Answer::kNo)
    co_return base::Error{.code = base::Code::kUnavailable, .message = "it did not answer before"};
  FirstAnswer first(link);
  auto asked = AskController(link, std::move(target), std::move(command), first.is_first());
  auto call = co_await base::WithTimeout(std::move(asked), first.limit(), "the controller");
  first.Set(call.ok() ? Link::Answer::kYes : Link::Answer::kNo);
  co_return std::move(call);
}

void SayOwn(const std::string& address, const std::string& why) {
  base::Log(base::LogLevel::kDebug, "ssh", "{} is not reached by the controller: {}", address, why);
}

Task<Result<int>> RunShared(std::shared_ptr<Link> link, ports::SharedTarget target,
                            ports::RemoteCommand command, ports::ByteSink out,
                            ports::ByteSink err) {
  const std::string where = target->address;
  auto call = co_await OpenCall(link, target, command);
  if (!call.ok()) {
    SayOwn(where, call.error().ToString());
    co_return co_await RunOnOwn(link, target, command, out, err);
  }
  const auto login = co_await (*call)->AwaitLogin(link->times.look);
  if (login && login->ok()) {
    base::Log(base::LogLevel::kDebug, "ssh",
              "connected to {}:{} through the controller, process {}", where, target->port,
              link->controller);
    command = ports::RemoteCommand();  // its input is in memory once
    co_return co_await (*call)->Finish(std::move(out), std::move(err));
  }
  if (login && !WorthATryOfOurs(login->error())) co_return login->error();
  SayOwn(where, login ? login->error().ToString() : "it has ended or hangs");
  call->reset();
  co_return co_await RunOnOwn(link, target, command, out, err);
}

}  // namespace

SharedShell::SharedShell(asio::any_io_executor executor, base::Path socket,
                         std::unique_ptr<ports::HostShell> own, SharedShellTimes times)
    : link_(std::make_shared<Link>(Link{.executor = std::move(executor),
                                        .socket = std::move(socket),
                                        .own = std::move(own),
                                        .times = times})) {}

SharedShell::~SharedShell() {
  link_->own.reset();
}

Task<Result<int>> SharedShell::Run(ports::SharedTarget target, ports::RemoteCommand command,
                                   ports::ByteSink out, ports::ByteSink err) {
  return RunShared(link_, std::move(target), std::move(command), std::move(out), std::move(err));
}

Task<Status> SharedShell::Relay(ports::SharedTarget target, int port,
                                std::shared_ptr<base::UniqueFd> local) {
  return link_->own->Relay(std::move(target), port, std::move(local));
}

void SharedShell::Drop(const ports::HostTarget& target) {
  link_->own->Drop(target);
}

ShellOpener ThroughController(ShellOpener own, const base::StatePaths& paths) {
  if (!own) return own;
  return [own = std::move(own), socket = paths.ShellSocket()](
             asio::any_io_executor executor,
             ports::HostKeyStore& host_keys) -> std::unique_ptr<ports::HostShell> {
    auto shell = own(executor, host_keys);
    return std::make_unique<SharedShell>(std::move(executor), socket, std::move(shell));
  };
}

}  // namespace jobman::client
