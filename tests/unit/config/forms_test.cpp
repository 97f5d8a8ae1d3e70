// The forms of texts beyond their type: what they may name, hold and give away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/config/load.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::JobWithTpu;
using ::testing::Not;
using testing::ProblemsOf;
using testing::Rendered;
using testing::RequestOf;
using testing::ScratchDir;
using testing::SmallJob;

std::string WarningsOf(const std::string& text, const testing::Environment& env) {
  const LoadResult result = Load(RequestOf(text, env));
  EXPECT_EQ(Rendered(result), "");
  if (!result.loaded) return {};
  std::string warnings;
  for (const Problem& warning : result.loaded->warnings) warnings += RenderWarning(warning);
  return warnings;
}

TEST(Forms, AJobNameIsFreeText) {
  for (const std::string name :
       {"My Run", "llama 3/7B (seed 1)", "42", "日本語", "a:b, c", "x'\"y", "trailing-"}) {
    LoadRequest request = RequestOf(SmallJob());
    request.name = name;
    const LoadResult result = Load(request);
    EXPECT_EQ(Rendered(result), "") << name;
    EXPECT_TRUE(result.loaded && result.loaded->spec.name == name) << name;
  }
  for (const std::string name : {"", " a", "a ", "-a", "a\tb", "a\x1b[1m", "a\x7f"}) {
    LoadRequest request = RequestOf(SmallJob());
    request.name = name;
    EXPECT_NE(Rendered(Load(request)), "") << name;
  }
}

TEST(Forms, OldNamesAreUnderstood) {
  const std::string tpu = "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n";
  EXPECT_EQ(testing::MustLoad(RequestOf(tpu + "command: {run: hostname}\n")).spec.command.cmd,
            "hostname");
  for (const std::string same : {"{run: a, cmd: a}", "{cmd: a, run: ''}", "{run: a, cmd: ''}"}) {
    EXPECT_EQ(testing::MustLoad(RequestOf(tpu + "command: " + same + "\n")).spec.command.cmd, "a")
        << same;
  }
  const Loaded both = testing::MustLoad(RequestOf(tpu + "command: {run: a, cmd: b}\n"));
  EXPECT_EQ(both.spec.command.cmd, "b");
  ASSERT_EQ(both.warnings.size(), 1u);
  EXPECT_EQ(both.warnings[0].message,
            "command.run, the old name of command.cmd, is ignored: the two differ");
  const std::string warnings = WarningsOf(SmallJob("ssh: {public_key: ~/none.pub}\n"), {});
  EXPECT_THAT(warnings, HasSubstr("none.pub does not exist"));
  EXPECT_THAT(warnings, HasSubstr("it is not needed"));
}

TEST(Forms, SectionsThatAreNotUsedAreNotRead) {
  for (const std::string type : {"", "none", "null"}) {
    const std::string job = type.empty() ? "" : "job: {env_type: " + type + "}\n";
    const std::string text = SmallJob(job + "docker: {image: an/image, unknown: 1}\nconda: x\n");
    const std::string warnings = WarningsOf(text, {});
    EXPECT_THAT(warnings, HasSubstr("docker is not used: job.env_type is none"));
    EXPECT_THAT(warnings, HasSubstr("conda is not used"));
    EXPECT_THAT(warnings, HasSubstr("write job.env_type: docker to use it, or leave it out"));
  }
}

TEST(Forms, SectionsWithoutAValueAreNothing) {
  EXPECT_EQ(WarningsOf(SmallJob("brevo_email: {api_key: null, sender: ~, receiver:}\n"
                                "gcsfuse: {bucket_name: null, cache: {dir: null}}\n"
                                "docker: {}\nnfs:\nssh: {identities: null}\n"),
                       {}),
            "");
}

TEST(Forms, WithoutACommandTheJobHoldsItsSlice) {
  const std::string tpu = "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n";
  for (const std::string command : {"", "command: {workers: all}\n", "command: {cmd: ' '}\n"}) {
    EXPECT_THAT(
        WarningsOf(tpu + command, {}),
        HasSubstr("there is no command.cmd: the job holds its slice until it is cancelled"));
  }
}

TEST(Forms, ASectionThatIsNotUsedNeedsNoMeaning) {
  const std::string sections = "docker: {image: '${oc.env:NOT_SET}'}\nvenv: {name: '${job.no}'}\n";
  EXPECT_THAT(WarningsOf(SmallJob(sections), {}), HasSubstr("docker is not used"));
  const LoadResult used = Load(RequestOf(SmallJob("job: {env_type: docker}\n" + sections)));
  EXPECT_THAT(testing::Rendered(used), HasSubstr("NOT_SET"));
  EXPECT_THAT(testing::Rendered(used), Not(HasSubstr("job.no")));
}

