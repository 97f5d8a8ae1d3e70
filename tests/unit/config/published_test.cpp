#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/core/built_in.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::MustLoad;
using testing::RequestOf;
using testing::SmallJob;

/// A job file like those published with jobman v2, with all its keys.
constexpr const char* kVersion2 = R"(
job:
  name: test_run
  env_type: docker
  loop: true
tpu:
  allocation_mode: tpu-vm
  accelerator: v4-8
  name: someone-${tpu.accelerator}
  zone: us-central2-b
  version: tpu-ubuntu2204-base
  pricing: spot
  tags: [ssh-ok]
  metadata: {purpose: research}
gcsfuse:
  bucket_name: a-bucket
  mount_path: /home/someone/gcs-bucket
ssh:
  private_key: ~/.ssh/google_rsa
  identities:
    - private_key: ~/.ssh/id_rsa
      public_key: ~/.ssh/id_rsa.pub
      config_entry: |
        Host github.com
          User git
docker:
  image: an/image:latest
  env_vars: ["A=b"]
  mount_dirs: [/home/someone]
  workdir: /home/someone
  flags: ["--privileged"]
conda: {name: env, config_file: environment.yaml}
venv: {name: env, requirements_file: requirements.txt, python: "python3.10"}
command:
  cmd: python -c 'import jax; print(jax.device_count())'
  workers: all
)";

/// The sample of jobman v3, with the keys that v3 added.
constexpr const char* kVersion3 = R"(
job:
  name: test_run
  env_type: venv
  loop: true
  remote_user: someone
  environment: {A: b}
  worker_num: 2
  queue: {enabled: false, config: queue_machines/tasks.yaml, prefix: [{name: a, run: b}]}
tpu:
  allocation_mode: queued-resources
  accelerator: v5p-16
  name: someone-${tpu.accelerator}
  zone: us-central1-a
  version: v2-alpha-tpuv5
  pricing: spot
  flags: ["--network=default"]
gcsfuse: {bucket_name: bkt, mount_path: /m, cache: {dir: /c, metadata_ttl_secs: 3600}, extra_mounts: []}
ssh:
  private_key: ~/.ssh/google_rsa
  identities: [{private_key: a, public_key: b, config_entry: "Host 10.* 34.* 35.*"}]
venv: {name: maxtext_env, requirements_file: assets/maxtext-requirements.txt, python: "python3.10"}
command:
  cmd: "python train.py"
  workers: [0]
)";

/// A job file of jobman v0.
constexpr const char* kVersion0 = R"(
job: {name: "first run"}
setup: {modules: [gcsfuse, venv]}
tpu: {allocation_mode: tpu-vm, accelerator: v4-8, name: a, zone: us-central2-b,
      version: tpu-ubuntu2204-base, pricing: spot, flags: null}
ssh: {private_key: ~/.ssh/google_rsa, public_key: ~/.ssh/google_rsa.pub,
      tpu_private_key: ~/.ssh/id_rsa, tpu_public_key: ~/.ssh/id_rsa.pub}
gcsfuse: {bucket_name: a-bucket, mount_path: /mnt/bucket}
venv: {name: env, requirements_file: requirements.txt, python: "3.11"}
command: {run: python train.py}
)";

/// A job file of the lite version.
constexpr const char* kLite = R"(
tpu:
  allocation_mode: tpu-vm
  acceleratorType: v4-8
  name: someone-${tpu.acceleratorType}
  zone: us-central2-b
  version: tpu-ubuntu2204-base
  pricing: spot
loop: true
brevo_email: {api_key: null, sender: null, receiver: null}
)";

core::JobSpec SpecOf(const char* text) {
  const LoadResult result = Load(RequestOf(text, {{"GOOGLE_CLOUD_PROJECT", "p"}}));
  EXPECT_TRUE(result.loaded.has_value()) << testing::Rendered(result);
  return result.loaded ? result.loaded->spec : core::JobSpec{};
}

TEST(PublishedFiles, OfVersion0Load) {
  const core::JobSpec spec = SpecOf(kVersion0);
  EXPECT_EQ(spec.command.cmd, "python train.py");
  EXPECT_EQ(spec.env_type, core::EnvType::kVenv);
  EXPECT_EQ(spec.venv.python, "python3.11");
  ASSERT_EQ(spec.ssh.identities.size(), 1U);
  EXPECT_TRUE(spec.ssh.identities[0].private_key.ends_with("/.ssh/id_rsa"));
  EXPECT_TRUE(spec.ssh.identities[0].authorize);
  EXPECT_EQ(spec.ssh.identities[0].config_entry,
            "Host 10.*\n  IdentityFile ~/.ssh/id_rsa\n  StrictHostKeyChecking accept-new\n"
            "  UserKnownHostsFile ~/.ssh/jobman-hosts-of-pods\n");
}

