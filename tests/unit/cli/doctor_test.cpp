// doctor: which job it looks at, how it shows what it found, and with which code it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "cli/views/doctor.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/lend.hpp"

namespace jobman::test {
namespace {

using cli::views::Diagnosis;
using client::Finding;
using client::Verdict;
using testing::HasSubstr;
using testing::Not;

Diagnosis Mixed() {
  Diagnosis view;
  view.findings = {{.check = "credentials", .found = "GOOGLE_OAUTH_ACCESS_TOKEN"},
                   {.check = "clock",
                    .result = Verdict::kWarning,
                    .found = "this machine's clock is 2m behind the server's",
                    .cure = "set the clock"},
                   {.check = "SSH key",
                    .result = Verdict::kFailed,
                    .found = "key is accessible to other users",
                    .cure = "run: chmod 600 key"},
                   {.check = "host", .result = Verdict::kSkipped, .found = "no job holds a slice"}};
  return view;
}

TEST(DoctorView, EachCheckIsALineAndACureIsBelowIt) {
  EXPECT_EQ(RenderText(Mixed(), {}),
            "ok       credentials    GOOGLE_OAUTH_ACCESS_TOKEN\n"
            "warn     clock          this machine's clock is 2m behind the server's\n"
            "                        set the clock\n"
            "FAIL     SSH key        key is accessible to other users\n"
            "                        run: chmod 600 key\n"
            "skipped  host           no job holds a slice\n");
  EXPECT_EQ(RenderQuiet(Mixed()), "SSH key\n");
  for (const std::string& line : base::Split(RenderText(Mixed(), {.width = 60}), '\n'))
    EXPECT_LE(line.size(), 60U) << line;
}

TEST(DoctorView, JsonIsAnArrayOfChecks) {
  const auto json = ToJson(Mixed());
  ASSERT_EQ(json.size(), 4U);
  EXPECT_EQ(json[0]["result"], "ok");
  EXPECT_EQ(json[0]["cure"], "");
  EXPECT_EQ(json[2]["check"], "SSH key");
  EXPECT_EQ(json[2]["result"], "failed");
  EXPECT_EQ(json[2]["cure"], "run: chmod 600 key");
}

base::Task<base::Result<ports::LoginSeen>> AnswerLogin(base::Result<ports::LoginSeen> login) {
  co_return login;
}

class DoctorCommand : public testing::Test {
 protected:
  DoctorCommand() {
    for (const char* name : {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT",
                             "GOOGLE_APPLICATION_CREDENTIALS", "JOBMAN_ENDPOINT", "SSH_AUTH_SOCK"})
      ::unsetenv(name);
    ::setenv("CLOUDSDK_CONFIG", world_.paths().home.c_str(), 1);  // no gcloud
    world_.open_cloud = Lend(cloud_);
    world_.probes.log_in = [this](const core::CloudSpec&) { return AnswerLogin(login_); };
  }
  ~DoctorCommand() override { ::unsetenv("CLOUDSDK_CONFIG"); }

  std::string WriteJob() {
    const auto path = world_.paths().home / "job.yaml";
    std::ofstream(path) << "tpu: {accelerator: v4-16, zone: us-central2-b, project: demo}\n"
                           "command: {cmd: hostname}\n";
    return path.string();
  }

  CliWorld world_;
  FakeSliceApi cloud_{world_.clock};
  base::Result<ports::LoginSeen> login_ = ports::LoginSeen{.origin = "the token file t"};
};

TEST_F(DoctorCommand, LooksAtWhatAJobFileNeeds) {
  const auto ended = world_.Run({"doctor", WriteJob()});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("ok       credentials    the token file t\n"));
  EXPECT_THAT(ended.out, HasSubstr("ok       project        demo, from "));
  EXPECT_THAT(ended.out,
              HasSubstr("ok       Cloud TPU API  us-central2-b of demo: no slices; they may be "));
}

TEST_F(DoctorCommand, WithoutAJobFileTheZoneIsAskedThatIsNamed) {
  const auto without = world_.Run({"doctor", "--project", "demo"});
  EXPECT_EQ(without.exit_code, 0) << without.out << without.err;
  EXPECT_THAT(without.out, HasSubstr("skipped  Cloud TPU API  no zone is named"));
  const auto named = world_.Run({"doctor", "--project", "demo", "-z", "europe-west4-a"});
  EXPECT_THAT(named.out, HasSubstr("europe-west4-a of demo: no slices; they may be "));
  EXPECT_EQ(world_.Run({"doctor", "-z", "europe"}).exit_code, 2);
}

TEST_F(DoctorCommand, EndsWithTheCodeOfTheFirstFailure) {
  const auto ended = world_.Run({"doctor"});
  EXPECT_EQ(ended.exit_code, 2) << "no project";
  EXPECT_THAT(ended.out, HasSubstr("FAIL     project        no project is named\n"));
  login_ = base::Error{.code = base::Code::kUnauthenticated,
                       .message = "no credentials",
                       .reason = base::Reason::kNoToken};
  EXPECT_EQ(world_.Run({"doctor"}).exit_code, 5);
}

TEST_F(DoctorCommand, JsonIsOneDocument) {
  const auto ended = world_.Run({"doctor", WriteJob(), "--json"});
  const auto json = base::ParseJson(ended.out);
  ASSERT_TRUE(json.ok()) << ended.out;
  EXPECT_EQ((*json)[0]["check"], "credentials");
  EXPECT_EQ(json->size(), 16U);
}

TEST_F(DoctorCommand, OfTheSimulatorTheCloudIsSkipped) {
  const auto ended = world_.Run({"--endpoint", "local", "doctor"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("skipped  credentials    the cloud is the simulator"));
  EXPECT_THAT(ended.out, Not(HasSubstr("FAIL")));
  EXPECT_EQ(cloud_.CountCalls("ListNodes"), 0);
}

}  // namespace
}  // namespace jobman::test