TEST(Forms, AContainerIsToldTheNameOfTheSliceOfTheAttempt) {
  const core::JobSpec spec =
      testing::MustLoad(RequestOf(SmallJob("job: {env_type: docker}\n"
                                           "docker: {image: i, env_vars: ['A=${tpu.name}'], "
                                           "flags: ['-e B=${tpu.name}'], work_dir: /w}\n")))
          .spec;
  const std::string name = "${tpu.name}";
  EXPECT_EQ(spec.docker.env_vars, std::vector<std::string>{"A=" + name});
  EXPECT_EQ(spec.docker.flags, std::vector<std::string>{"-e B=" + name});
  EXPECT_EQ(spec.docker.workdir, "/w") << "its old key";
}

TEST(Forms, WarnsOfFlagsOfDockerThatAShellWouldChange) {
  const auto warnings = [](const std::string& flags) {
    return WarningsOf(
        SmallJob("job: {env_type: docker}\ndocker: {image: i, flags: " + flags + "}\n"), {});
  };
  EXPECT_EQ(
      warnings("[--privileged, -v $HOME/d:/d]"),
      R"(job.yaml:4:42: warning: docker.flags[1]: no shell reads -v $HOME/d:/d: it is split at blanks, and $, quotes and \ stay in it
  4 | docker: {image: i, flags: [--privileged, -v $HOME/d:/d]}
    |                                          ^
  write the value itself; docker.mount_dirs takes folders, ~/data too, and docker.env_vars variables
)");
  for (const char* const flag :
       {"['--user=$(id -u)']", "['-e A=`date`']", "['-e A=\"b c\"']", "[\"-e A='b c'\"]",
        "['-e A=b\\ c']", "['-v \\${HOME}:/h']", "['-e N=${tpu.name} -v $HOME:/h']"}) {
    EXPECT_THAT(warnings(flag), HasSubstr("no shell reads")) << flag;
  }
  EXPECT_THAT(warnings("'-v $HOME:/h'"), HasSubstr("warning: docker.flags: no shell reads"))
      << "one text";
  EXPECT_EQ(warnings("['-v ~/d:/d', '-e N=${tpu.name} -e I=${job.id}', --shm-size=1g]"), "");
}

TEST(Forms, WhatIsKnownLateStaysInWhatRunsOnTheHosts) {
  const core::JobSpec spec =
      testing::MustLoad(RequestOf("tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n"
                                  "command: {cmd: 'echo ${job.id} ${job.user} ${job.dir} "
                                  "${tpu.num_workers}', env: {LOGS: 'gs://b/${job.id}'}}\n"))
          .spec;
  EXPECT_EQ(spec.command.cmd, "echo ${job.id} ${job.user} ${job.dir} ${tpu.num_workers}");
  EXPECT_EQ(spec.command.env.at("LOGS"), "gs://b/${job.id}");
  const auto elsewhere = Load(RequestOf(SmallJob("job: {name: 'a-${job.id}'}\n")));
  EXPECT_THAT(testing::Rendered(elsewhere), HasSubstr("${job.id} is not a key of this file"));
}

TEST(Forms, AVirtualEnvironmentMayLieInAFolderOfTheHome) {
  const auto with_name = [](const std::string& name) {
    return SmallJob("job: {env_type: venv}\nvenv: {name: \"" + name + "\"}\n");
  };
  for (const std::string name : {"train", "envs/train", ".venvs/a/b-1.0"}) {
    EXPECT_EQ(testing::MustLoad(RequestOf(with_name(name))).spec.venv.name, name);
  }
  for (const std::string name : {"/opt/env", "~/env", "a/../../b", "..", "a//b", "a/", "./a",
                                 ".ssh/a", ".jobman/a", "a b/c", "$HOME/a"}) {
    EXPECT_THAT(Rendered(Load(RequestOf(with_name(name)))),
                HasSubstr("is not a folder below the home folder of the hosts"))
        << name;
  }
}

TEST(Forms, NothingOfTheHostsIsReplacedOrOpened) {
  const auto complaint = [](const std::string& more) {
    return Rendered(Load(RequestOf(SmallJob(more))));
  };
  for (const std::string name : {"config", "authorized_keys", "known_hosts", "jobman-peers"}) {
    EXPECT_THAT(complaint("ssh: {identities: [{private_key: /x/" + name + "}]}\n"),
                HasSubstr("would replace another file of ~/.ssh"))
        << name;
    EXPECT_THAT(
        complaint("ssh: {identities: [{private_key: /x/k, public_key: /y/" + name + "}]}\n"),
        HasSubstr("would replace another file of ~/.ssh"))
        << name;
  }
  EXPECT_THAT(complaint("ssh: {identities: [{private_key: /x/k, config_entry: \"Host a\\n# jobman: "
                        "end\"}]}\n"),
              HasSubstr("begins with \"# jobman\""));
  for (const std::string path : {"/a\\nb", "/a\\\"b", "/a\\\\040b"}) {
    EXPECT_THAT(complaint("nfs: {path: \"" + path + "\"}\n"), HasSubstr("that no export can"))
        << path;
  }
  EXPECT_THAT(complaint("nfs: {path: /}\n"), HasSubstr("cannot be shared"));
}