TEST(PublishedFiles, OfVersion2Load) {
  const core::JobSpec spec = SpecOf(kVersion2);
  EXPECT_EQ(spec.env_type, core::EnvType::kDocker);
  EXPECT_EQ(spec.docker.image, "an/image:latest");
  EXPECT_EQ(spec.gcsfuse.bucket_name, "a-bucket");
  EXPECT_EQ(spec.ssh.identities.size(), 1U);
  EXPECT_EQ(spec.conda, core::CondaSpec{}) << "job.env_type does not name it";
  EXPECT_THAT(core::BuiltInsOf(spec),
              ::testing::ElementsAre(core::BuiltIn::kIdentities, core::BuiltIn::kGcsfuse,
                                     core::BuiltIn::kDocker));
}

TEST(PublishedFiles, OfVersion3Load) {
  const core::JobSpec spec = SpecOf(kVersion3);
  EXPECT_EQ(spec.env_type, core::EnvType::kVenv);
  EXPECT_EQ(spec.gcsfuse.cache.metadata_ttl_secs, "3600");
  EXPECT_EQ(spec.command.workers.numbers, std::vector{0});
}

TEST(PublishedFiles, OfTheLiteVersionHoldTheirSlice) {
  const core::JobSpec spec = SpecOf(kLite);
  EXPECT_EQ(spec.tpu.accelerator, "v4-8");
  EXPECT_EQ(spec.tpu.name, "someone-v4-8");
  EXPECT_EQ(spec.command.cmd, "");
  EXPECT_EQ(spec.retries.failure, std::nullopt) << "loop: true";
  EXPECT_TRUE(spec.hooks.empty()) << "no mail";
}

// What files that Python jobman took may hold besides.

core::JobSpec SmallSpec(const std::string& more) {
  return MustLoad(RequestOf(SmallJob(more))).spec;
}

TEST(PublishedFiles, NullBesideAnOldKeyIsNothing) {
  const core::JobSpec spec =
      MustLoad(RequestOf("tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n"
                         "command: {cmd: null, run: echo hi}\njob: {env_type: docker}\n"
                         "docker: {image: a, workdir: null, work_dir: /w}\n"))
          .spec;
  EXPECT_EQ(spec.command.cmd, "echo hi");
  EXPECT_EQ(spec.docker.workdir, "/w");
}

TEST(PublishedFiles, OneKeyMayServeTwoHosts) {
  const core::JobSpec spec = SmallSpec(
      "ssh: {identities: [{private_key: /nowhere/id_rsa, config_entry: Host a},\n"
      "  {private_key: /nowhere/id_rsa, config_entry: Host b}]}\n");
  EXPECT_EQ(spec.ssh.identities.size(), 2U);
  EXPECT_THAT(testing::ProblemsOf(SmallJob(
                  "ssh: {identities: [{private_key: /a/id_rsa}, {private_key: /b/id_rsa}]}\n")),
              ::testing::HasSubstr("another key of ssh.identities has the file name id_rsa too"));
  for (const char* const name : {"/b/id_rsa", "/a/id_rsa"}) {
    EXPECT_THAT(testing::ProblemsOf(SmallJob("ssh: {identities: [{private_key: /a/id_rsa, "
                                             "public_key: " +
                                             std::string(name) + "}]}\n")),
                ::testing::HasSubstr("rename one: both would be ~/.ssh/id_rsa on the hosts"));
  }
}

TEST(PublishedFiles, AStartupScriptMayBeOneLineOrNone) {
  const auto script = [](const std::string& text) {
    return MustLoad(RequestOf(testing::JobWithTpu("  startup_script: " + text + "\n")))
        .spec.tpu.startup_script;
  };
  EXPECT_EQ(script("sudo apt-get update"), "sudo apt-get update\n");
  EXPECT_EQ(script("''"), "");
}

TEST(PublishedFiles, AKeyOfBrevoThatSendsNothingIsNotRead) {
  EXPECT_TRUE(SmallSpec("brevo_email: {api_key: xkeysib-1, sender: a@b.org, receiver: null}\n")
                  .hooks.empty());
  EXPECT_THAT(testing::ProblemsOf(SmallJob(
                  "brevo_email: {api_key: xkeysib-1, sender: a@b.org, receiver: c@d.org}\n")),
              ::testing::HasSubstr("brevo_email.api_key"));
}

