#include "jobman/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "config/project.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobWithTpu;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::Rendered;
using testing::RequestOf;
using testing::ScratchDir;
using testing::SmallJob;
using testing::TestDefaults;

std::string WhereIs(const Loaded& loaded, const std::string& path) {
  for (const Origin& origin : loaded.origins) {
    if (origin.path == path) return origin.where;
  }
  return "(absent)";
}

TEST(Load, FillsInDefaults) {
  const core::JobSpec spec = MustLoad(RequestOf(SmallJob())).spec;
  EXPECT_EQ(spec.name, "job");
  EXPECT_EQ(spec.cloud.endpoint, "https://tpu.googleapis.com");
  EXPECT_EQ(spec.tpu.version, "tpu-ubuntu2204-base");
  EXPECT_EQ(spec.tpu.allocation_mode, core::AllocationMode::kQueuedResources);
  EXPECT_EQ(spec.tpu.pricing, core::Pricing::kOnDemand);
  EXPECT_EQ(spec.ssh.user, "alice");
  EXPECT_EQ(spec.ssh.private_key, "/state-dir/ssh/id_ed25519");
  EXPECT_EQ(spec.ssh.port, 22);
  EXPECT_EQ(spec.retries, core::RetrySpec{});
  EXPECT_TRUE(spec.command.workers.all);
}

TEST(Load, TheAgentIsForwardedIfTheFileSaysSo) {
  EXPECT_FALSE(MustLoad(RequestOf(SmallJob())).spec.ssh.agent_forwarding);
  const std::string file = SmallJob("ssh: {agent_forwarding: true}\n");
  EXPECT_TRUE(MustLoad(RequestOf(file)).spec.ssh.agent_forwarding);
}

TEST(Load, TheWayToTheHostsIsRead) {
  const core::SshSpec usual = MustLoad(RequestOf(SmallJob())).spec.ssh;
  EXPECT_EQ(usual.address, core::AddressChoice::kExternal);
  EXPECT_EQ(usual.proxy_jump + usual.proxy_command, "");
  const std::string jump = "ssh: {address: internal, proxy_jump: 'ada@one:2222,two'}\n";
  const core::SshSpec jumps = MustLoad(RequestOf(SmallJob(jump))).spec.ssh;
  EXPECT_EQ(jumps.address, core::AddressChoice::kInternal);
  EXPECT_EQ(jumps.proxy_jump, "ada@one:2222,two");
  const std::string command = "ssh: {proxy_command: 'helper %h %p --user=%r', proxy_jump: ''}\n";
  EXPECT_EQ(MustLoad(RequestOf(SmallJob(command))).spec.ssh.proxy_command,
            "helper %h %p --user=%r");
}

TEST(Load, ThereIsOneWayToTheHosts) {
  EXPECT_EQ(ProblemsOf(SmallJob("ssh: {proxy_jump: a, proxy_command: nc %h %p}\n")),
            "job.yaml:3:37: ssh.proxy_command: ssh.proxy_jump is set too\n"
            "  3 | ssh: {proxy_jump: a, proxy_command: nc %h %p}\n"
            "    |                                     ^\n"
            "  leave one of the two out\n");
  EXPECT_THAT(ProblemsOf(SmallJob("ssh: {proxy_command: nc %k}\n")),
              HasSubstr("ssh.proxy_command: \"%k\" is no token of a proxy command"));
  EXPECT_THAT(ProblemsOf(SmallJob("ssh: {proxy_jump: -oProxyCommand=x}\n")),
              HasSubstr("ssh.proxy_jump: \"-oProxyCommand=x\" is not a jump host"));
  EXPECT_THAT(ProblemsOf(SmallJob("ssh: {address: both}\n")), HasSubstr("ssh.address: "));
}

TEST(Load, OsLoginIsAskedForOnTheNodesToo) {
  const Loaded loaded = MustLoad(RequestOf(SmallJob("ssh: {os_login: true}\n")));
  EXPECT_TRUE(loaded.spec.ssh.os_login);
  EXPECT_EQ(loaded.spec.tpu.metadata.at("enable-oslogin"), "TRUE");
  EXPECT_TRUE(MustLoad(RequestOf(SmallJob())).spec.tpu.metadata.empty());
}

TEST(Load, OsLoginThatTheMetadataTurnOffIsRefused) {
  const std::string file =
      "tpu: {accelerator: v4-8, zone: us-central2-b, project: p, metadata: {enable-oslogin: "
      "'false'}}\ncommand: {cmd: 'true'}\nssh: {os_login: true}\n";
  EXPECT_THAT(ProblemsOf(file), HasSubstr("ssh.os_login: true contradicts enable-oslogin: false"));
}

TEST(Load, BucketsOfOtherRegionsAreAllowedIfTheFileSaysSo) {
  EXPECT_FALSE(MustLoad(RequestOf(SmallJob())).spec.allow_cross_region);
  EXPECT_TRUE(MustLoad(RequestOf(SmallJob("allow_cross_region: true\n"))).spec.allow_cross_region);
  EXPECT_THAT(ProblemsOf(SmallJob("allow_cross_region: maybe\n")),
              HasSubstr("job.yaml:3:21: allow_cross_region: expected true or false"));
}

