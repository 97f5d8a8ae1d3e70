#include "ssh/agent_forwarding.hpp"

#include <array>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <span>
#include <system_error>

#include "jobman/base/log.hpp"
#include "ssh/agent.hpp"
#include "ssh/channel_bytes.hpp"

namespace jobman::ssh {
namespace {

using Socket = asio::local::stream_protocol::socket;

constexpr int kMostAgentChannels = 16;  // on one session, so that a host cannot use up our files
/// Neither end has said anything for so long; an agent may have to ask its user.
constexpr base::Duration kLongestAgentSilence = std::chrono::minutes{5};
constexpr base::Duration kAgentBusyPause{50};
// In each direction; libssh has a window beside it.
constexpr std::size_t kAgentBlock = std::size_t{16} * 1024;

/// A channel that the server has opened, and its connection to the agent.
struct AgentChannel {
  AgentChannel(std::shared_ptr<Session> on, ssh_channel opened, Socket to)
      : session(std::move(on)), channel(opened), agent(std::move(to)) {
    ++session->agent_channels;
  }
  ~AgentChannel() {
    --session->agent_channels;
    ssh_channel_free(channel);
    session->After();
  }
  AgentChannel(const AgentChannel&) = delete;
  AgentChannel& operator=(const AgentChannel&) = delete;

  void Heard() { heard = std::chrono::steady_clock::now(); }

  std::shared_ptr<Session> session;
  ssh_channel channel;
  Socket agent;
  Deadline heard = std::chrono::steady_clock::now();
  std::array<char, kAgentBlock> to_agent = {};
  std::array<char, kAgentBlock> to_host = {};
};
using AgentChannelPtr = std::shared_ptr<AgentChannel>;

Task<void> MoveToAgent(AgentChannelPtr one) {
  while (true) {
    const std::size_t count = co_await ReceiveSome(one->session, one->channel, one->to_agent);
    if (count == 0) co_return;
    one->Heard();
    std::error_code failed;
    co_await asio::async_write(one->agent, asio::buffer(one->to_agent.data(), count),
                               asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return;
  }
}

Task<void> MoveToHost(AgentChannelPtr one) {
  while (true) {
    std::error_code failed;
    const auto room = asio::buffer(one->to_host);
    const std::size_t count = co_await one->agent.async_read_some(
        room, asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return;
    one->Heard();
    const std::span<const char> block(one->to_host.data(), count);
    const bool sent = co_await SendAll(one->session, one->channel, block);
    if (!sent) co_return;
  }
}

Task<void> AwaitSilence(AgentChannelPtr one) {
  while (true) {
    const auto left = one->heard + kLongestAgentSilence - std::chrono::steady_clock::now();
    if (left <= left.zero()) break;
    co_await base::Sleep(std::chrono::ceil<base::Duration>(left));
  }
  base::Log(base::LogLevel::kWarn, "ssh", "{}: closed a channel to the ssh-agent, silent for {}",
            one->session->endpoint(), base::FormatDuration(kLongestAgentSilence));
}

/// False if nobody listens there any more.
Task<bool> ConnectAgent(AgentChannelPtr one, std::string path) {
  while (!IsClosed(*one->session, one->channel)) {
    base::UniqueFd connected = ConnectToSocket(path);
    std::error_code failed = {errno, std::generic_category()};
    if (connected) {
      one->agent.assign(asio::local::stream_protocol(), connected.get(), failed);
      if (!failed) connected.Release();
      co_return !failed;
    }
    if (failed != std::errc::resource_unavailable_try_again) co_return false;
    co_await base::Sleep(kAgentBusyPause);  // many hosts ask at once
  }
  co_return false;
}

/// Either end's close is the end of both: no client of an agent shuts down one direction alone.
Task<void> Relay(AgentChannelPtr one, std::string path) {
  using namespace asio::experimental::awaitable_operators;
  const bool connected = co_await ConnectAgent(one, path);
  if (connected) co_await (MoveToAgent(one) || MoveToHost(one));
}

Task<void> Serve(AgentChannelPtr one, std::string path) {
  using namespace asio::experimental::awaitable_operators;
  co_await base::Yield();  // libssh is not done with the request yet
  co_await (Relay(one, path) || AwaitSilence(one));
}

/// nullptr, a refusal, if the host has many already.
ssh_channel OpenAgentChannel(const asio::any_io_executor& executor,
                             const std::shared_ptr<Session>& session, const std::string& path) {
  if (session->agent_channels >= kMostAgentChannels) return nullptr;
  const ssh_channel channel = ssh_channel_new(session->raw());
  if (channel == nullptr) return nullptr;
  const auto one = std::make_shared<AgentChannel>(session, channel, Socket(executor));
  base::Spawn(executor, Serve(one, path));
  return channel;
}

}  // namespace

void ForwardAgent(asio::any_io_executor executor, const std::shared_ptr<Session>& session,
                  std::string path) {
  session->OnAgentChannel([executor, weak = std::weak_ptr(session), path = std::move(path)] {
    const auto self = weak.lock();
    return self ? OpenAgentChannel(executor, self, path) : nullptr;
  });
}

}  // namespace jobman::ssh