/// None of them names a project, and one who checks a file need not have one.
TEST(PublishedFiles, WithoutAProjectCanBeChecked) {
  LoadRequest request =
      RequestOf("tpu: {accelerator: v4-8, zone: us-central2-b}\ncommand: {cmd: a}\n");
  EXPECT_THAT(testing::Rendered(Load(request)), ::testing::HasSubstr("tpu.project is missing"));
  request.may_lack_project = true;
  const Loaded loaded = MustLoad(request);
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(RenderWarning(loaded.warnings[0]),
            R"(job.yaml:1:1: warning: tpu.project is missing, and nothing else names a project
  1 | tpu: {accelerator: v4-8, zone: us-central2-b}
    | ^
  create and run need one: write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID
)");
  request.text = ResolvedYaml(loaded, false);
  EXPECT_EQ(MustLoad(request).spec, loaded.spec) << "what config show prints";
}

TEST(PublishedFiles, AnEmptyTextIsNothing) {
  const core::JobSpec nothing = SmallSpec(
      "gcsfuse: {bucket_name: my-bucket, mount_path: /m}\njob: {env_type: docker}\n"
      "docker: {image: i}\n");
  const std::string text =
      testing::JobWithTpu("  flags: ''\n  tags: ''\n") +
      "gcsfuse: {bucket_name: my-bucket, mount_path: /m, cache: {dir: '', metadata_ttl_secs: '',\n"
      "  stat_cache_max_size_mb: '', type_cache_max_size_mb: '', file_cache_max_size_mb: '',\n"
      "  cache_file_for_range_read: '', enable_parallel_downloads: '', prefix: ''}}\n"
      "brevo_email: {api_key: '', sender: '', receiver: ''}\n"
      "job: {env_type: docker, remote_user: ''}\nssh: {private_key: '', public_key: ''}\n"
      "docker: {image: i, flags: '', env_vars: '', mount_dirs: '', workdir: ''}\n";
  const Loaded loaded = MustLoad(RequestOf(text));
  EXPECT_EQ(loaded.spec, nothing);
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_EQ(SmallSpec("gcsfuse: {bucket_name: my-bucket, mount_path: /m, cache: ''}\n").gcsfuse,
            nothing.gcsfuse);
  EXPECT_EQ(SmallSpec("job: {env_type: ''}\n").env_type, std::nullopt);
  EXPECT_TRUE(SmallSpec("brevo_email: ''\n").hooks.empty());
}

TEST(PublishedFiles, ABrevoSectionWithAnEmptySenderSendsNothing) {
  EXPECT_TRUE(SmallSpec("brevo_email: {api_key: xkeysib-1, sender: '', receiver: a@b.org}\n")
                  .hooks.empty());
}

TEST(PublishedFiles, BesideModulesThereIsNoOtherKey) {
  EXPECT_EQ(testing::ProblemsOf(SmallJob("setup: {modules: [gcsfuse], foo: 1, bar: null}\n")),
            R"(job.yaml:3:29: unknown key "setup.foo"
  3 | setup: {modules: [gcsfuse], foo: 1, bar: null}
    |                             ^
  leave it out: beside modules there is no other key; steps of your own are a list: setup: [{run: COMMAND}]
)");
  EXPECT_TRUE(SmallSpec("setup: {modules: [gcsfuse], bar: null}\n").setup.empty());
}

TEST(PublishedFiles, WhatPythonAddedToASnapshotIsIgnored) {
  const std::string text =
      "job: {id: '000024', user: ada, dir: /home/ada/jobs/ada/000024, name: 'run_${job.id}'}\n"
      "tpu: {accelerator: v4-32, zone: us-central2-b, project: p, num_workers: 4,\n"
      "  ips: [{worker: 0, internal_ip: 10.0.0.1, external_ip: 34.1.1.1}]}\n"
      "command: {cmd: 'echo ${job.id}'}\n";
  const Loaded loaded = MustLoad(RequestOf(text));
  EXPECT_EQ(loaded.spec.name, "run_000024") << "other values may refer to them";
  EXPECT_EQ(loaded.spec.command.cmd, "echo ${job.id}");
  EXPECT_THAT(testing::ProblemsOf(testing::JobWithTpu("  ips: [{worker: 0}]\n") +
                                  "job: {labels: {a: '${tpu.ips[0].worker}'}}\n"),
              ::testing::HasSubstr("is the address of an earlier slice"));
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_EQ(loaded.warnings[0].message,
            "job.id, job.user, job.dir, tpu.num_workers, tpu.ips are ignored: Python jobman wrote "
            "them into its snapshot of a job");
  EXPECT_EQ(loaded.warnings[0].hint, "leave them out");
  const core::JobSpec numbered = SmallSpec(
      "job: {id: '000024', name: run_3, worker_num: 3, environment: {A: "
      "'${job.name} ${job.worker_num}'}}\n");
  EXPECT_EQ(numbered.name, "run_3") << "it has its suffix";
  EXPECT_EQ(numbered.environment.at("A"), "run_3 3");
  EXPECT_EQ(SmallSpec("job: {id: '000024', name: run_3, worker_num: auto}\n").worker_num, "");
  EXPECT_EQ(MustLoad(RequestOf(SmallJob("job: {id: '000024'}\n"))).warnings.at(0).hint,
            "leave it out");
  EXPECT_THAT(testing::ProblemsOf(SmallJob("user: ada\n")),
              ::testing::HasSubstr("did you mean \"ssh.user\"?"));
}