TEST(Load, BucketsHaveTheirPlaces) {
  const Loaded loaded = MustLoad(RequestOf(R"(
job: {queue: {enabled: true, prefix: [{run: gsutil cp gs://tools/x .}]}}
tpu: {accelerator: v4-32, zone: us-central2-b, project: p}
gcsfuse: {bucket_name: mounted, mount_path: /m}
setup:
  - run: |
      cat gs://data2/x
      cat gs://data/x
)"));
  ASSERT_EQ(loaded.buckets.size(), 4U);
  const auto place = [&](const std::string& bucket) {
    const BucketMention& mention = loaded.buckets.at(bucket);
    return mention.key + " " + std::to_string(mention.at.line) + ":" +
           std::to_string(mention.at.column);
  };
  EXPECT_EQ(place("tools"), "job.queue.prefix[0].run 2:55");
  EXPECT_EQ(place("mounted"), "gcsfuse.bucket_name 4:24");
  EXPECT_EQ(place("data2"), "setup[0].run 7:11");
  EXPECT_EQ(place("data"), "setup[0].run 8:11");
}

TEST(Load, TakesJson) {
  EXPECT_EQ(MustLoad(RequestOf(R"({"tpu": {"accelerator": "v4-8", "zone": "us-central2-b",
    "project": "p"}, "command": {"cmd": "a\nb", "workers": [0]}})"))
                .spec.command.cmd,
            "a\nb");
}

TEST(Load, NullsCountAsAbsent) {
  const Loaded loaded = MustLoad(RequestOf(
      JobWithTpu("  topology: null\n  startup_script: ~\n") +
      "docker:\nssh: {user: null}\njob: {env_type: null, queue: {enabled: false, config: q}}\n"));
  EXPECT_EQ(loaded.spec.ssh.user, "alice");
}

TEST(Load, AliasesAndMergeKeysAreExpanded) {
  const Loaded loaded = MustLoad(RequestOf(R"(
job: {environment: &env {A: 1, B: 2}}
tpu: {accelerator: v4-32, zone: us-central2-b, project: p}
command: {cmd: a, env: {<<: *env, B: 3}}
)"));
  EXPECT_EQ(loaded.spec.command.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", "3"}}));
}

TEST(Load, LoopMeansUnlimitedRetriesOfEveryKind) {
  const auto budgets = [](const std::string& more) {
    const core::RetrySpec spec = MustLoad(RequestOf(SmallJob(more))).spec.retries;
    return std::vector{spec.preemption, spec.failure, spec.infra};
  };
  const std::optional<int> unlimited;
  using Budgets = std::vector<std::optional<int>>;
  EXPECT_EQ(budgets("job: {loop: true}\n"), (Budgets{unlimited, unlimited, unlimited}));
  EXPECT_EQ(budgets("job: {loop: true}\nretries: {failure: 3}\n"),
            (Budgets{unlimited, 3, unlimited}));
  EXPECT_EQ(budgets("job: {loop: false}\n"), (Budgets{0, 0, 10}));
  EXPECT_EQ(budgets(""), (Budgets{unlimited, 0, 10}));
}

TEST(Load, LoopMeansUnlimitedPreemptionRetries) {
  const auto preemption = [](const std::string& more) {
    return MustLoad(RequestOf(SmallJob(more))).spec.retries.preemption;
  };
  EXPECT_EQ(preemption(""), std::nullopt);
  EXPECT_EQ(preemption("job: {loop: true}\n"), std::nullopt);
  EXPECT_EQ(preemption("job: {loop: false}\n"), 0);
  EXPECT_EQ(preemption("job: {loop: true}\nretries: {preemption: 3}\n"), 3);
  EXPECT_EQ(preemption("retries: {preemption: unlimited}\n"), std::nullopt);
}

TEST(Load, QueuedResourcesUseSpotForPreemptible) {
  EXPECT_EQ(MustLoad(RequestOf(JobWithTpu("  pricing: preemptible\n"))).spec.tpu.pricing,
            core::Pricing::kSpot);
  EXPECT_EQ(MustLoad(RequestOf(JobWithTpu("  pricing: preemptible\n  allocation_mode: tpu-vm\n")))
                .spec.tpu.pricing,
            core::Pricing::kPreemptible);
}

TEST(Load, ChoosesTheLoginName) {
  const auto user = [](const std::string& more, const std::string& login) {
    LoadRequest request = RequestOf(SmallJob(more));
    request.defaults.login = login;
    return MustLoad(request).spec.ssh.user;
  };
  EXPECT_EQ(user("job: {remote_user: bob}\nssh: {user: carol}\n", "alice"), "carol");
  EXPECT_EQ(user("job: {remote_user: bob}\n", "alice"), "bob");
  EXPECT_EQ(user("", "Alice.Smith@example.com"), "alice_smith");
  EXPECT_EQ(user("", "root"), "jobman");
  EXPECT_EQ(user("", ""), "jobman");
}

TEST(Load, EndpointComesFromFlagFileOrEnvironment) {
  const auto endpoint = [](const std::string& more, testing::Environment env,
                           std::optional<std::string> flag) {
    LoadRequest request = RequestOf(SmallJob(more), std::move(env));
    request.endpoint = std::move(flag);
    return MustLoad(request).spec.cloud.endpoint;
  };
  const testing::Environment env = {{"JOBMAN_ENDPOINT", "http://127.0.0.1:1/"}};
  EXPECT_EQ(endpoint("", env, std::nullopt), "http://127.0.0.1:1");
  EXPECT_EQ(endpoint("cloud: local\n", env, std::nullopt), "local");
  EXPECT_EQ(endpoint("cloud: {endpoint: google}\n", env, "http://x"), "http://x");
  EXPECT_THAT(ProblemsOf(SmallJob(), {{"JOBMAN_ENDPOINT", "nowhere"}}),
              HasSubstr("JOBMAN_ENDPOINT: \"nowhere\" is not an endpoint"));
}

TEST(Load, AnEndpointIsAPlainUrl) {
  for (const char* bad : {"https://h/?key=hunter2", "https://h/#x", "https://me:hunter2@h",
                          "https://", "ftp://h", "https://h x"}) {
    EXPECT_THAT(ProblemsOf(SmallJob("cloud: {endpoint: '" + std::string(bad) + "'}\n")),
                HasSubstr("job.yaml:3:19: cloud.endpoint: "))
        << bad;
    const std::string problem = ProblemsOf(SmallJob(), {{"JOBMAN_ENDPOINT", bad}});
    EXPECT_THAT(problem, HasSubstr("JOBMAN_ENDPOINT: ")) << bad;
    EXPECT_THAT(problem, ::testing::Not(HasSubstr("hunter2")));
  }
  EXPECT_THAT(ProblemsOf(SmallJob("cloud: 'https://h/v2?x'\n")),
              HasSubstr("must not have a query (?) or a fragment (#)"));
}

TEST(Load, SetsOverrideTheFile) {
  LoadRequest request = RequestOf(SmallJob("setup: [{run: a}]\n"));
  request.sets = {"tpu.zone=us-east1-d", "command.workers=[0, 1]", "job.environment.A=b=c",
                  "setup[0].hosts=0",    "setup.1.run=second",     "cloud=local"};
  request.name = "other";
  const Loaded loaded = MustLoad(request);
  EXPECT_EQ(loaded.spec.tpu.zone, "us-east1-d");
  EXPECT_THAT(loaded.spec.command.workers.numbers, ElementsAre(0, 1));
  EXPECT_EQ(loaded.spec.environment.at("A"), "b=c");
  EXPECT_THAT(loaded.spec.setup[0].hosts.numbers, ElementsAre(0));
  EXPECT_EQ(loaded.spec.setup[1].run, "second");
  EXPECT_EQ(loaded.spec.cloud.endpoint, "local");
  EXPECT_EQ(loaded.spec.name, "other");
  EXPECT_EQ(WhereIs(loaded, "tpu.zone"), "--set");
  EXPECT_EQ(WhereIs(loaded, "job.name"), "--name");
}

TEST(Load, TextOfASetIsTakenAsItIsTyped) {
  const std::string script = "for i in 1 2; do  # twice\n  echo 'a: b' \"$i\"\ndone\n\n- end";
  LoadRequest request = RequestOf(SmallJob("setup: [{run: a}]\n"));
  request.sets = {"command.cmd=" + script,    "command.env.TAG=exp #3", "setup[0].run={a,b}",
                  "command.env.QUOTED=\"a\"", "command.env.NUMBER=007", "command.env.LIST=[a"};
  const Loaded loaded = MustLoad(request);
  EXPECT_EQ(loaded.spec.command.cmd, script);
  EXPECT_EQ(loaded.spec.command.env.at("TAG"), "exp #3");
  EXPECT_EQ(loaded.spec.command.env.at("NUMBER"), "007");
  EXPECT_EQ(loaded.spec.command.env.at("LIST"), "[a");
  EXPECT_EQ(loaded.spec.setup[0].run, "{a,b}");
  EXPECT_EQ(loaded.spec.command.env.at("QUOTED"), "\"a\"");
}

TEST(Load, ASetFileTakesTheContentOfAFile) {
  const ScratchDir dir;
  const std::string script = "#!/bin/sh\necho 'a: b' ${HOME}  # c\n";
  dir.Write("run.sh", script);
  dir.Write("env.yaml", "{A: b}\n");
  dir.Write("bytes", std::string("a\0b", 3));
  LoadRequest request = RequestOf(SmallJob());
  request.defaults.working_dir = dir.path();
  request.set_files = {"command.cmd=run.sh", "command.env=env.yaml"};
  const Loaded loaded = MustLoad(request);
  EXPECT_EQ(loaded.spec.command.cmd, script);
  EXPECT_EQ(loaded.spec.command.env.at("A"), "b") << "a map is YAML";
  EXPECT_THAT(WhereIs(loaded, "command.cmd"), HasSubstr("run.sh"));
  const auto problem = [&](const std::string& set) {
    request.set_files = {set};
    return Rendered(Load(request));
  };
  EXPECT_THAT(problem("command.cmd=none.sh"), HasSubstr("/none.sh: no such file"));
  EXPECT_THAT(problem("command.cmd"), HasSubstr("write --set-file key=path"));
  EXPECT_THAT(problem("command.cmd=bytes"), HasSubstr("bytes:1:2: a control character"));
}

TEST(Load, AMisspeltCloudIsNotTakenForAMissingProject) {
  const std::string job =
      "cloud: lokal\ncommand: {cmd: a}\n"
      "tpu: {accelerator: v4-8, zone: us-central2-b}\n";
  EXPECT_EQ(ProblemsOf(job),
            "job.yaml:1:8: cloud.endpoint: \"lokal\" is not an endpoint\n"
            "  1 | cloud: lokal\n    |        ^\n  did you mean local?\n");
}

TEST(Load, AMisspeltKeyIsNotMissingToo) {
  EXPECT_EQ(ProblemsOf("tpu: {acelerator: v4-8, zone: us-central2-b, project: p}\n"),
            "job.yaml:1:7: unknown key \"tpu.acelerator\"\n"
            "  1 | tpu: {acelerator: v4-8, zone: us-central2-b, project: p}\n"
            "    |       ^\n  did you mean \"tpu.accelerator\"?\n");
  const std::string top = ProblemsOf("tup: {accelerator: v4-8}\n");
  EXPECT_TRUE(top.starts_with("job.yaml:1:1: unknown key \"tup\"")) << top;
  EXPECT_THAT(top, Not(HasSubstr("tpu.accelerator is missing")));
  const std::string command =
      ProblemsOf("tpu: {accelerator: v4-8, zone: us-central2-b, project: p}\ncomand: {cmd: a}\n");
  EXPECT_TRUE(command.starts_with("job.yaml:2:1: unknown key \"comand\"")) << command;
  EXPECT_THAT(command, HasSubstr("did you mean \"command\"?"));
}

TEST(Load, ProblemsFollowEachOtherInOneError) {
  LoadRequest request = RequestOf(SmallJob());
  request.sets = {"nonsense=1", "tpu.zoen=us-east1-d"};
  const std::string message = ToError(Load(request).problems).message;
  EXPECT_THAT(message, HasSubstr("nonsense"));
  EXPECT_THAT(message, HasSubstr("\n--set: unknown key \"tpu.zoen\""));
  EXPECT_EQ(message.find("\n\n"), std::string::npos) << "as config check shows them";
}

std::string SetProblem(const std::string& set) {
  LoadRequest request = RequestOf(SmallJob());
  request.sets = {set};
  return Rendered(Load(request));
}

TEST(Load, BadSetsNameTheFlag) {
  EXPECT_EQ(SetProblem("tpu.zoen=us-east1-d"),
            "--set: unknown key \"tpu.zoen\"\n   | tpu.zoen=us-east1-d\n   | ^\n"
            "  did you mean \"tpu.zone\"?\n");
  EXPECT_THAT(SetProblem("comand.env.STEPS=5"), HasSubstr("   | comand.env.STEPS=5\n   | ^\n"))
      << "the caret is at the key";
  EXPECT_EQ(SetProblem("ssh.port=high"),
            "--set: ssh.port: expected a number, found \"high\"\n   | ssh.port=high\n"
            "   |          ^\n");
  EXPECT_THAT(SetProblem("tpu.num_slices=99999999999"),
              HasSubstr("--set: tpu.num_slices: must be between 1 and 256\n"));
  EXPECT_THAT(SetProblem("tpu.zone"), HasSubstr("--set: write --set key=value"));
  EXPECT_THAT(SetProblem("tpu.zone.x=1"), HasSubstr("cannot set tpu.zone.x: tpu.zone is text"));
  EXPECT_THAT(SetProblem("job.labels={a"), HasSubstr("--set: YAML: "));
}

TEST(Load, TheJobFileOverridesUserDefaults) {
  const ScratchDir dir;
  LoadRequest request = RequestOf(JobWithTpu("  labels: {team: a}\n  network: null\n"));
  request.defaults.user_file =
      dir.Write("config.yaml",
                "tpu: {zone: us-east1-d, network: n, labels: {team: b, more: c}}\ncloud: local\n");
  const Loaded loaded = MustLoad(request);
  EXPECT_EQ(loaded.spec.tpu.zone, "us-central2-b");
  EXPECT_EQ(loaded.spec.tpu.network, "");
  EXPECT_EQ(loaded.spec.cloud.endpoint, "local");
  EXPECT_EQ(loaded.spec.tpu.labels,
            (std::map<std::string, std::string>{{"more", "c"}, {"team", "a"}}));
  EXPECT_EQ(WhereIs(loaded, "tpu.labels.more"), dir.path().string() + "/config.yaml:1");
  EXPECT_EQ(WhereIs(loaded, "tpu.labels.team"), "job.yaml:6");
  EXPECT_EQ(WhereIs(loaded, "tpu.version"), "default for v4");
  EXPECT_EQ(WhereIs(loaded, "tpu.external_ips"), "default");
}

TEST(Load, ProblemsOfUserDefaultsNameTheirFile) {
  const ScratchDir dir;
  LoadRequest request = RequestOf(SmallJob());
  request.defaults.user_file = dir.Write("config.yaml", "tpu:\n  zoen: a\n");
  EXPECT_THAT(Rendered(Load(request)),
              HasSubstr("/config.yaml:2:3: unknown key \"tpu.zoen\"\n  2 |   zoen: a\n"));
  request.defaults.user_file = dir.path() / "absent.yaml";
  EXPECT_EQ(Rendered(Load(request)), "");
  request.defaults.user_file_named = true;
  EXPECT_THAT(Rendered(Load(request)), HasSubstr("absent.yaml: no such file"));
}

TEST(Load, AKeyComesBeforeGcloudAndTheMachineIsTheLastResort) {
  const ScratchDir dir;
  Defaults defaults = TestDefaults();
  defaults.machine_project = [] { return std::optional<std::string>("of-machine"); };
  EXPECT_EQ(DefaultProject(defaults)->text, "of-machine");
  defaults.home = dir.path();
  dir.Write(".config/gcloud/configurations/config_default", "[core]\nproject = from-gcloud\n");
  EXPECT_EQ(DefaultProject(defaults)->text, "from-gcloud");
  const std::string key =
      dir.Write("key.json", R"({"type": "service_account", "project_id": "of-key"})");
  defaults = TestDefaults({{"GOOGLE_APPLICATION_CREDENTIALS", key}});
  defaults.home = dir.path();
  EXPECT_EQ(DefaultProject(defaults)->text, "of-key");
  for (const char* no_key : {"{", R"({"type": "authorized_user", "project_id": "x"})"}) {
    dir.Write("key.json", no_key);
    EXPECT_EQ(DefaultProject(defaults)->text, "from-gcloud") << no_key;
  }
}

TEST(Load, TheVariableOfGcloudIsPartOfItsConfiguration) {
  const ScratchDir dir;
  dir.Write("configurations/config_default", "[core]\nproject = from-file\n");
  const std::string key =
      dir.Write("key.json", R"({"type": "service_account", "project_id": "of-key"})");
  const std::map<std::string, std::string> gcloud = {{"CLOUDSDK_CONFIG", dir.path()},
                                                     {"CLOUDSDK_CORE_PROJECT", "of-variable"}};
  EXPECT_EQ(DefaultProject(TestDefaults(gcloud))->text, "of-variable");
  EXPECT_EQ(DefaultProject(TestDefaults(gcloud))->where, "CLOUDSDK_CORE_PROJECT");
  EXPECT_EQ(DefaultProject(TestDefaults(gcloud), key)->text, "of-key");
  std::map<std::string, std::string> both = gcloud;
  both["GOOGLE_APPLICATION_CREDENTIALS"] = key;
  EXPECT_EQ(DefaultProject(TestDefaults(both))->text, "of-key");
}

TEST(Load, TheKeyOfTheJobFileSaysWhoseTheProjectIs) {
  const ScratchDir dir;
  const std::string own =
      dir.Write("own.json", R"({"type": "service_account", "project_id": "of-job-file"})");
  const std::string other =
      dir.Write("other.json", R"({"type": "service_account", "project_id": "of-variable"})");
  const auto load = [&](const std::string& section, std::map<std::string, std::string> env) {
    env["GOOGLE_APPLICATION_CREDENTIALS"] = other;
    const std::string job =
        "tpu: {accelerator: v4-32, zone: us-central2-b}\ncommand: {cmd: hostname}\n";
    return MustLoad(RequestOf(job + section, env));
  };
  const std::string section = "cloud: {credentials_file: " + own + "}\n";
  EXPECT_EQ(load(section, {}).spec.tpu.project, "of-job-file");
  EXPECT_EQ(WhereIs(load(section, {}), "tpu.project"), "the key in cloud.credentials_file");
  EXPECT_EQ(load("", {}).spec.tpu.project, "of-variable");
  EXPECT_EQ(WhereIs(load("", {}), "tpu.project"), "the key in GOOGLE_APPLICATION_CREDENTIALS");
  EXPECT_EQ(load(section, {{"GOOGLE_CLOUD_PROJECT", "a"}}).spec.tpu.project, "a");
}

TEST(Load, CredentialsOfTheEnvironmentAreRecordedForGoogleAlone) {
  const std::map<std::string, std::string> env = {
      {"GOOGLE_APPLICATION_CREDENTIALS", "/keys/a.json"},
      {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT", "robot@lab.com"}};
  const auto cloud = [&env](const std::string& section) {
    return MustLoad(RequestOf(SmallJob(section), env)).spec.cloud;
  };
  EXPECT_EQ(cloud("").credentials_file, "/keys/a.json");
  EXPECT_EQ(cloud("").impersonate_service_account, "robot@lab.com");
  EXPECT_EQ(WhereIs(MustLoad(RequestOf(SmallJob(), env)), "cloud.credentials_file"),
            "GOOGLE_APPLICATION_CREDENTIALS");
  EXPECT_EQ(cloud("cloud: {token_command: 'echo x'}\n").credentials_file, "");
  const auto named = [](const std::string& file) {
    const std::map<std::string, std::string> one = {{"GOOGLE_APPLICATION_CREDENTIALS", file}};
    return MustLoad(RequestOf(SmallJob(), one)).spec.cloud.credentials_file;
  };
  EXPECT_EQ(named("keys/a.json"), "/work-dir/keys/a.json") << "the controller is elsewhere";
  EXPECT_EQ(named("~/a.json"), "/home/nobody-here/a.json");
  EXPECT_EQ(cloud("cloud: {credentials_file: /keys/b.json}\n").credentials_file, "/keys/b.json");
  for (const char* other : {"cloud: local\n", "cloud: https://tpu.example.com\n"}) {
    EXPECT_EQ(cloud(other).credentials_file, "") << other;
    EXPECT_EQ(cloud(other).impersonate_service_account, "") << other;
  }
}

TEST(Load, FindsTheProject) {
  const ScratchDir dir;
  dir.Write(".config/gcloud/active_config", "work\n");
  dir.Write(".config/gcloud/configurations/config_work",
            "[auth]\nproject = no\n[core]\naccount = a\nproject = from-gcloud\n");
  Defaults defaults = TestDefaults();
  EXPECT_FALSE(DefaultProject(defaults));
  defaults.home = dir.path();
  EXPECT_EQ(DefaultProject(defaults)->text, "from-gcloud");
  defaults = TestDefaults({{"CLOUDSDK_CONFIG", dir.path() / ".config/gcloud"}});
  EXPECT_EQ(DefaultProject(defaults)->where, "gcloud configuration work");
  defaults = TestDefaults({{"CLOUDSDK_CORE_PROJECT", "b"}, {"GOOGLE_CLOUD_PROJECT", "a"}});
  EXPECT_EQ(DefaultProject(defaults)->text, "a");
}

TEST(Load, ReadsStartupScripts) {
  const ScratchDir dir;
  dir.Write("boot.sh", "echo boot");
  dir.Write("empty.sh", " \n");
  const auto load = [&](const std::string& members) {
    LoadRequest request = RequestOf(JobWithTpu(members));
    request.file = dir.path() / "job.yaml";
    return Load(request);
  };
  const auto script = [&](const std::string& members) {
    const LoadResult result = load(members);
    return result.loaded ? result.loaded->spec.tpu.startup_script : Rendered(result);
  };
  EXPECT_EQ(script("  startup_script: boot.sh\n"), "echo boot\n");
  EXPECT_EQ(script("  startup_script: '#!/bin/true'\n"), "#!/bin/true");
  EXPECT_EQ(script("  startup_script: |\n    a\n    b\n"), "a\nb\n");
  EXPECT_EQ(script("  metadata: {startup-script: a}\n"), "a\n");
  EXPECT_THAT(script("  startup_script: empty.sh\n"), HasSubstr("empty.sh is empty"));
}

TEST(Load, ChecksThePrivateKey) {
  const ScratchDir dir;
  const auto problem = [&](const base::Path& key) {
    return ProblemsOf(SmallJob("ssh: {private_key: " + key.string() + "}\n"));
  };
  EXPECT_EQ(problem(dir.Write("good", "key", 0600)), "");
  EXPECT_EQ(problem(dir.path() / "absent"), "");
  EXPECT_THAT(problem(dir.Write("open", "key", 0644)),
              HasSubstr("/open is accessible to other users\n"));
  EXPECT_THAT(problem(dir.path()), HasSubstr(" is not a file\n"));
  if (::geteuid() != 0) {
    EXPECT_THAT(problem(dir.Write("closed", "key", 0000)), HasSubstr("cannot be read"));
  }
}

TEST(Load, SecretsMustExistOnlyWhenRequested) {
  const ScratchDir dir;
  const std::string text =
      "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n"
      "command: {cmd: a, secrets: [A_KEY, {name: B_KEY, file: " +
      dir.Write("b", "very secret").string() + "}, {name: C_KEY, file: /nowhere/c}]}\n";
  LoadRequest request = RequestOf(text, {{"A_KEY", "also secret"}});
  const Loaded loaded = MustLoad(request);
  EXPECT_THAT(loaded.spec.command.secrets,
              ElementsAre(core::SecretRef{.name = "A_KEY"},
                          core::SecretRef{.name = "B_KEY", .file = dir.path() / "b"},
                          core::SecretRef{.name = "C_KEY", .file = "/nowhere/c"}));
  EXPECT_THAT(ResolvedYaml(loaded, true), ::testing::Not(HasSubstr("secret\"")));
  request.check_secrets = true;
  EXPECT_EQ(Load(request).problems.size(), 1U);
  request.defaults = TestDefaults();
  const std::string problems = Rendered(Load(request));
  EXPECT_THAT(problems, HasSubstr("secrets[0]: the environment variable A_KEY is not set"));
  EXPECT_THAT(problems, HasSubstr("secrets[2]: "));
}

TEST(Load, ValidUntilIsADurationOrATime) {
  const auto tpu = [](const std::string& members) {
    return MustLoad(RequestOf(JobWithTpu(members))).spec.tpu;
  };
  EXPECT_EQ(tpu("  valid_until: 1h30m\n").valid_for, std::chrono::minutes{90});
  EXPECT_EQ(tpu("  valid_until: 90\n").valid_for, std::chrono::seconds{90});
  const auto at_eight = base::ParseRfc3339("2026-11-21T08:00:00Z").value();
  EXPECT_EQ(tpu("  valid_until: 2026-11-21T09:00:00+01:00\n").valid_until, at_eight);
  EXPECT_EQ(tpu("  flags: [--valid-until-time=2026-11-21T08:00:00Z]\n").valid_until, at_eight);
  EXPECT_EQ(tpu("  flags: [--valid-until-duration, 6h]\n").valid_for, std::chrono::hours{6});
  for (const std::string written : {"6h", "1500ms", "2026-11-21T08:00:00Z"}) {
    const Loaded first = MustLoad(RequestOf(JobWithTpu("  valid_until: " + written + "\n")));
    EXPECT_EQ(MustLoad(RequestOf(ResolvedYaml(first, false))).spec, first.spec) << written;
  }
}

TEST(Load, ADeadlineMustLieAhead) {
  LoadRequest request = RequestOf(JobWithTpu("  valid_until: 2026-11-21T09:00:00+01:00\n"));
  request.defaults.now = base::ParseRfc3339("2026-11-21T07:59:59Z").value();
  EXPECT_EQ(Rendered(Load(request)), "");
  request.defaults.now += std::chrono::seconds{1};
  EXPECT_EQ(Rendered(Load(request)),
            "job.yaml:6:16: tpu.valid_until, 2026-11-21T08:00:00.000Z, has passed\n"
            "  6 |   valid_until: 2026-11-21T09:00:00+01:00\n"
            "    |                ^\n"
            "  set a later time, or a duration such as 6h\n");
}

TEST(Load, TranslatesGcloudFlags) {
  const core::TpuSpec tpu = MustLoad(RequestOf(JobWithTpu(R"(  tags: [a]
  flags: ["--network=n", "--subnetwork s", --internal-ips, --spot, --tags, "b,c",
          "--labels=team=x,kind=y", "--metadata=k=v", --service-account=me@p.example]
)")))
                                .spec.tpu;
  EXPECT_EQ(tpu.network, "n");
  EXPECT_EQ(tpu.subnetwork, "s");
  EXPECT_FALSE(tpu.external_ips);
  EXPECT_EQ(tpu.pricing, core::Pricing::kSpot);
  EXPECT_THAT(tpu.tags, ElementsAre("a", "b", "c"));
  EXPECT_EQ(tpu.labels, (std::map<std::string, std::string>{{"kind", "y"}, {"team", "x"}}));
  EXPECT_EQ(tpu.metadata.at("k"), "v");
  EXPECT_EQ(tpu.service_account, "me@p.example");
}

TEST(Load, GcloudFlagsMayBeOneText) {
  const core::TpuSpec tpu =
      MustLoad(RequestOf(JobWithTpu("  flags: >-\n    --network=n --subnetwork s\n    --spot\n")))
          .spec.tpu;
  EXPECT_EQ(tpu.network, "n");
  EXPECT_EQ(tpu.subnetwork, "s");
  EXPECT_EQ(tpu.pricing, core::Pricing::kSpot);
}

TEST(Load, FlagsOfAQueuedResourceHaveKeys) {
  const auto tpu = [](const std::string& members) {
    return MustLoad(RequestOf(JobWithTpu(members))).spec.tpu;
  };
  EXPECT_EQ(tpu("  flags: [--node-count=4]\n").num_slices, 4);
  EXPECT_EQ(tpu("  flags: [--best-effort]\n").pricing, core::Pricing::kSpot);
  EXPECT_EQ(tpu("  flags: [--guaranteed]\n").pricing, core::Pricing::kOnDemand);
  for (const char* const flags : {"[--guaranteed, --reserved]", "[--reserved, --guaranteed]"}) {
    EXPECT_EQ(tpu("  flags: " + std::string(flags) + "\n").pricing, core::Pricing::kReserved);
  }
  const auto flex = tpu("  flags: [--provisioning-model=FLEX_START, --max-run-duration=4h]\n");
  EXPECT_EQ(flex.pricing, core::Pricing::kFlexStart);
  EXPECT_EQ(flex.max_run_duration, core::Duration{std::chrono::hours{4}});
  EXPECT_EQ(tpu("  flags: [--provisioning-model=standard]\n").pricing, core::Pricing::kOnDemand);
  EXPECT_THAT(ProblemsOf(JobWithTpu("  flags: [--spot, --provisioning-model=flex-start]\n")),
              HasSubstr("--provisioning-model contradicts tpu.pricing: spot"));
  EXPECT_THAT(ProblemsOf(JobWithTpu("  pricing: spot\n  flags: [--guaranteed]\n")),
              AllOf(HasSubstr("--guaranteed contradicts tpu.pricing: spot"),
                    HasSubstr("keep one of them")));
}

TEST(Load, OnDemandIsWhatGcloudDoesWithoutAFlag) {
  EXPECT_EQ(MustLoad(RequestOf(JobWithTpu("  pricing: ondemand\n  flags: [--reserved]\n")))
                .spec.tpu.pricing,
            core::Pricing::kReserved);
  const Loaded spot = MustLoad(RequestOf(JobWithTpu("  pricing: ondemand\n  flags: [--spot]\n")));
  EXPECT_EQ(spot.spec.tpu.pricing, core::Pricing::kSpot);
  EXPECT_EQ(spot.warnings.at(0).message,
            "tpu.flags: --spot takes the place of tpu.pricing: ondemand");
  LoadRequest request = RequestOf(JobWithTpu("  flags: [--spot]\n"));
  request.sets = {"tpu.pricing=ondemand"};
  EXPECT_THAT(Rendered(Load(request)), HasSubstr("--spot contradicts tpu.pricing: ondemand"));
  for (const char* const flags : {"[--guaranteed, --spot]", "[--spot, --guaranteed]"}) {
    EXPECT_THAT(ProblemsOf(JobWithTpu("  flags: " + std::string(flags) + "\n")),
                HasSubstr("contradicts tpu.pricing"));
  }
}

TEST(Load, AGenerationWithATopologyIsAType) {
  const std::string rest = "  zone: us-central2-b\n  project: p\ncommand: {cmd: hostname}\n";
  const auto tpu = [&rest](const std::string& members) {
    return MustLoad(RequestOf("tpu:\n" + members + rest)).spec.tpu;
  };
  const core::TpuSpec cube = tpu("  accelerator: v4\n  topology: 4x4x16\n");
  EXPECT_EQ(cube.accelerator, "v4-512");
  EXPECT_EQ(cube.topology, "4x4x16");
  EXPECT_EQ(cube.version, "tpu-ubuntu2204-base");
  EXPECT_EQ(tpu("  accelerator: v4-512\n  topology: 4x4x16\n"), cube);
  EXPECT_EQ(tpu("  flags: [--type=v4, --topology=4x4x16]\n"), cube) << "as gcloud has it";
  EXPECT_EQ(tpu("  accelerator: v5litepod-16\n  topology: 4x4\n").accelerator, "v5litepod-16");
}

TEST(Load, FlagsForGcloudItselfArePassedOver) {
  EXPECT_EQ(MustLoad(RequestOf(JobWithTpu(
                         "  flags: [--async, --quiet, -q, --format=json, --verbosity, debug]\n")))
                .spec,
            MustLoad(RequestOf(JobWithTpu(""))).spec);
}

TEST(Load, MetadataMayComeFromFiles) {
  const ScratchDir dir;
  const base::Path script = dir.Write("boot/boot.sh", "#!/bin/sh\necho hi\n");
  dir.Write("note.txt", "one, two\n");
  const auto load = [&](const std::string& members) {
    LoadRequest request = RequestOf(JobWithTpu(members));
    request.file = dir.path() / "job.yaml";
    return Load(request);
  };
  const std::string flags =
      "  flags: ['--metadata-from-file=startup-script=boot/boot.sh,note=note.txt']\n";
  const LoadResult result = load(flags);
  ASSERT_TRUE(result.loaded) << Rendered(result);
  EXPECT_EQ(result.loaded->spec.tpu.startup_script, "#!/bin/sh\necho hi\n");
  EXPECT_EQ(result.loaded->spec.tpu.metadata,
            (std::map<std::string, std::string>{{"note", "one, two\n"}}));
  EXPECT_THAT(WhereIs(*result.loaded, "tpu.startup_script"), HasSubstr(script.string()));
  EXPECT_TRUE(load("  startup_script: ''\n" + flags).loaded);
  EXPECT_TRUE(load("  startup_script: boot/boot.sh\n" + flags).loaded) << "the same file";
  EXPECT_THAT(Rendered(load("  startup_script: '#!/bin/sh'\n" + flags)),
              HasSubstr("--metadata-from-file contradicts tpu.startup_script"));
  EXPECT_THAT(Rendered(load("  metadata: {note: other}\n" + flags)),
              HasSubstr("--metadata-from-file contradicts tpu.metadata.note"));
  dir.Write("note.txt", std::string("a\0b", 3));
  EXPECT_THAT(Rendered(load(flags)), HasSubstr("note.txt is not UTF-8 text"));
}

TEST(Load, FlagsOfGcloudWithoutAKeyAreRefusedWithTheNearestOne) {
  const std::map<std::string, std::string> cures = {
      {"--scopes=cloud-platform", "the roles of tpu.service_account"},
      {"--data-disk=source=d", "tpu.data_disks is not supported yet; gcsfuse mounts buckets"},
      {"--boot-disk=b", "there is no key for it"},
      {"--node-id=n", "named after tpu.name"},
      {"--node-prefix=n", "named after tpu.name"},
      {"--description=d", "tpu.metadata"},
      {"--range=10.0.0.0/8", "tpu.subnetwork"},
      {"--reservation-host-project=p", "tpu.reservation: projects/PROJECT"},
      {"--valid-after-duration=6h", "create the job when it is time"},
      {"--autocheckpoint-enabled", "command.on_notice"},
      {"--shielded-secure-boot", "there is no key for it"},
      {"--account=a@b.org", "cloud.token_command"},
      {"--flags-file=f", "write its flags here"},
  };
  for (const auto& [flag, cure] : cures) {
    const LoadResult result = Load(RequestOf(JobWithTpu("  flags: ['" + flag + "']\n")));
    ASSERT_EQ(result.problems.size(), 1U) << flag;
    EXPECT_EQ(result.problems[0].message,
              "tpu.flags: gcloud's " + flag.substr(0, flag.find('=')) + " is not supported");
    EXPECT_THAT(result.problems[0].hint, HasSubstr(cure)) << flag;
    EXPECT_EQ(result.problems[0].reason, base::Reason::kNotSupported) << flag;
  }
}

TEST(Load, MissingFilesAndFoldersAreNamed) {
  const ScratchDir dir;
  LoadRequest request{.file = dir.path() / "absent.yaml", .defaults = TestDefaults()};
  EXPECT_THAT(Rendered(Load(request)), HasSubstr("/absent.yaml: no such file\n"));
  request.file = dir.path();
  EXPECT_THAT(Rendered(Load(request)), HasSubstr(": is a folder\n"));
  request.file = dir.Write("large.yaml", std::string(1'100'000, '#'));
  EXPECT_THAT(Rendered(Load(request)), HasSubstr("larger than 1 MiB"));
}

TEST(Load, AliasBombsAreRefused) {
  std::string aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) aliases += "*a" + std::to_string(i - 1) + ",";
    aliases += "x]\n";
  }
  EXPECT_THAT(ProblemsOf(aliases), HasSubstr("too large once its aliases are expanded"));
  EXPECT_THAT(ProblemsOf("job: " + std::string(200, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(ProblemsOf("job: " + std::string(100'000, '[')), HasSubstr("nested too deeply"));
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(ProblemsOf(many), HasSubstr("too many keys in one map; the limit is 2000"));
}

TEST(Load, ResolvedYamlLoadsToTheSameJob) {
  const std::string text = R"(
job: {name: all-of_it, environment: {A: "yes", B: "a: b # c", C: "${tpu.zone} \\${HOME}"},
      labels: {a: b}, worker_num: 4}
cloud: {endpoint: "http://127.0.0.1:8080/", token_command: "echo 'x'"}
tpu:
  accelerator: v4-32
  zone: us-central2-b
  project: p
  pricing: reserved
  reservation: mine
  allocation_mode: queued-resources
  tags: [a, b]
  metadata: {k: "line one\nline two\n\n", empty: "", n: "0123", t: "true"}
  startup_script: "#!/bin/sh\n  indented\n\nend"
ssh: {user: bob, port: 2222, private_key: ~/no-such-key, host_keys: strict}
setup:
  - {run: "  starts with blanks\nthen not", hosts: "0,2-3", required: false, timeout: 90500ms}
  - {name: second, run: "tab\there", timeout: 1h30m20s}
  - {name: third, run: "a\u200fb\u0085c\u2028d\x7f \u05d0"}
  - {name: fourth, run: "two lines\nwith \u200f and \u05d0\n"}
command:
  cmd: |
    echo "a" \
      ${job.name} \${SHELL} 'é'
  workers: [1, 2]
  workdir: "~"
  env: {}
  secrets: [A, {name: B, file: secret-b}]
  grace: 2m
retries: {preemption: unlimited, failure: 2, infra: unlimited, backoff: 20m}
watchdog:
  no_output: {after: 90s, do: new_slice}
  bad_output: ["a\\[b{2,3}$", {match: "loss.*nan", do: restart}]
  max_duration: 12h
on:
  started: ./notify.sh
  failed: [{run: "echo 'x'", timeout: 5s}, {mail: [a@b.org]}, {post: {env: HOOK}}]
  succeeded: {post: "https://x.org/\\${a}", token: {file: /t}}
smtp: {host: mail.lab.org, from: a@b.org, user: u, password: {env: SMTP_PASSWORD}, tls: tls}
)";
  const Loaded first = MustLoad(RequestOf(text));
  for (const bool origins : {false, true}) {
    const Loaded second = MustLoad(RequestOf(ResolvedYaml(first, origins)));
    EXPECT_EQ(second.spec, first.spec) << ResolvedYaml(first, origins);
    EXPECT_EQ(ResolvedYaml(second, false), ResolvedYaml(first, false));
  }
}

TEST(Load, AVariableThatIsTooLongForAProgramIsRefused) {
  const std::string fits(128 * 1024 - 3, 'x');  // "V=" and the final 0
  EXPECT_EQ(ProblemsOf(SmallJob("job: {name: a, environment: {V: " + fits + "}}\n")), "");
  EXPECT_THAT(ProblemsOf(SmallJob("job: {name: a, environment: {V: " + fits + "x}}\n")),
              AllOf(HasSubstr("job.yaml:3:"), HasSubstr("the variable V has 131072 bytes"),
                    HasSubstr("put the value into a file")));
}

TEST(Load, VariablesTogetherAreBounded) {
  std::string text = "job: {environment: {A: &a " + std::string(120'000, 'x');
  for (int i = 0; i < 7; ++i) text += ", A" + std::to_string(i) + ": *a";
  EXPECT_EQ(ProblemsOf(SmallJob(text + "}}\n")), "");
  EXPECT_THAT(ProblemsOf(SmallJob(text + ", B: *a}}\n")),
              HasSubstr("the variables of this job have 10800"));
}

TEST(Load, ASecretMustBeARegularFileThatFitsAVariable) {
  const ScratchDir dir;
  const auto problems = [&](const base::Path& file) {
    LoadRequest request = RequestOf(
        "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n"
        "command: {cmd: a, secrets: [{name: KEY, file: " +
        file.string() + "}]}\n");
    request.check_secrets = true;
    return Rendered(Load(request));
  };
  const std::string fits(128 * 1024 - 5, 'x');
  EXPECT_EQ(problems(dir.Write("fits", fits + "\n")), "");
  EXPECT_THAT(problems(dir.Write("large", fits + "x")), HasSubstr("the variable KEY has 131072"));
  EXPECT_THAT(problems("/dev/zero"), HasSubstr("/dev/zero is not a regular file"));
  ASSERT_EQ(::mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(problems(dir.path() / "pipe"), HasSubstr("is not a regular file"));
}

TEST(Load, WhatIsNoFileIsNotWaitedFor) {
  const ScratchDir dir;
  const base::Path fifo = dir.path() / "pipe";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto problems = [](const base::Path& file) {
    return Rendered(Load({.file = file, .defaults = testing::TestDefaults()}));
  };
  EXPECT_THAT(problems(fifo), HasSubstr("is a FIFO"));
  EXPECT_THAT(problems("/dev/zero"), HasSubstr("is a device"));
  EXPECT_THAT(problems(dir.path()), HasSubstr("is a folder"));
  EXPECT_THAT(problems("/dev/null"), HasSubstr("the file is empty"));
}

TEST(Load, AFifoIsNotWaitedFor) {
  const ScratchDir dir;
  ASSERT_EQ(::mkfifo((dir.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(ProblemsOf(JobWithTpu("  startup_script: " + (dir.path() / "pipe").string() + "\n")),
              HasSubstr("is not a regular file"));
}

TEST(Load, AFileNameCannotPretendToBeALine) {
  LoadRequest request = RequestOf("job: {name: -A}\n");
  request.file = "x\nok: valid\x1b[2J.yaml";
  EXPECT_THAT(Rendered(Load(request)), HasSubstr("x ok: valid?[2J.yaml:1:"));
}

TEST(Load, ProblemsAreSafeForATerminal) {
  EXPECT_THAT(ProblemsOf(SmallJob("job: {name: " + std::string(5000, 'a') + "}\n")),
              AllOf(HasSubstr("has 5000 bytes; the limit is 100"),
                    ::testing::Not(HasSubstr(std::string(121, 'a')))));
  const std::string problems = ProblemsOf(SmallJob("\"a\\x1b[31m\\rb\": 1\n"));
  EXPECT_THAT(problems, HasSubstr("a?[31m?b"));
  EXPECT_EQ(problems.find_first_of("\x1b\r"), std::string::npos);
}

/// The table ends with the day it was made: what is not in it is asked of the cloud.
TEST(Load, ATypeThatIsNotKnownHereIsAWarning) {
  const auto job = [](const std::string& tpu) {
    return "command: {cmd: a, workers: [7]}\ntpu: {" + tpu + ", zone: us-central2-b, project: p}\n";
  };
  const Loaded larger = MustLoad(RequestOf(job("accelerator: v3-8192")));
  EXPECT_EQ(larger.spec.tpu.accelerator, "v3-8192");
  EXPECT_EQ(larger.spec.tpu.version, "tpu-ubuntu2204-base") << "its generation is known";
  ASSERT_EQ(larger.warnings.size(), 1u);
  EXPECT_EQ(RenderWarning(larger.warnings[0]),
            "job.yaml:2:20: warning: v3-8192 is not known here: the API decides\n"
            "  2 | tpu: {accelerator: v3-8192, zone: us-central2-b, project: p}\n"
            "    |                    ^\n"
            "  its hosts and chips come from the API; did you mean v3-2048?\n");
  const Loaded newer = MustLoad(RequestOf(job("accelerator: v9x-16, version: v9x-image")));
  EXPECT_EQ(newer.spec.tpu.version, "v9x-image");
  EXPECT_EQ(newer.warnings.size(), 1u);
  EXPECT_EQ(MustLoad(RequestOf(job("accelerator: v4-8x"))).warnings[0].hint,
            "its hosts and chips come from the API; did you mean v4-8?");
  EXPECT_TRUE(MustLoad(RequestOf(job("accelerator: v4-64"))).warnings.empty());
}

}  // namespace
}  // namespace jobman::config
