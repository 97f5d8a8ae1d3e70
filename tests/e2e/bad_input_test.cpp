// For each input: one message that says what, where and what to do; the right exit code; nothing
// created.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class BadInput : public testing::Test {
 protected:
  /// `create` of a file with this text must be refused, with each of `says` in the message.
  void Refused(const std::string& text, int code, std::vector<std::string> says) {
    const base::Path file = place_.path() / "job.yaml";
    ASSERT_TRUE(base::WriteFileAtomic(file, text).ok());
    RefusedFile(file.string(), code, says);
  }
  void RefusedFile(const std::string& file, int code, const std::vector<std::string>& says) {
    const Ran ran = place_.Jobman({"create", file});
    EXPECT_EQ(ran.code, code) << ran.All();
    for (const std::string& part : says) EXPECT_THAT(ran.err, HasSubstr(part));
    EXPECT_EQ(ran.out, "");
    NothingIsCreated();
  }
  void NothingIsCreated() {
    EXPECT_THAT(place_.Jobman({"--json", "list", "--all"}).out, Not(HasSubstr("\"id\"")));
    EXPECT_EQ(place_.Jobman({"controller", "status"}).code, 3) << "no controller was started";
    if (!base::FileSize(place_.home() / "sim" / "sim.json")) return;
    EXPECT_THAT(place_.Sim({"requests"}).out, Not(HasSubstr(".create")));
  }
  static std::string Good(const std::string& more = {}) {
    return "job: {name: x}\ncloud: local\ntpu: {accelerator: v4-8, zone: us-central2-b}\n"
           "command: {cmd: 'true'}\n" +
           more;
  }
  Place place_;
};