TEST(PublishedFiles, AListMayBeOneText) {
  const core::JobSpec spec =
      MustLoad(RequestOf(testing::JobWithTpu("  tags: ssh\n") +
                         "job: {env_type: docker}\ndocker: {image: i, flags: --privileged "
                         "--network=host, mount_dirs: '/m/${tpu.name}',\n"
                         "  env_vars: {A: 1, B: 'x ${tpu.name}', HF_TOKEN: }}\n"))
          .spec;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(spec.tpu.tags, Texts{"ssh"});
  EXPECT_EQ(spec.docker.flags, Texts{"--privileged --network=host"});
  EXPECT_EQ(spec.docker.mount_dirs, Texts{"/m/${tpu.name}"});
  EXPECT_EQ(spec.docker.env_vars, (Texts{"A=1", "B=x ${tpu.name}", "HF_TOKEN"}));
}

TEST(PublishedFiles, OptionsAndReferencesMakeListsToo) {
  LoadRequest request =
      RequestOf(SmallJob("job: {env_type: docker}\n"
                         "docker: {image: i, mount_dirs: '${oc.env:HOME}/${tpu.name}',\n"
                         "  flags: '${docker.env_vars}', env_vars: {A: 1}}\n"),
                {{"HOME", "/home/ada"}});
  EXPECT_EQ(MustLoad(request).spec.docker.mount_dirs,
            std::vector<std::string>{"/home/ada/${tpu.name}"});
  EXPECT_EQ(MustLoad(request).spec.docker.flags, std::vector<std::string>{"A=1"});
  request.sets = {"docker.env_vars.B=2"};
  EXPECT_EQ(MustLoad(request).spec.docker.env_vars, (std::vector<std::string>{"A=1", "B=2"}));
  request.sets = {"docker.env_vars={C: 3}"};
  EXPECT_EQ(MustLoad(request).spec.docker.env_vars, std::vector<std::string>{"C=3"});
}

TEST(PublishedFiles, AListOfSomethingElseIsRefusedWithAnExample) {
  const auto problems = [](const std::string& docker) {
    return testing::ProblemsOf(
        SmallJob("job: {env_type: docker}\ndocker: {image: i, " + docker + "}\n"));
  };
  EXPECT_THAT(problems("flags: {privileged: true}"),
              ::testing::HasSubstr("for example: flags: [--privileged, --network=host]"));
  EXPECT_THAT(problems("env_vars: {A: [1]}"),
              ::testing::HasSubstr("for example: env_vars: [HF_HOME=/data]"));
  EXPECT_THAT(problems("env_vars: [A-B=c]"),
              ::testing::HasSubstr("write NAME=VALUE, for example: HF_HOME=/data"));
  EXPECT_EQ(problems("env_vars: [HF_TOKEN]"), "");
}

TEST(PublishedFiles, AWorkerOfAQueueHasANumber) {
  const auto number = [](const std::string& queue) {
    return SmallSpec("job: {queue: {" + queue + "}}\n").worker_num;
  };
  EXPECT_EQ(number("enabled: true, config: /q.yaml"), "auto");
  EXPECT_EQ(
      SmallSpec("job: {queue: {enabled: true, config: /q.yaml}, worker_num: null}\n").worker_num,
      "");
  EXPECT_EQ(number("enabled: false"), "");
}

TEST(PublishedFiles, ANameOfTheSliceHoldsInCachesSharesAndKeys) {
  const core::JobSpec spec = SmallSpec(
      "gcsfuse: {bucket_name: my-bucket, mount_path: '/m/${tpu.name}', cache: {dir: "
      "'/c/${tpu.name}'}}\n"
      "nfs: {path: '/srv/${tpu.name}'}\n"
      "ssh: {identities: [{private_key: /nowhere/k, config_entry: 'Host ${tpu.name}'}]}\n");
  EXPECT_EQ(spec.gcsfuse.cache.dir, "/c/${tpu.name}");
  EXPECT_EQ(spec.nfs.path, "/srv/${tpu.name}");
  EXPECT_EQ(spec.ssh.identities[0].config_entry, "Host ${tpu.name}");
}

}  // namespace
}  // namespace jobman::config
