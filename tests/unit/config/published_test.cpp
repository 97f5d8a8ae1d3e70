#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::RequestOf;

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
gcsfuse: {bucket_name: b, mount_path: /m, cache: {dir: /c, metadata_ttl_secs: 3600}, extra_mounts: []}
ssh:
  private_key: ~/.ssh/google_rsa
  identities: [{private_key: a, public_key: b, config_entry: "Host 10.* 34.* 35.*"}]
venv: {name: maxtext_env, requirements_file: assets/maxtext-requirements.txt, python: "python3.10"}
command:
  cmd: "python train.py"
  workers: [0]
)";

std::set<std::string> MessagesOf(const char* text) {
  std::set<std::string> messages;
  const LoadResult result = Load(RequestOf(text, {{"GOOGLE_CLOUD_PROJECT", "p"}}));
  for (const Problem& problem : result.problems) {
    EXPECT_EQ(problem.reason, base::Reason::kNotSupported) << RenderProblem(problem);
    messages.insert(problem.message);
  }
  return messages;
}

TEST(PublishedFiles, OfVersion2FailOnlyForKeysThatAreNotSupportedYet) {
  EXPECT_THAT(MessagesOf(kVersion2),
              ::testing::UnorderedElementsAre(
                  "job.env_type: docker is not supported yet", "gcsfuse is not supported yet",
                  "ssh.identities is not supported yet", "docker is not supported yet"));
}

TEST(PublishedFiles, OfVersion3FailOnlyForKeysThatAreNotSupportedYet) {
  EXPECT_THAT(MessagesOf(kVersion3),
              ::testing::UnorderedElementsAre(
                  "job.env_type: venv is not supported yet", "gcsfuse is not supported yet",
                  "ssh.identities is not supported yet", "venv is not supported yet"));
}

}  // namespace
}  // namespace jobman::config
