#include "jobman/client/vouching.hpp"

#include <fmt/format.h>

#include "jobman/base/hash.hpp"
#include "jobman/client/local_cloud.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/core/ssh_way.hpp"

namespace jobman::client {
namespace {

using base::Task;

/// Guest attributes appear some seconds after READY.
constexpr int kTries = 5;

/// A simulator that is not running has no hosts, and a request would start it.
base::Status CheckCloudRuns(const base::StatePaths& paths, const core::CloudSpec& cloud) {
  if (cloud.endpoint != kLocal) return base::Ok();
  const auto local = FindLocalCloud(paths);
  if (local.ok()) return base::Ok();
  return local.error();
}

}  // namespace

Task<Vouching::Node> Vouching::Ask(core::Job job, core::HostPosition position) {
  Node node;
  const auto runs = CheckCloudRuns(context_.paths, job.spec.cloud);
  if (!runs.ok()) {
    node.why = runs.error().message;
    co_return node;
  }
  const auto cloud = co_await context_.open_cloud(context_.paths, job.spec.cloud);
  if (!cloud.ok()) {
    node.why = cloud.error().message;
    co_return node;
  }
  const auto slices = cloud->slices;  // outlives the waits
  for (int tries = 1;; ++tries) {
    const auto answer = co_await slices->GetHostKeys(job.slice->ref.place, position.node_id);
    node.answered = answer.ok() || !controller::SaysNothingOfKeys(answer.error());
    if (answer.ok()) {
      node.why = "the node reported none";
      for (const core::HostKeys& one : *answer) {
        if (!one.keys.empty()) node.keys[one.host] = one.keys;
      }
    } else {
      node.why = (node.answered ? "the cloud refused to tell it: " : "") + answer.error().message;
    }
    const bool done = !answer.ok() || node.keys.contains(position.host) || tries == kTries;
    if (done) co_return node;
    co_await base::Sleep(controller::kBetweenHostKeyTries);
  }
}

Task<std::string> Vouching::NameOf(core::Job job, core::HostPosition position) {
  if (!names_.contains(position.node_uid) && CheckCloudRuns(context_.paths, job.spec.cloud).ok()) {
    const auto cloud = co_await context_.open_cloud(context_.paths, job.spec.cloud);
    if (!cloud.ok()) co_return "";
    const auto slices = cloud->slices;  // outlives the wait
    auto names = co_await slices->GetVmNames(job.slice->ref.place, position.node_id);
    if (names.ok()) names_[position.node_uid] = std::move(*names);
  }
  const auto found = names_[position.node_uid].find(position.host);
  co_return found == names_[position.node_uid].end() ? "" : found->second;
}

Task<ports::HostTarget> Vouching::Complete(core::Job job, int host, ports::HostTarget target) {
  const core::HostPosition position = core::PositionOf(*job.slice, host);
  if (core::NamesVm(target.proxy_command)) target.vm_name = co_await NameOf(job, position);
  const auto pinned = co_await context_.stores.host_keys->PinnedKey(target.identity);
  if (pinned.ok() && *pinned) co_return target;
  if (!nodes_.contains(position.node_uid)) {
    Node asked = co_await Ask(job, position);
    nodes_[position.node_uid] = std::move(asked);
  }
  const Node& node = nodes_[position.node_uid];
  const auto keys = node.keys.find(position.host);
  if (keys != node.keys.end()) {
    target.vouched_keys = keys->second;
    co_return target;
  }
  target.first_sight = node.answered;
  target.unvouched = node.why;
  unknown_[host] = {.identity = target.identity, .why = node.why};
  co_return target;
}

Task<std::vector<std::string>> Vouching::FirstUses() {
  std::vector<std::string> lines;
  for (const auto& [host, one] : unknown_) {
    const auto key = co_await context_.stores.host_keys->PinnedKey(one.identity);
    if (!key.ok() || !*key) continue;
    lines.push_back(fmt::format("host {}: pinned key {} on first use, as {}", host,
                                base::KeyFingerprint(**key), one.why));
  }
  unknown_.clear();
  co_return lines;
}

void Vouching::CompleteAll(const core::Job& job, std::vector<ssh::FanOutHost>& hosts) {
  std::vector<std::string> machines;
  for (const ssh::FanOutHost& host : hosts) machines.push_back(host.target.identity);
  const auto pinned = context_.Await(context_.stores.host_keys->PinnedKeys(std::move(machines)));
  for (ssh::FanOutHost& host : hosts) {
    const bool known = pinned.ok() && pinned->contains(host.target.identity);
    if (known && !core::NamesVm(host.target.proxy_command)) continue;  // it is complete
    host.target = context_.Await(Complete(job, host.host, host.target));
  }
}

}  // namespace jobman::client