TEST_F(BadInput, MissingFile) {
  RefusedFile("/nowhere/job.yaml", 2, {"/nowhere/job.yaml"});
}
/// None of them is waited for.
TEST_F(BadInput, WhatIsNoFile) {
  const std::string fifo = (place_.path() / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [file, why] :
       std::map<std::string, std::string>{{fifo, "is a FIFO"},
                                          {"/dev/zero", "is a device"},
                                          {place_.path().string(), "is a folder"},
                                          {"/dev/null", "is empty"}}) {
    RefusedFile(file, 2, {file + ": ", why});
    const Ran check = place_.Jobman({"config", "check", file});
    EXPECT_EQ(check.code, 2) << check.All();
    EXPECT_THAT(check.All(), HasSubstr(why));
  }
  setenv("JOBMAN_CONFIG", fifo.c_str(), 1);
  Refused(Good(), 2, {fifo + ": ", "is a FIFO"});
  unsetenv("JOBMAN_CONFIG");
}
/// What the shell makes of <(...), and - for config check.
TEST_F(BadInput, APipeWithAWriterIsRead) {
  const base::Path file = place_.path() / "job.yaml";
  ASSERT_TRUE(base::WriteFileAtomic(file, Good()).ok());
  const std::string program =
      std::string(JOBMAN_BIN_DIR) + "/jobman --home " + place_.home().string() + " config check ";
  for (const char* name : {"/dev/stdin", "/proc/self/fd/0", "-"}) {
    const Ran ran = RunProgram({"sh", "-c", "cat " + file.string() + " | " + program + name});
    EXPECT_EQ(ran.code, 0) << name << ran.All();
  }
}
TEST_F(BadInput, YamlSyntax) {
  Refused("job: {name: x\n", 2, {"job.yaml:"});
}
TEST_F(BadInput, UnknownKey) {
  Refused(Good("tpus: {}\n"), 2, {"job.yaml:5:1", "tpus", "^", "tpu"});
}
TEST_F(BadInput, WrongType) {
  Refused("job: {name: x}\ncloud: local\ntpu: [v4-8]\ncommand: {cmd: 'true'}\n", 2, {"job.yaml:3"});
}
TEST_F(BadInput, InterpolationCycle) {
  Refused(
      "job: {name: '${tpu.name}'}\ncloud: local\ntpu: {accelerator: v4-8, zone: "
      "us-central2-b, name: '${job.name}'}\ncommand: {cmd: 'true'}\n",
      2, {"job.name", "tpu.name"});
}
TEST_F(BadInput, UnknownAccelerator) {
  Refused(
      "job: {name: x}\ncloud: local\ntpu: {accelerator: v4-9, zone: us-central2-b}\n"
      "command: {cmd: 'true'}\n",
      2, {"v4-9", "v4-8"});
}
TEST_F(BadInput, ZoneThatDoesNotOfferIt) {
  Refused(
      "job: {name: x}\ncloud: local\ntpu: {accelerator: v4-8, zone: europe-west4-a}\n"
      "command: {cmd: 'true'}\n",
      2, {"europe-west4-a", "v4-8"});
}
TEST_F(BadInput, AValidUntilThatHasPassed) {
  Refused(
      "job: {name: x}\ncloud: local\n"
      "tpu: {accelerator: v4-8, zone: us-central2-b, valid_until: '2026-01-01T00:00:00Z'}\n"
      "command: {cmd: 'true'}\n",
      2, {"tpu.valid_until", "2026-01-01T00:00:00Z", "has passed"});
}
TEST_F(BadInput, WorkersOutOfRange) {
  Refused(
      "job: {name: x}\ncloud: local\ntpu: {accelerator: v4-8, zone: us-central2-b}\n"
      "command: {cmd: 'true', workers: [0, 5]}\n",
      2, {"workers", "5"});
}
TEST_F(BadInput, DuplicateHost) {
  Refused(
      "job: {name: x}\ncloud: local\ntpu: {accelerator: v4-32, zone: us-central2-b}\n"
      "command: {cmd: 'true', workers: [1, 1]}\n",
      2, {"1"});
}
TEST_F(BadInput, AnInvalidNodeName) {
  Refused(
      "cloud: local\ntpu: {accelerator: v4-8, zone: us-central2-b, existing: 'Bad Name!'}\n"
      "command: {cmd: 'true'}\n",
      2, {"tpu.existing: \"Bad Name!\" contains 'B'; only lower-case letters"});
}
TEST_F(BadInput, KeyWithAnOpenMode) {
  const base::Path key = place_.path() / "key";
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.string()}).code,
            0);
  ASSERT_EQ(chmod(key.c_str(), 0644), 0);
  Refused(Good("ssh: {private_key: " + key.string() + "}\n"), 2, {key.string(), "chmod 600"});
}
TEST_F(BadInput, AKeyFileWithoutAKey) {
  const base::Path key = place_.path() / "key";
  ASSERT_TRUE(base::WriteFileAtomic(key, "hello\n").ok());
  Refused(Good("ssh: {private_key: " + key.string() + "}\n"), 5, {key.string()});
}
TEST_F(BadInput, AStoreOfANewerVersion) {
  ASSERT_EQ(place_.Jobman({"cancel", "nobody"}).code, 3) << "creates the store, but no job";
  const base::Path file = place_.home() / "store" / "jobman.db";
  std::string content = base::ReadFile(file).value();
  content.replace(60, 4, std::string("\0\0\3\347", 4));  // user_version of the header: 999
  ASSERT_TRUE(base::WriteFileAtomic(file, content).ok());
  const Ran ran = place_.Jobman({"create", place_.JobFile("newer", 1, "true")});
  EXPECT_EQ(ran.code, 2) << ran.All();
  for (const char* part : {"jobman.db", "newer", "999"}) EXPECT_THAT(ran.err, HasSubstr(part));
  EXPECT_EQ(place_.Jobman({"list"}).code, 2);
  EXPECT_EQ(base::ReadFile(file).value(), content) << "it is unchanged";
  EXPECT_FALSE(base::FileSize(place_.home() / "sim" / "sim.json")) << "no simulator was started";
  std::filesystem::remove(file);
}
TEST_F(BadInput, AHomeThatOthersCanWrite) {
  ASSERT_EQ(chmod(place_.home().c_str(), 0777), 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"create", place_.JobFile("open", 1, "true")},
        {"list"},
        {"controller", "run"},
        {"tick"}}) {
    const Ran ran = place_.Jobman(words);
    EXPECT_EQ(ran.code, 2) << words[0] << ran.All();
    EXPECT_THAT(ran.err, HasSubstr(place_.home().string() + " can be written by other users"));
    EXPECT_THAT(ran.err, HasSubstr("chmod go-w " + place_.home().string()));
  }
  ASSERT_EQ(chmod(place_.home().c_str(), 0700), 0);
  NothingIsCreated();
}
TEST_F(BadInput, WhatRunsAsThisUserButOthersCanWrite) {
  const base::Path open = place_.path() / "open";
  ASSERT_TRUE(base::WriteFileAtomic(open, "#!/bin/sh\necho t\n", 0777).ok());
  const std::string why = open.string() + " can be written by other users";
  Refused("job: {name: x}\ncloud: {endpoint: 'http://127.0.0.1:9', token_command: '" +
              open.string() + " now'}\ntpu: {accelerator: v4-8, zone: us-central2-b}\n" +
              "command: {cmd: 'true'}\n",
          2, {"job.yaml:2", "cloud.token_command", why, "chmod go-w"});
  Refused("job: {name: x}\ncloud: {endpoint: 'http://127.0.0.1:9', token_file: " + open.string() +
              "}\ntpu: {accelerator: v4-8, zone: us-central2-b}\ncommand: {cmd: 'true'}\n",
          2, {"job.yaml:2", "cloud.token_file", why});
  Refused(Good("on: {failed: ./open x}\n"), 2, {"job.yaml:5", "on.failed", why});
}
TEST_F(BadInput, ADefaultsFileThatOthersCanWrite) {
  const base::Path config = place_.path() / "config.yaml";
  ASSERT_TRUE(base::WriteFileAtomic(config, "job: {labels: {a: b}}\n", 0666).ok());
  setenv("JOBMAN_CONFIG", config.c_str(), 1);
  Refused(Good(), 2, {"config.yaml: ", "can be written by other users", "chmod go-w"});
  unsetenv("JOBMAN_CONFIG");
}
TEST_F(BadInput, SecretsThatOthersCouldRead) {
  Refused(Good("on: {failed: {post: 'http://127.0.0.256/x', token: {env: HOOK_TOKEN}}}\n"), 2,
          {"job.yaml:5", "a token is not sent over plain http to 127.0.0.256", "https"});
  Refused(Good("smtp: {host: mail.lab.org, from: a@b.org, tls: none, user: u, "
               "password: {env: SMTP_PASSWORD}}\n"),
          2, {"job.yaml:5", "the password is not sent without TLS to mail.lab.org", "starttls"});
}
TEST_F(BadInput, AnEndpointWithAQuery) {
  setenv("JOBMAN_ENDPOINT", "http://127.0.0.1:9/?x=1", 1);
  Refused(
      "job: {name: x}\ntpu: {accelerator: v4-8, zone: us-central2-b, project: p}\n"
      "command: {cmd: 'true'}\n",
      2, {"JOBMAN_ENDPOINT", "query (?)"});
  unsetenv("JOBMAN_ENDPOINT");
  const Ran gc = place_.Jobman({"gc", "--endpoint", "http://127.0.0.1:9#x", "--only", "--zone",
                                "us-central2-b", "--project", "p"});
  EXPECT_EQ(gc.code, 2) << gc.All();
  EXPECT_THAT(gc.err, HasSubstr("fragment (#)"));
}
/// The test plays Cloud Storage.
TEST_F(BadInput, BucketsOutsideOfTheRegion) {
  const Listener storage(ServiceThatFinds([](const std::string& request) -> std::string {
    if (request.starts_with("GET /storage/v1/b/near?")) return R"({"location": "US-CENTRAL2"})";
    if (request.starts_with("GET /storage/v1/b/far?")) return R"({"location": "EUROPE-WEST4"})";
    if (request.starts_with("GET /storage/v1/b/multi?")) return R"({"location": "US"})";
    return {};
  }));
  setenv("JOBMAN_STORAGE_ENDPOINT", ("http://127.0.0.1:" + std::to_string(storage.port())).c_str(),
         1);
  Refused(Good("setup: [{name: get, run: 'cp gs://near/x gs://far/y'}]\n"
               "matrix: {OUT: ['gs://multi/out']}\n"),
          2,
          {"job.yaml:5:42: the bucket far (setup[0].run) is in europe-west4, but the slice in "
           "us-central2: reading 1 TB there costs about $50, and is slow",
           "use a bucket in us-central2, take a zone of europe-west4, or set "
           "allow_cross_region: true",
           "job.yaml:6:17: the bucket multi (matrix.OUT) is in the multi-region us, not in one "
           "region: reading 1 TB in us-central2 costs about $20"});
  Refused(Good("setup: [{run: 'ls gs://lost'}]\n"), 2,
          {"job.yaml:5:19: there is no bucket lost (setup[0].run)", "allow_cross_region: true"});
  const base::Path file = place_.path() / "job.yaml";
  ASSERT_TRUE(
      base::WriteFileAtomic(file, Good("setup: [{run: 'true # gs://far/x gs://near'}]\n")).ok());
  const Ran ran = place_.Jobman({"create", file.string(), "--set", "allow_cross_region=true"});
  unsetenv("JOBMAN_STORAGE_ENDPOINT");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("note: the bucket far (setup[0].run) is in europe-west4"));
  EXPECT_THAT(ran.err, Not(HasSubstr("near")));
}
TEST_F(BadInput, BucketsThatNobodyCanSee) {
  setenv("JOBMAN_STORAGE_ENDPOINT", "http://127.0.0.1:1", 1);  // nobody listens
  const std::string job = Good("setup: [{run: 'ls gs://data'}]\n");
  Refused(job, 75,
          {"whether the bucket data (setup[0].run) is in us-central2 could not be checked",
           "reading 1 TB in us-central2 from another region costs about $20 to $140",
           "set allow_cross_region: true"});
  const base::Path file = place_.path() / "job.yaml";
  ASSERT_TRUE(base::WriteFileAtomic(file, job).ok());
  const Ran ran = place_.Jobman({"create", file.string(), "--no-preflight"});
  unsetenv("JOBMAN_STORAGE_ENDPOINT");
  EXPECT_EQ(ran.code, 0) << ran.All();
}
TEST_F(BadInput, AFeatureThatIsNotSupportedYetIsNamed) {
  Refused(Good("health: {every: 1m}\n"), 2, {"health", "not supported yet"});
}
TEST_F(BadInput, AHomeThatCannotBeWritten) {
  const Ran ran = RunProgram({std::string(JOBMAN_BIN_DIR) + "/jobman", "--home", "/proc/nowhere",
                              "create", place_.JobFile("home", 1, "true")});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("/proc/nowhere"));
}
TEST_F(BadInput, AFullDisk) {
  const Ran ran = RunProgram({"sh", "-c",
                              std::string(JOBMAN_BIN_DIR) + "/jobman --home " +
                                  place_.home().string() + " version > /dev/full"});
  EXPECT_EQ(ran.code, 74) << "unwritten data is not a success";
}
TEST_F(BadInput, AnEmptyEnvironmentNamesWhatIsMissing) {
  const Ran ran = RunProgram({"env", "-i", "PATH=/usr/bin:/bin", "LANG=C", "HOME=/proc/nowhere",
                              std::string(JOBMAN_BIN_DIR) + "/jobman", "create",
                              place_.JobFile("bare", 1, "true")});
  EXPECT_EQ(ran.code, 2) << ran.All();
  EXPECT_THAT(ran.err, HasSubstr("JOBMAN_HOME"));
}

}  // namespace
}  // namespace jobman::test
