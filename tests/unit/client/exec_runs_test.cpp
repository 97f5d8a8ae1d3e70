#include "jobman/client/exec_runs.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Takes what it is sent, which must not be there before. The file `passing` is removed by then.
class TakingShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink, ports::ByteSink err) override {
    early += command.input;
    std::error_code none;
    std::filesystem::remove(passing, none);
    while (command.next_input) {
      JM_CO_ASSIGN_OR_RETURN(const std::string piece, command.next_input());
      orders[target->address] += piece;
      if (piece.empty()) command.next_input = nullptr;
    }
    JM_CO_TRY(err("jobman: running\n"));
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}

  std::string early = {};
  base::Path passing = {};
  std::map<std::string, std::string> orders = {};  ///< by address
};

class ExecRunsTest : public test::ClientWorld {
 protected:
  ExecRunsTest() { shell_ = &taking_; }
  core::Job TwoHosts() {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    return test::WithHosts(std::move(job), 2);
  }
  base::Result<ssh::FanOutResult> Begin(const core::Job& job, const ExecOrder& order) {
    const auto context = Context();
    ExecRuns runs(context, job);
    return runs.Begin(ChooseHosts(context.paths, job, "all").value(), order, "eval", {});
  }
  TakingShell taking_;
};

TEST_F(ExecRunsTest, WhatAHostIsSentIsMadeWhenItIsConnectedAndSecretsAreReadOnce) {
  core::Job job = TwoHosts();
  taking_.passing = home_ / "token";
  ASSERT_TRUE(base::WriteFileAtomic(taking_.passing, "hush\n").ok());
  job.spec.command.secrets = {{.name = "JOBMAN_TEST_TOKEN", .file = taking_.passing.string()}};
  const auto begun = Begin(job, {.words = {"train"}, .job_env = true});
  ASSERT_TRUE(begun.ok()) << begun.error().ToString();
  EXPECT_TRUE(begun->AllOk()) << begun->Summary();
  EXPECT_EQ(taking_.early, "");
  for (const char* host : {"h0", "h1"}) {
    EXPECT_THAT(taking_.orders[host], AllOf(HasSubstr("hush"), HasSubstr("train")));
  }
  EXPECT_THAT(taking_.orders["h1"], HasSubstr("JOBMAN_HOST_INDEX=1"));
}

TEST_F(ExecRunsTest, ItBeginsInTheFolderInWhichExecDoes) {
  const core::Job job = TwoHosts();
  const ExecOrder order{.words = {"train"}, .workdir = "", .job_env = true};
  ASSERT_TRUE(Begin(job, order).ok());
  const std::string folder = JobFolder(Context().paths, job);
  EXPECT_THAT(taking_.orders["h0"], HasSubstr("jm_workdir=" + base::ShellQuote(folder) + "\n"));
}

TEST_F(ExecRunsTest, AMissingSecretIsToldAsByExec) {
  core::Job job = TwoHosts();
  job.spec.command.secrets = {{.name = "JOBMAN_TEST_MISSING"}};
  const auto begun = Begin(job, {.words = {"train"}, .job_env = true});
  ASSERT_FALSE(begun.ok());
  EXPECT_THAT(begun.error().hint, HasSubstr("export it here"));
  EXPECT_TRUE(taking_.orders.empty());
}

}  // namespace
}  // namespace jobman::client
