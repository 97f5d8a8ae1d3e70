#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "jobman/client/copy.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {

/// Copies between a folder here and hosts that are folders, too.
class CopyTest : public test::ClientWorld {
 protected:
  CopyTest() { ::signal(SIGPIPE, SIG_IGN); }  // as the program does
  std::vector<ssh::FanOutHost> Hosts(int count, const std::string& which = "all") {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    auto hosts = ChooseHosts(Context().paths, test::WithHosts(std::move(job), count), which);
    EXPECT_TRUE(hosts.ok());
    return std::move(*hosts);
  }
  void Write(const base::Path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(path, text, 0640).ok());
  }
  static std::string Read(const base::Path& path) {
    return base::ReadFile(path).value_or("(none)");
  }
  static std::vector<std::string> NamesIn(const base::Path& folder) {
    std::vector<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(folder))
      names.push_back(one.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Here(const std::string& name = {}) { return (home_.path() / "here" / name).string(); }
  test::LocalShell hosts_{home_.path() / "hosts"};
};

}  // namespace jobman::client
