#pragma once

#include <memory>
#include <string>
#include <utility>

#include "jobman/client/context.hpp"
#include "jobman/core/slice_name.hpp"
#include "tests/support/fake_slice_api.hpp"

namespace jobman::test {

// Openers of fakes that the test keeps: for a client::Context, and for CliWorld.

inline base::Task<base::Result<client::CloudClient>> GiveCloud(FakeSliceApi* cloud) {
  client::CloudClient client;
  client.slices = {std::shared_ptr<void>(), cloud};
  client.catalog = {std::shared_ptr<void>(), cloud};
  client.maintenance = {std::shared_ptr<void>(), cloud};
  co_return client;
}

/// Every endpoint is that cloud.
inline client::CloudOpener Lend(FakeSliceApi& cloud) {
  return [&cloud](const base::StatePaths&, const core::CloudSpec&) { return GiveCloud(&cloud); };
}

class LentShell final : public ports::HostShell {
 public:
  explicit LentShell(ports::HostShell& inner) : inner_(inner) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    return inner_.Run(std::move(target), std::move(command), std::move(out), std::move(err));
  }
  void Drop(const ports::HostTarget& target) override { inner_.Drop(target); }

 private:
  ports::HostShell& inner_;
};

/// Every host answers through that shell.
inline client::ShellOpener Lend(ports::HostShell& shell) {
  return [&shell](const asio::any_io_executor&, ports::HostKeyStore&) {
    return std::unique_ptr<ports::HostShell>(std::make_unique<LentShell>(shell));
  };
}

/// Gives the job a slice with so many hosts: "h0", "h1", ... in no place of any cloud.
inline core::Job WithHosts(core::Job job, int count) {
  core::Slice slice;
  slice.ref = core::SliceFor(job, job.attempt);
  slice.phase = core::SlicePhase::kCreated;
  slice.nodes = {{.uid = "7001", .hosts = count}};
  for (int host = 0; host < count; ++host) {
    slice.hosts.push_back({.internal = "h" + std::to_string(host)});
  }
  job.slice = std::move(slice);
  return job;
}

}  // namespace jobman::test