TEST(Forms, AWorkerNumberIsASuffixOfTheNames) {
  const auto load = [](const std::string& number, const std::string& cmd = "echo") {
    return testing::MustLoad(RequestOf("job: {name: a b, worker_num: " + number + "}\n" +
                                       "tpu: {accelerator: v4-32, zone: us-central2-b, project: p, "
                                       "name: 'x-${tpu.accelerator}'}\n"
                                       "command: {cmd: '" +
                                       cmd + "'}\n"))
        .spec;
  };
  const core::JobSpec spec = load("B_2", "echo ${job.name} ${job.worker_num}");
  EXPECT_EQ(spec.name, "a b_B_2");
  EXPECT_EQ(spec.tpu.name, "x-v4-32-b-2");
  EXPECT_EQ(spec.command.cmd, "echo a b_B_2 B_2");
  EXPECT_EQ(spec.worker_num, "");
  EXPECT_EQ(load("Dev.1").name, "a b_Dev.1");
  EXPECT_EQ(load("Dev.1").tpu.name, "x-v4-32-dev-1");
  EXPECT_EQ(load("null").name, "a b");
  EXPECT_EQ(load("auto").name, "a b") << "known when the job is stored";
  EXPECT_EQ(load("auto").worker_num, "auto");
  EXPECT_EQ(load("auto", "echo ${job.name} ${job.worker_num}").command.cmd,
            "echo ${job.name} ${job.worker_num}");
}

TEST(Forms, ASliceNameIsMadeToFit) {
  const auto load = [](const std::string& name, const std::string& job = "My Exp") {
    const auto result =
        Load(RequestOf("job: {name: " + job + ", worker_num: 3}\n" +
                       "tpu: {accelerator: v4-8, zone: us-central2-b, project: p, name: '" + name +
                       "'}\ncommand: {cmd: echo}\n"));
    EXPECT_TRUE(result.loaded) << name;
    return *result.loaded;
  };
  EXPECT_EQ(load("${job.name}").spec.tpu.name, "my-exp-3") << "the suffix comes once";
  EXPECT_EQ(load("${job.name}", "exp").spec.tpu.name, "exp-3");
  EXPECT_EQ(load("My_Exp").spec.tpu.name, "my-exp-3");
  EXPECT_EQ(load("24h").spec.tpu.name, "job-24h-3");
  const config::Loaded loaded = load("my_exp");
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(
      loaded.warnings[0].message,
      "tpu.name: \"my_exp-3\" contains '_'; only lower-case letters, digits and - are allowed");
  EXPECT_EQ(loaded.warnings[0].hint, "names of slices will begin with my-exp-3");
  EXPECT_TRUE(load("my-exp").warnings.empty());
}

TEST(Forms, WarnsOfASecretFromTheEnvironment) {
  const auto warns = [](const std::string& name) {
    const std::string text = SmallJob("job: {environment: {V: \"${oc.env:" + name + "}\"}}\n");
    return !WarningsOf(text, {{name, "x"}}).empty();
  };
  for (const char* name :
       {"HF_TOKEN",   "WANDB_API_KEY",   "DB_PASSWORD",   "AWS_SECRET_ACCESS_KEY",
        "MY_SECRET",  "token",           "OPENAI_APIKEY", "SECRET_VALUE",
        "SECRETKEY",  "ACCESSKEY",       "PRIVATEKEY",    "TOKEN2",
        "HF_TOKENS",  "PASSWORDS",       "mySecretValue", "APIKEY2",
        "PASSPHRASE", "DB_PASS",         "myApiKey",      "MYKEY",
        "SIGNINGKEY", "VAULT_SECRET_ID", "CREDENTIALS",   "GH_PAT"})
    EXPECT_TRUE(warns(name)) << name;
  for (const char* name : {"HOME", "MAX_TOKENS", "TOKENIZER", "MONKEY", "SSH_KEY_PATH", "KEYBOARD",
                           "TOKEN_FILE", "AWS_ACCESS_KEY_ID", "PATH", "COMPASS", "BYPASS"})
    EXPECT_FALSE(warns(name)) << name;
  EXPECT_EQ(
      WarningsOf(SmallJob("job: {environment: {V: \"a-${oc.env:HF_TOKEN}\"}}\n"),
                 {{"HF_TOKEN", "x"}}),
      R"(job.yaml:3:36: warning: HF_TOKEN looks like a secret, and its value becomes part of the job's record
  3 | job: {environment: {V: "a-${oc.env:HF_TOKEN}"}}
    |                                    ^
  to keep it out of there: command.secrets: [HF_TOKEN]
)");
}

