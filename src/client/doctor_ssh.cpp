// What `doctor` finds of SSH: the key, the agent, and whether a host can be reached.
#include <fmt/format.h>

#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <filesystem>

#include "client/doctor_parts.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/times.hpp"
#include "jobman/client/vouching.hpp"
#include "jobman/core/ssh_way.hpp"
#include "jobman/ssh/keys.hpp"
#include "jobman/ssh/try_proxy.hpp"

namespace jobman::client {
namespace {

constexpr const char* kAgentVariable = "SSH_AUTH_SOCK";
constexpr const char* kWayCure =
    "see to the way to the hosts: ssh.proxy_jump, ssh.proxy_command, ssh.address";

/// "ssh-ed25519" of the line of a public key.
std::string TypeOfKey(const base::Path& key) {
  const auto line = ssh::PublicKeyLine(key);
  return line.ok() ? base::Split(*line, ' ').front() : "its public half is not known";
}

Finding JudgeKey(const std::string& name, const base::Path& key) {
  std::error_code ignored;
  if (!std::filesystem::exists(key, ignored))
    return IsFine(name, key.string() + " will be made when it is needed");
  bool encrypted = false;
  const ssh::PassphraseSource from_environment = ssh::EnvironmentPassphrase();
  const auto passphrase = [&](const base::Path& path) {
    encrypted = true;
    return from_environment(path);
  };
  const base::Status usable = ssh::CheckUsable(key, passphrase);
  if (!usable.ok()) return HasFailed(name, usable.error());
  const std::string found = key.string() + ", " + TypeOfKey(key);
  return IsFine(name, encrypted ? found + ", with a passphrase" : found);
}

/// The number of keys that the agent offers. Source: draft-ietf-sshm-ssh-agent, "Requesting a list
/// of keys": request 11, answer 12 with a count.
constexpr std::array<unsigned char, 5> kListKeys = {0, 0, 0, 1, 11};
constexpr unsigned char kKeysAnswer = 12;

base::Task<base::Result<std::int64_t>> CountAgentKeys(std::string path) {
  if (!base::SocketPathFits(path)) co_return base::InvalidArgument(path + " is too long");
  const auto executor = co_await asio::this_coro::executor;
  asio::local::stream_protocol::socket agent(executor);
  std::error_code failed;
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  const asio::local::stream_protocol::endpoint at(path);
  std::array<unsigned char, 9> answer = {};
  co_await agent.async_connect(at, token);
  co_await base::EndIfCancelled();
  if (!failed) co_await asio::async_write(agent, asio::buffer(kListKeys), token);
  co_await base::EndIfCancelled();
  if (!failed) co_await asio::async_read(agent, asio::buffer(answer), token);
  co_await base::EndIfCancelled();
  if (failed) co_return base::FromErrno(failed.value(), "asking the agent at " + path);
  if (answer[4] != kKeysAnswer) {
    base::Error refused{.code = base::Code::kUnavailable,
                        .message = "the agent at " + path + " does not list its keys"};
    co_return refused;
  }
  std::int64_t count = 0;  // big-endian
  for (std::size_t i = 5; i < answer.size(); ++i) count = count * 256 + answer[i];
  co_return count;
}

base::Task<base::Status> ReachPort(std::string address, int port) {
  const auto executor = co_await asio::this_coro::executor;
  std::error_code failed;
  const auto ip = asio::ip::make_address(address, failed);
  if (failed) co_return base::InvalidArgument(address + " is no IP address");
  asio::ip::tcp::socket socket(executor);
  auto token = asio::redirect_error(asio::use_awaitable, failed);
  const asio::ip::tcp::endpoint at(ip, static_cast<std::uint16_t>(port));
  co_await socket.async_connect(at, token);
  co_await base::EndIfCancelled();
  if (!failed) co_return base::Ok();
  base::Error error = base::FromErrno(failed.value(), "connecting");
  error.code = base::Code::kUnavailable;
  error.reason = base::Reason::kHostRefused;
  co_return error;
}

/// The newest job whose slice has hosts.
base::Task<std::optional<core::Job>> HeldJob(ports::JobStore* jobs) {
  const ports::JobFilter all;
  const auto rows = co_await jobs->List(all);
  if (!rows.ok()) co_return std::nullopt;
  std::optional<core::JobId> newest;
  for (const ports::JobSummary& row : *rows) {
    if (!row.host0.empty() && (!newest || *newest < row.id)) newest = row.id;
  }
  if (!newest) co_return std::nullopt;
  auto job = co_await jobs->Get(*newest);
  const bool held = job.ok() && job->slice && core::IsHeld(*job->slice);
  if (held) co_return std::move(job).value();
  co_return std::nullopt;
}

std::string FirewallCure(const core::Job& job, int port) {
  const core::TpuSpec& tpu = job.spec.tpu;
  if (!tpu.external_ips)
    return "the slice has internal addresses only: run jobman where its network can be reached, or "
           "name the way there: ssh.proxy_jump, ssh.proxy_command";
  const std::string network = tpu.network.empty() ? "default" : tpu.network;
  return fmt::format(
      "usually a firewall: of the network (gcloud compute firewall-rules create allow-ssh "
      "--network={} --allow=tcp:{} --project={}), or one near this machine that stops port {}",
      network, port, tpu.project, port);
}

base::Task<base::Result<std::string>> NameOfVm(Context context, core::Job job) {
  Vouching vouching(context);
  const core::HostPosition first = core::PositionOf(*job.slice, 0);
  co_return co_await vouching.NameOf(job, first);
}

/// Whether the way to host 0 leads to an SSH server. The cloud and the proxy have kCheckLimit each.
base::Task<base::Status> FollowProxy(Context context, core::Job job, ports::HostTarget target) {
  if (core::NamesVm(target.proxy_command)) {
    auto asked = NameOfVm(context, job);
    std::string what = "asking the cloud for the name of its VM";
    JM_CO_ASSIGN_OR_RETURN(
        target.vm_name, co_await base::WithTimeout(std::move(asked), kCheckLimit, std::move(what)));
  }
  co_return co_await ssh::TryProxy(target, kCheckLimit);
}

}  // namespace

base::Task<Finding> CheckKey(CheckupPtr checkup, std::string name) {
  co_return JudgeKey(name, checkup->about.spec.ssh.private_key);
}

base::Task<Finding> CheckAgent(CheckupPtr checkup, std::string name) {
  const auto path = base::GetEnv(kAgentVariable);
  if (!path) co_return IsSkipped(name, std::string(kAgentVariable) + " names none");
  auto asked = CountAgentKeys(*path);
  std::string what = "the agent at " + *path;
  const auto count = co_await base::WithTimeout(std::move(asked), kAgentAnswer, std::move(what));
  if (count.ok()) co_return IsFine(name, "it answers, with " + base::Plural(*count, "key"));
  const std::string cure = std::string("start it again, or: unset ") + kAgentVariable;
  if (!checkup->about.spec.ssh.agent_forwarding)
    co_return IsOdd(name, count.error().ToString(), cure);
  base::Error silent = count.error();
  silent.reason = base::Reason::kAgentSilent;
  co_return HasFailed(name, std::move(silent), cure + ", and ssh.agent_forwarding: false");
}

base::Task<Finding> CheckHost(CheckupPtr checkup, std::string name) {
  const Context& context = checkup->context;
  if (context.stores.jobs == nullptr) co_return IsSkipped(name, "the store does not open");
  const auto job = co_await HeldJob(context.stores.jobs);
  if (!job) co_return IsSkipped(name, "no job holds a slice");
  const auto target = TargetOf(context.paths, *job, 0);
  if (!target.ok()) co_return HasFailed(name, target.error(), kWayCure);
  const std::string what =
      fmt::format("{}:{}, host 0 of job {}", target->address, target->port, job->name);
  if (ports::HasProxy(*target)) {
    auto led = co_await FollowProxy(context, *job, *target);
    if (led.ok()) co_return IsFine(name, what + ", can be reached through its proxy");
    base::Error lost = std::move(led).error().With(what);
    co_return HasFailed(name, std::move(lost), kWayCure);
  }
  auto tried = ReachPort(target->address, target->port);
  std::string named = what;
  const auto reached = co_await base::WithTimeout(std::move(tried), kCheckLimit, std::move(named));
  if (reached.ok()) co_return IsFine(name, what + ", can be reached");
  base::Error error = reached.error();
  const bool silent = error.code == base::Code::kDeadlineExceeded;
  if (silent) error.reason = base::Reason::kHostTimeout;
  if (!silent) error = std::move(error).With(what);
  co_return HasFailed(name, std::move(error), FirewallCure(*job, target->port));
}

}  // namespace jobman::client
