#include "cli/adapters.hpp"

#include <gtest/gtest.h>

#include "jobman/controller/shell_server.hpp"

namespace jobman::cli {
namespace {

/// Up to three descriptors for each host, and some for the store, the cloud and logins.
TEST(LastingShell, LeavesDescriptorsForAllElseThatAControllerDoes) {
  for (const std::int64_t limit : {256, 1024, 4096, 20'000, 1 << 20}) {
    const std::int64_t streams = controller::ShellServer::MostStreams(limit);
    const std::int64_t hosts = LastingOptions(limit).most_connections;
    EXPECT_GT(hosts, limit / 5) << limit;
    EXPECT_LE(3 * hosts + streams + 64, limit) << limit;
  }
}

TEST(LastingShell, ReachesOneHostWhateverTheLimit) {
  EXPECT_EQ(LastingOptions(8).most_connections, 1);
}

}  // namespace
}  // namespace jobman::cli