TEST(Forms, ASliceCarries64Labels) {
  const auto labels = [](int count) {
    std::string text = "  labels:\n";
    for (int i = 0; i < count; ++i) text += "    l" + std::to_string(i) + ": x\n";
    return ProblemsOf(JobWithTpu(text));
  };
  EXPECT_EQ(labels(61), "");
  EXPECT_THAT(labels(62), AllOf(HasSubstr("tpu.labels has 62 labels"), HasSubstr("remove some")));
}

TEST(Forms, NamesInTheCloudHaveTheirForm) {
  const auto tpu = [](const std::string& member) { return ProblemsOf(JobWithTpu(member + "\n")); };
  for (const char* good :
       {"  network: my-net", "  network: projects/p/global/networks/n",
        "  network: https://www.googleapis.com/compute/v1/projects/p/global/networks/n",
        "  subnetwork: projects/p/regions/r/subnetworks/s", "  service_account: default",
        "  service_account: 123-compute@developer.gserviceaccount.com",
        "  pricing: reserved\n  reservation: mine",
        "  pricing: reserved\n  reservation: projects/q/locations/us-central2-b/reservations/r",
        "  pricing: reserved\n  allocation_mode: tpu-vm\n  reservation: mine",
        "  pricing: reservation-bound\n  reservation: mine",
        "  pricing: flex-start\n  max_run_duration: 7d", "  max_run_duration: 30d"})
    EXPECT_EQ(tpu(good), "") << good;
  EXPECT_THAT(tpu("  network: My Net"), HasSubstr("tpu.network: \"My Net\" contains 'M'"));
  EXPECT_THAT(tpu("  network: networks/n"), HasSubstr("is neither a name nor a path"));
  EXPECT_THAT(tpu("  network: \"evil stuff\\n/networks/ok\""), HasSubstr("tpu.network: "));
  EXPECT_THAT(tpu("  network: projects/My Proj/global/networks/ok"),
              HasSubstr("is neither a name"));
  EXPECT_THAT(tpu("  network: projects/p/regions/r/subnetworks/n"), HasSubstr("is neither a name"));
  EXPECT_THAT(tpu("  service_account: a@b"), HasSubstr("is not the mail address of a service"));
  EXPECT_THAT(tpu("  subnetwork: a b"), HasSubstr("tpu.subnetwork: \"a b\" contains a space"));
  EXPECT_THAT(tpu("  service_account: nobody"),
              HasSubstr("\"nobody\" is not the mail address of a service account"));
  EXPECT_THAT(tpu("  pricing: reserved\n  reservation: a/b"),
              HasSubstr("tpu.reservation: \"a/b\" contains '/'"));
  EXPECT_THAT(tpu("  pricing: reserved\n  reservation: projects/q/reservations/r"),
              HasSubstr("is not a whole name of a reservation"));
}

TEST(Forms, ANulByteIsRefusedWhereverItIs) {
  EXPECT_THAT(
      ProblemsOf("tpu: {accelerator: v4-32, zone: z, project: p}\ncommand: {cmd: \"a\\0b\"}\n"),
      HasSubstr("job.yaml:2:16: this text contains a NUL byte"));
  EXPECT_THAT(ProblemsOf(SmallJob("job: {environment: {V: \"\\x00\"}}\n")),
              HasSubstr("a NUL byte"));
  const ScratchDir dir;
  const auto script = dir.Write("script.sh", std::string("#!/bin/sh\necho a\0b\n", 19));
  EXPECT_THAT(ProblemsOf(JobWithTpu("  startup_script: " + script.string() + "\n")),
              HasSubstr("contains a NUL byte"));
}

TEST(Forms, ANodeThatIsThereNeedsNoRequest) {
  const std::string text =
      "tpu: {existing: my-node, accelerator: v4-8, zone: us-central2-b, project: p";
  const std::string command = "}\ncommand: {cmd: a}\n";
  EXPECT_EQ(testing::MustLoad(testing::RequestOf(text + command)).spec.tpu.existing, "my-node");
  EXPECT_THAT(WarningsOf(text + ", pricing: spot, tags: [a]" + command, {}),
              HasSubstr("no effect on node my-node, which is there: tpu.pricing, tpu.tags"));
  EXPECT_THAT(ProblemsOf(text + ", num_slices: 2" + command),
              HasSubstr("tpu.num_slices: tpu.existing names one node"));
  EXPECT_THAT(
      ProblemsOf("tpu: {existing: ../x, accelerator: v4-8, zone: us-central2-b, project: p" +
                 command),
      HasSubstr("tpu.existing"));
}

}  // namespace
}  // namespace jobman::config
