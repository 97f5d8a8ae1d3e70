#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {

/// A host whose setup step lets the hosts of the job log in to each other.
class HostToHostTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    spec_.ssh.host_to_host = true;
    std::filesystem::create_directories(host.home() / ".ssh");
  }
  std::string MakeKey(const std::string& name) {
    const base::Path file = host.home() / name;
    EXPECT_EQ(std::system(("ssh-keygen -q -t ed25519 -N '' -C x -f " + file.string()).c_str()), 0);
    return std::string(base::Trim(Slurp(file)));
  }
  Ended Step(const std::string& key) {
    RunOrder order{.run_id = "store.j1.node.h0.s" + std::to_string(++steps_) + "-c-g0e0",
                   .script = SetupScript(spec_, core::SetupStage{}),
                   .env = env_};
    if (!key.empty()) order.secrets[kPeersKey] = key;
    return host.Run(order);
  }
  std::string InSsh(const std::string& name) { return Slurp(host.home() / ".ssh" / name); }
  core::JobSpec spec_;
  std::map<std::string, std::string> env_ = {{"JOBMAN_HOSTS", "10.0.0.2,10.0.0.3"}};

 private:
  int steps_ = 0;
};

/// A podrun that the step has installed, where ssh and hostname are fakes.
class PodrunTest : public HostToHostTest {
 protected:
  void SetUp() override {
    HostToHostTest::SetUp();
    if (IsSkipped()) return;
    env_["JOBMAN_HOSTS"] = "10.0.0.1,10.0.0.2,10.0.0.3";
    EXPECT_THAT(Step(MakeKey("a")).err, testing::HasSubstr("exited 0"));
    Program("ssh",
            "while [ \"$1\" != -- ]; do shift; done\n"
            "[ \"$2\" != \"$BROKEN\" ] || exit 255\ncd / && exec sh -c \"$3\"\n");
    Program("hostname", "echo 10.0.0.1\n");
  }
  void Program(const std::string& name, const std::string& text) {
    const base::Path file = host.home() / "fakes" / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  Ended Podrun(const std::string& arguments, const std::string& input = {}) {
    const std::string home = host.home().string();
    return host.Do({.command = "export HOME=" + home + " PATH=" + home + "/fakes:$PATH; cd /tmp; " +
                               home + "/.local/bin/podrun " + arguments,
                    .input = input});
  }
  /// Lines of sh in the home folder, with `until_lines NUMBER FILE`, which waits for so many.
  Ended Lines(const std::string& lines) {
    const std::string home = host.home().string();
    return host.Do({.command = "export HOME=" + home + " PATH=" + home +
                               "/fakes:$PATH; cd\n"
                               "until_lines() {\n"
                               "  for i in $(seq 300); do\n"
                               "    [ \"$(cat \"$2\" 2>/dev/null | wc -l)\" -lt $1 ] || return 0\n"
                               "    sleep 0.1\n"
                               "  done\n"
                               "  echo \"not $1 in $2\"\n"
                               "}\n" +
                               lines});
  }
  /// From now on commands on other hosts have the address in AT.
  void TellWhere() {
    Program("ssh",
            "while [ \"$1\" != -- ]; do shift; done\n"
            "export AT=$2; exec sh -c \"$3\"\n");
  }
  /// A limit at the head of the program.
  void Set(const std::string& limit, const std::string& value) {
    const base::Path program = host.home() / ".local/bin/podrun";
    std::string text = Slurp(program);
    const auto at = text.find("\n" + limit + "=") + 1;
    ASSERT_NE(at, std::string::npos + 1) << "no limit " << limit;
    text.replace(at, text.find_first_of(" \n", at) - at, limit + "=" + value);
    std::ofstream(program) << text;
  }
};

}  // namespace jobman::remote
