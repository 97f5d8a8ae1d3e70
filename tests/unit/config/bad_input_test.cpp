#include <gtest/gtest.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::ProblemsOf;
using testing::SmallJob;

struct BadInput {
  const char* name;
  std::string text;
  const char* rendered;
};

void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.name;
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsShownAtItsPlace) {
  EXPECT_EQ(ProblemsOf(GetParam().text), GetParam().rendered);
}

std::string NameOf(const ::testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

// --- The text itself ---

const BadInput kTexts[] = {
    {"Empty", "", R"(job.yaml: the file is empty
  jobman init writes a job file
)"},
    {"OnlyAComment", "# nothing yet\n", R"(job.yaml: the file is empty
  jobman init writes a job file
)"},
    {"AList", "- a\n- b\n", R"(job.yaml:1:1: expected a map of keys, found a list
  1 | - a
    | ^
  a job file begins like this: job: {name: my-job}
)"},
    {"UnclosedList", "job: {name: a\ntpu: {}\n", R"(job.yaml:2:4: YAML: a "{" without "}"
  2 | tpu: {}
    |    ^
  close it, or quote text that contains YAML syntax
)"},
    {"BareInterpolationInMap", SmallJob("job: {name: a-${tpu.zone}}\n"),
     R"(job.yaml:3:16: YAML: a "{" without "}"
  3 | job: {name: a-${tpu.zone}}
    |                ^
  inside {} and [] quote it: "${...}"
)"},
    {"TabIndent", "job:\n\tname: a\n", R"(job.yaml:2:1: YAML: a tab indents this line
  2 |  name: a
    | ^
  indent with spaces
)"},
    {"BadIndent", "job:\n  name: a\n loop: true\n",
     R"(job.yaml:3:2: YAML: this line does not fit the map around it
  3 |  loop: true
    |  ^
)"},
    {"UnknownAlias", "job: *a\n", R"(job.yaml:1:6: YAML: the referenced anchor is not defined
  1 | job: *a
    |      ^
)"},
    {"DuplicateKey", SmallJob("job:\n  name: a\n  loop: true\n  name: b\n"),
     R"(job.yaml:6:3: duplicate key "name"
  6 |   name: b
    |   ^
  it is first used in line 4
)"},
    {"SecondDocument", SmallJob("---\njob: {}\n"), R"(job.yaml:3:1: a second document begins here
  3 | ---
    | ^
  write one job per file
)"},
    {"NotUtf8", "job:\n  name: \xFF\n", R"(job.yaml:2:9: a byte that is not UTF-8
  2 |   name: ?
    |         ^
  save it as UTF-8 text
)"},
    {"ControlCharacter", "job:\n  name: a\x01\n", R"(job.yaml:2:10: a control character
  2 |   name: a?
    |          ^
  save it as UTF-8 text
)"},
    {"AliasWithinItself", "job: &a\n  labels: *a\n",
     R"(job.yaml:2:11: this alias refers to a value that contains it
  2 |   labels: *a
    |           ^
)"},
    {"KeyIsAList", "[a, b]: c\n", R"(job.yaml:1:1: a key must be text, not a list
  1 | [a, b]: c
    | ^
)"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadInputTest, ::testing::ValuesIn(kTexts), NameOf);

// --- Keys and types ---

const BadInput kKeys[] = {
    {"UnknownKey", SmallJob("job:\n  naem: a\n"), R"(job.yaml:4:3: unknown key "job.naem"
  4 |   naem: a
    |   ^
  did you mean "job.name"?
)"},
    {"UnknownTopLevelKey", SmallJob("comand: {}\n"), R"(job.yaml:3:1: unknown key "comand"
  3 | comand: {}
    | ^
  did you mean "command"?
)"},
    {"KeyOfAnotherPlace", SmallJob("accelerator: v4-8\n"),
     R"(job.yaml:3:1: unknown key "accelerator"
  3 | accelerator: v4-8
    | ^
  did you mean "tpu.accelerator"?
)"},
    {"NothingNear", SmallJob("nfs: {path: /x, xyzzyx: 1}\n"),
     R"(job.yaml:3:17: unknown key "nfs.xyzzyx"
  3 | nfs: {path: /x, xyzzyx: 1}
    |                 ^
  the keys here are: path, export
)"},
    {"UnknownKeyInStep", SmallJob("setup:\n  - {run: a}\n  - {rnu: b, run: c}\n"),
     R"(job.yaml:5:6: unknown key "setup[1].rnu"
  5 |   - {rnu: b, run: c}
    |      ^
  did you mean "setup[1].run"?
)"},
    {"SeveralAtOnce", "command:\n  cmd: [a]\n  wokers: 0\ntpu:\n  zone: us-central2\n",
     R"(job.yaml:2:8: command.cmd: expected text, found a list
  2 |   cmd: [a]
    |        ^
job.yaml:3:3: unknown key "command.wokers"
  3 |   wokers: 0
    |   ^
  did you mean "command.workers"?
job.yaml:4:1: tpu.accelerator is missing
  4 | tpu:
    | ^
  for example: accelerator: v4-32
job.yaml:4:1: tpu.project is missing, and nothing else names a project
  4 | tpu:
    | ^
  write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID
job.yaml:5:9: tpu.zone: "us-central2" is a region
  5 |   zone: us-central2
    |         ^
  a zone looks like us-central2-b
)"},
    {"ListForNumber", SmallJob("ssh: {port: [22]}\n"),
     R"(job.yaml:3:13: ssh.port: expected a number, found a list
  3 | ssh: {port: [22]}
    |             ^
)"},
    {"TextForNumber", SmallJob("ssh: {port: twenty-two}\n"),
     R"(job.yaml:3:13: ssh.port: expected a number, found "twenty-two"
  3 | ssh: {port: twenty-two}
    |             ^
)"},
    {"NegativeNumber", SmallJob("ssh: {port: -1}\n"),
     R"(job.yaml:3:13: ssh.port: must not be negative
  3 | ssh: {port: -1}
    |             ^
)"},
    {"TextForBool", SmallJob("job: {loop: maybe}\n"),
     R"(job.yaml:3:13: job.loop: expected true or false, found "maybe"
  3 | job: {loop: maybe}
    |             ^
)"},
    {"MapForText", SmallJob("job: {name: {first: a}}\n"),
     R"(job.yaml:3:13: job.name: expected text, found a map
  3 | job: {name: {first: a}}
    |             ^
)"},
    {"TextForMap", SmallJob("ssh: alice\n"), R"(job.yaml:3:6: ssh: expected a map, found text
  3 | ssh: alice
    |      ^
)"},
    {"TextForSteps", SmallJob("setup: pip install jax\n"),
     R"(job.yaml:3:8: setup: expected a list of maps, found text
  3 | setup: pip install jax
    |        ^
)"},
    {"TextForStep", SmallJob("setup: [pip install jax]\n"),
     R"(job.yaml:3:9: setup[0]: expected a map, found text
  3 | setup: [pip install jax]
    |         ^
)"},
    {"ListInTextMap", SmallJob("job: {environment: {A: [1]}}\n"),
     R"(job.yaml:3:24: job.environment.A: expected text, found a list
  3 | job: {environment: {A: [1]}}
    |                        ^
)"},
    {"BadDuration", SmallJob("retries: {backoff: soon}\n"),
     R"(job.yaml:3:20: retries.backoff: expected a duration, found "soon"
  3 | retries: {backoff: soon}
    |                    ^
  for example: 90s, 15m or 1h30m
)"},
    {"DurationTooLong", SmallJob("retries: {backoff: 999999999h}\n"),
     R"(job.yaml:3:20: retries.backoff: "999999999h" is too long: the longest duration is 36600d
  3 | retries: {backoff: 999999999h}
    |                    ^
  for example: 90s, 15m or 1h30m
)"},
    {"DurationForAWord", SmallJob("job: {when_done: 20s}\n"),
     R"(job.yaml:3:18: job.when_done: "20s" is not one of: keep, delete
  3 | job: {when_done: 20s}
    |                  ^
  did you mean job.when_done.keep=20s?
)"},
    {"BadCount", SmallJob("retries: {infra: many}\n"),
     R"(job.yaml:3:18: retries.infra: expected a number or "unlimited", found "many"
  3 | retries: {infra: many}
    |                  ^
)"},
    {"CountTooLarge", SmallJob("retries: {infra: 99999999999}\n"),
     R"(job.yaml:3:18: retries.infra: must be at most 2000000000
  3 | retries: {infra: 99999999999}
    |                  ^
)"},
    {"NotYet", SmallJob("health: {every: 5m}\n"), R"(job.yaml:3:1: health is not supported yet
  3 | health: {every: 5m}
    | ^
  leave health out
)"},
    {"NoExport", SmallJob("nfs: {path: /x, export: /vol}\n"),
     R"(job.yaml:3:25: nfs.export: "/vol" is not SERVER:/FOLDER
  3 | nfs: {path: /x, export: /vol}
    |                         ^
  for example: 10.130.0.2:/vol1
)"},
    {"NoSectionOfThatName", SmallJob("job: {env_type: docker}\n"),
     R"(job.yaml:3:17: job.env_type is docker, but there is no section docker
  3 | job: {env_type: docker}
    |                 ^
  write the section, or leave job.env_type out
)"},
    {"NoImage", SmallJob("job: {env_type: docker}\ndocker: {flags: [--privileged]}\n"),
     R"(job.yaml:4:1: docker.image is missing
  4 | docker: {flags: [--privileged]}
    | ^
  for example: image: python:3.10
)"},
    {"BucketWithScheme", SmallJob("gcsfuse: {bucket_name: gs://b, mount_path: /b}\n"),
     R"(job.yaml:3:24: gcsfuse.bucket_name: "gs://b" is not the name of a bucket
  3 | gcsfuse: {bucket_name: gs://b, mount_path: /b}
    |                        ^
  write the name alone, without gs://
)"},
    {"MountPathIsRelative",
     SmallJob("gcsfuse: {bucket_name: abc, mount_path: /b, extra_mounts: [{mount_path: c}]}\n"),
     R"(job.yaml:3:73: gcsfuse.extra_mounts[0].mount_path: "c" is not an absolute path
  3 | gcsfuse: {bucket_name: abc, mount_path: /b, extra_mounts: [{mount_path: c}]}
    |                                                                         ^
  begin with / or ~/: it is a folder of the hosts
)"},
    {"CacheSize",
     SmallJob("gcsfuse: {bucket_name: abc, mount_path: /b, cache: {metadata_ttl_secs: 1h}}\n"),
     R"(job.yaml:3:72: gcsfuse.cache.metadata_ttl_secs: "1h" is not a whole number
  3 | gcsfuse: {bucket_name: abc, mount_path: /b, cache: {metadata_ttl_secs: 1h}}
    |                                                                        ^
  write a number, or -1: without limit
)"},
    {"PythonVersion", SmallJob("job: {env_type: venv}\nvenv: {name: e, python: 3.x}\n"),
     R"(job.yaml:4:25: venv.python: "3.x" is not a version of Python 3
  4 | venv: {name: e, python: 3.x}
    |                         ^
  write "3.10", in quotes, or python3.10
)"},
    {"VenvElsewhere", SmallJob("job: {env_type: venv}\nvenv: {name: ../e}\n"),
     R"(job.yaml:4:14: venv.name: "../e" is not a folder below the home folder of the hosts
  4 | venv: {name: ../e}
    |              ^
  write its path from there, such as train or envs/train, in letters, digits, -, _ and ., 100 at most
)"},
    {"StepNamedLikeASection",
     SmallJob("gcsfuse: {bucket_name: abc, mount_path: /b}\nsetup: [{name: gcsfuse, run: a}]\n"),
     R"(job.yaml:4:16: setup[0]: there is already a step named "gcsfuse"
  4 | setup: [{name: gcsfuse, run: a}]
    |                ^
  the section gcsfuse has that name
)"},
    {"MisspelledWord", SmallJob("job: {env_type: nnoe}\n"),
     R"(job.yaml:3:17: job.env_type: "nnoe" is not one of: none, docker, conda, venv
  3 | job: {env_type: nnoe}
    |                 ^
  did you mean none?
)"},
};
INSTANTIATE_TEST_SUITE_P(Keys, BadInputTest, ::testing::ValuesIn(kKeys), NameOf);

// --- Values ---

std::string WithTpu(const std::string& members) {
  return testing::JobWithTpu(members);
}

std::string Tpu(const std::string& accelerator, const std::string& zone) {
  return "command: {cmd: a}\ntpu: {accelerator: " + accelerator + ", zone: " + zone +
         ", project: p}\n";
}

const BadInput kValues[] = {
    {"NoNameOfAnAccelerator", Tpu("v4_32", "us-central2-b"),
     R"(job.yaml:2:20: tpu.accelerator: unknown accelerator type "v4_32"
  2 | tpu: {accelerator: v4_32, zone: us-central2-b, project: p}
    |                    ^
  did you mean v4-32?
)"},
    {"UnknownGenerationWithoutARuntime", Tpu("v99", "us-central2-b"),
     R"(job.yaml:2:1: tpu.version is missing, and the type v99 is not known here
  2 | tpu: {accelerator: v99, zone: us-central2-b, project: p}
    | ^
  what a zone offers: jobman zones ZONE
  types are written like v2-8, v3-8, v4-8, v5litepod-1, v5p-8, v6e-1
)"},
    {"RegionForZone", Tpu("v4-32", "us-central2"),
     R"(job.yaml:2:33: tpu.zone: "us-central2" is a region
  2 | tpu: {accelerator: v4-32, zone: us-central2, project: p}
    |                                 ^
  a zone looks like us-central2-b
)"},
    {"ZoneWithBlank", Tpu("v4-32", "'us central'"),
     R"(job.yaml:2:33: tpu.zone: "us central" contains a space; only lower-case letters, digits and - are allowed
  2 | tpu: {accelerator: v4-32, zone: 'us central', project: p}
    |                                 ^
)"},
    {"ListOfZones", Tpu("v4-32", "[us-central2-b, us-east1-d]"),
     R"(job.yaml:2:33: tpu.zone: a list of zones is not supported yet
  2 | tpu: {accelerator: v4-32, zone: [us-central2-b, us-east1-d], project: p}
    |                                 ^
  write one zone
)"},
    {"NoTpu", "command: {cmd: a}\n", R"(job.yaml: tpu.accelerator is missing
  for example: accelerator: v4-32
job.yaml: tpu.zone is missing
  for example: zone: us-central2-b
job.yaml: tpu.project is missing, and nothing else names a project
  write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID
)"},
    {"EmptyTpu", "command: {cmd: a}\ntpu: {zone: null, project: p}\n",
     R"(job.yaml:2:1: tpu.accelerator is missing
  2 | tpu: {zone: null, project: p}
    | ^
  for example: accelerator: v4-32
job.yaml:2:7: tpu.zone is missing
  2 | tpu: {zone: null, project: p}
    |       ^
  for example: zone: us-central2-b
)"},
    {"NothingInTpu", "command: {cmd: a}\ncloud: local\ntpu: {zone: null}\n",
     R"(job.yaml:3:1: tpu.accelerator is missing
  3 | tpu: {zone: null}
    | ^
  for example: accelerator: v4-32
job.yaml:3:1: tpu.zone is missing
  3 | tpu: {zone: null}
    | ^
  for example: zone: us-central2-b
)"},
    {"NoProject", "command: {cmd: a}\ntpu: {accelerator: v4-8, zone: us-central2-b}\n",
     R"(job.yaml:2:1: tpu.project is missing, and nothing else names a project
  2 | tpu: {accelerator: v4-8, zone: us-central2-b}
    | ^
  write it, set GOOGLE_CLOUD_PROJECT, or run: gcloud config set project ID
)"},
    {"JobNameLikeAnOption", SmallJob("job: {name: --all}\n"),
     R"(job.yaml:3:13: job.name: "--all" begins with '-', as an option does
  3 | job: {name: --all}
    |             ^
)"},
    {"JobNameOfTwoLines", SmallJob("job: {name: \"a\\nb\"}\n"),
     R"(job.yaml:3:13: job.name: contains a control character
  3 | job: {name: "a\nb"}
    |             ^
)"},
    {"BadLabelKey", WithTpu("  labels: {Team: a}\n"),
     R"(job.yaml:6:12: tpu.labels: "Team" contains 'T'; only lower-case letters, digits, - and _ are allowed
  6 |   labels: {Team: a}
    |            ^
)"},
    {"BadLabelValue", WithTpu("  labels: {team: A b}\n"),
     R"(job.yaml:6:18: tpu.labels.team: "A b" contains 'A'; only lower-case letters, digits, - and _ are allowed
  6 |   labels: {team: A b}
    |                  ^
)"},
    {"OurLabel", WithTpu("  labels: {jobman-job: a}\n"),
     R"(job.yaml:6:12: tpu.labels: "jobman-job" is one of jobman's own labels
  6 |   labels: {jobman-job: a}
    |            ^
  choose a key that does not begin with "jobman-"
)"},
    {"BadTag", WithTpu("  tags: [ok, Not_ok]\n"),
     R"(job.yaml:6:14: tpu.tags[1]: "Not_ok" contains 'N'; only lower-case letters, digits and - are allowed
  6 |   tags: [ok, Not_ok]
    |              ^
)"},
    {"TopologyOfAnotherType", WithTpu("  topology: 2x2x2\n"),
     R"(job.yaml:6:13: tpu.topology: 2x2x2 is a v4-16, and tpu.accelerator is v4-32
  6 |   topology: 2x2x2
    |             ^
  remove one of them, or write tpu.accelerator: v4-16
)"},
    {"TopologyThatIsFlat", WithTpu("  topology: 4x4\n"),
     R"(job.yaml:6:13: tpu.topology: "4x4" is not a topology of slices of v4
  6 |   topology: 4x4
    |             ^
  it is in chips, such as 2x2x4
)"},
    {"ReservationWithoutReserved", WithTpu("  reservation: mine\n"),
     R"(job.yaml:6:16: tpu.reservation needs tpu.pricing: reserved or reservation-bound
  6 |   reservation: mine
    |                ^
  write tpu.pricing: reserved, or remove the reservation
)"},
    {"ReservationBoundToNone", WithTpu("  pricing: reservation-bound\n"),
     R"(job.yaml:6:12: tpu.pricing: reservation-bound needs tpu.reservation
  6 |   pricing: reservation-bound
    |            ^
  name the reservation that was made in calendar mode
)"},
    {"FlexStartForEver", WithTpu("  pricing: flex-start\n"),
     R"(job.yaml:6:12: tpu.pricing: flex-start needs tpu.max_run_duration
  6 |   pricing: flex-start
    |            ^
  for example 4h; at most 7 days
)"},
    {"FlexStartTooLong", WithTpu("  pricing: flex-start\n  max_run_duration: 8d\n"),
     R"(job.yaml:7:21: tpu.max_run_duration, 8d, is too long: flex-start lends a slice for at most 7 days
  7 |   max_run_duration: 8d
    |                     ^
  shorten it: the job goes on with a new slice when it is over
)"},
    {"FlexStartOfATpuVm", WithTpu("  allocation_mode: tpu-vm\n  pricing: flex-start\n"),
     R"(job.yaml:7:12: tpu.pricing: flex-start needs a queued resource
  7 |   pricing: flex-start
    |            ^
  write tpu.allocation_mode: queued-resources
)"},
    {"RunDurationOfATpuVm", WithTpu("  allocation_mode: tpu-vm\n  max_run_duration: 4h\n"),
     R"(job.yaml:7:21: tpu.max_run_duration: a TPU VM that is created directly has no run duration
  7 |   max_run_duration: 4h
    |                     ^
  write tpu.allocation_mode: queued-resources, or remove it
)"},
    {"RunDurationOfNothing", WithTpu("  max_run_duration: 0s\n"),
     R"(job.yaml:6:21: tpu.max_run_duration: must be greater than 0
  6 |   max_run_duration: 0s
    |                     ^
)"},
    {"ValidUntilThatIsNeither", WithTpu("  valid_until: tomorrow\n"),
     R"(job.yaml:6:16: tpu.valid_until: expected a duration or a time, found "tomorrow"
  6 |   valid_until: tomorrow
    |                ^
  for example: 6h or 2026-11-21T08:00:00Z
)"},
    {"ValidUntilAtOnce", WithTpu("  valid_until: 0s\n"),
     R"(job.yaml:6:16: tpu.valid_until: must be greater than 0
  6 |   valid_until: 0s
    |                ^
)"},
    {"ValidUntilOfATpuVm", WithTpu("  allocation_mode: tpu-vm\n  valid_until: 6h\n"),
     R"(job.yaml:7:16: tpu.valid_until: a TPU VM that is created directly does not wait in a queue
  7 |   valid_until: 6h
    |                ^
  write tpu.allocation_mode: queued-resources, or remove it
)"},
    {"MissingScript", WithTpu("  startup_script: boot.sh\n"),
     R"(job.yaml:6:19: tpu.startup_script: opening /work-dir/boot.sh: No such file or directory
  6 |   startup_script: boot.sh
    |                   ^
  name a file, or write the script itself, beginning with #!
)"},
    {"TwoScripts", WithTpu("  startup_script: '#!/bin/sh'\n  metadata: {startup-script: a}\n"),
     R"(job.yaml:6:19: tpu.startup_script and tpu.metadata.startup-script cannot be used together
  6 |   startup_script: '#!/bin/sh'
    |                   ^
  remove one of them
)"},
    {"HostOutOfRange", SmallJob("setup:\n  - {run: a, hosts: [0, 4]}\n"),
     R"(job.yaml:4:21: setup[0].hosts: there is no host 4: a v4-32 has 4 hosts, 0-3
  4 |   - {run: a, hosts: [0, 4]}
    |                     ^
)"},
    {"PatternsThatAreSlowTogether",
     SmallJob("watchdog: {bad_output: ['a[bc]{800}', 'b[bc]{800}', 'c[bc]{800}']}\n"),
     R"(job.yaml:3:24: watchdog.bad_output: the patterns together are too large: they take 2415 steps, and the limit is 2000
  3 | watchdog: {bad_output: ['a[bc]{800}', 'b[bc]{800}', 'c[bc]{800}']}
    |                        ^
  remove some, or use smaller repetitions
)"},
    {"DuplicateHost", SmallJob("setup:\n  - {run: a, hosts: [0, 1, 0]}\n"),
     R"(job.yaml:4:21: setup[0].hosts: host 0 is listed twice
  4 |   - {run: a, hosts: [0, 1, 0]}
    |                     ^
  list each host once
)"},
    {"HostRangeBackwards", SmallJob("setup:\n  - {run: a, hosts: 3-1}\n"),
     R"(job.yaml:4:21: setup[0].hosts: the range "3-1" is backwards
  4 |   - {run: a, hosts: 3-1}
    |                     ^
  write the smaller number first
)"},
    {"EmptyHosts", SmallJob("setup:\n  - {run: a, hosts: []}\n"),
     R"(job.yaml:4:21: setup[0].hosts: the list of hosts is empty
  4 |   - {run: a, hosts: []}
    |                     ^
)"},
    {"StepWithoutRun", SmallJob("setup:\n  - {name: a}\n"), R"(job.yaml:4:5: setup[0].run is missing
  4 |   - {name: a}
    |     ^
  for example: run: pip install -r requirements.txt
)"},
    {"StepTwice", SmallJob("setup:\n  - {name: a, run: b}\n  - {name: a, run: c}\n"),
     R"(job.yaml:5:12: setup[1]: there is already a step named "a"
  5 |   - {name: a, run: c}
    |            ^
  setup[0] has that name
)"},
    {"StepCalledRun", SmallJob("setup:\n  - {name: run, run: b}\n"),
     R"(job.yaml:4:12: setup[0].name: "run" is the name of the command itself; choose another
  4 |   - {name: run, run: b}
    |            ^
)"},
    {"StepNameIsAPath", SmallJob("setup:\n  - {name: ../x, run: b}\n"),
     R"(job.yaml:4:12: setup[0].name: "../x" contains '/'; only letters, digits, -, _ and . are allowed
  4 |   - {name: ../x, run: b}
    |            ^
)"},
    {"BadVariable", SmallJob("job: {environment: {A-B: c}}\n"),
     R"(job.yaml:3:21: job.environment: "A-B" is not a variable name
  3 | job: {environment: {A-B: c}}
    |                     ^
  names consist of letters, digits and _
)"},
    {"BadUser", SmallJob("ssh: {user: Alice}\n"),
     R"(job.yaml:3:13: ssh.user: "Alice" contains 'A'; only lower-case letters, digits, - and _ are allowed
  3 | ssh: {user: Alice}
    |             ^
)"},
    {"PortTooLarge", SmallJob("ssh: {port: 70000}\n"),
     R"(job.yaml:3:13: ssh.port: must be between 0 and 65535
  3 | ssh: {port: 70000}
    |             ^
)"},
    {"NumberTooLarge", SmallJob("ssh: {port: 99999999999999999999}\n"),
     R"(job.yaml:3:13: ssh.port: must be between 0 and 65535
  3 | ssh: {port: 99999999999999999999}
    |             ^
)"},
    {"NotWhole", SmallJob("ssh: {port: 22.5}\n"),
     R"(job.yaml:3:13: ssh.port: expected a whole number, found "22.5"
  3 | ssh: {port: 22.5}
    |             ^
)"},
    {"BadEndpoint", SmallJob("cloud: aws\n"),
     R"(job.yaml:3:8: cloud.endpoint: "aws" is not an endpoint
  3 | cloud: aws
    |        ^
  write google, local, or an http(s) URL
)"},
    {"TwoTokens", SmallJob("cloud: {token_file: a, token_command: b}\n"),
     R"(job.yaml:3:39: cloud.token_file and cloud.token_command cannot be used together
  3 | cloud: {token_file: a, token_command: b}
    |                                       ^
  remove one of them
)"},
    {"UnknownFlag", WithTpu("  flags: ['--shielded-secure-boot']\n"),
     R"(job.yaml:6:11: tpu.flags: gcloud's --shielded-secure-boot is not supported
  6 |   flags: ['--shielded-secure-boot']
    |           ^
  leave it out: there is no key for it
)"},
    {"FlagThatGcloudDoesNotHave", WithTpu("  flags: [--do-what-i-mean]\n"),
     R"(job.yaml:6:11: tpu.flags: gcloud's --do-what-i-mean is not supported
  6 |   flags: [--do-what-i-mean]
    |           ^
  remove it; jobman config explain tpu lists the keys
)"},
    {"FlagsInOneTextWithQuotes", WithTpu("  flags: --metadata='a=b c'\n"),
     R"(job.yaml:6:10: tpu.flags: one text with quotes is not read
  6 |   flags: --metadata='a=b c'
    |          ^
  write a list: flags: [--network=default, --spot]
)"},
    {"FileOfAFlagIsMissing", WithTpu("  flags: [--metadata-from-file=startup-script=boot.sh]\n"),
     R"(job.yaml:6:11: tpu.flags: --metadata-from-file: opening /work-dir/boot.sh: No such file or directory
  6 |   flags: [--metadata-from-file=startup-script=boot.sh]
    |           ^
  name a file of this machine
)"},
    {"FileOfAFlagHasNoName", WithTpu("  flags: [--metadata-from-file=boot.sh]\n"),
     R"(job.yaml:6:11: tpu.flags: --metadata-from-file: "boot.sh" is not key=FILE
  6 |   flags: [--metadata-from-file=boot.sh]
    |           ^
)"},
    {"MisspelledFlag", WithTpu("  flags: [--netwrok=a]\n"),
     R"(job.yaml:6:11: tpu.flags: gcloud's --netwrok is not supported
  6 |   flags: [--netwrok=a]
    |           ^
  did you mean --network?
)"},
    {"ContradictingFlag", WithTpu("  network: a\n  flags: [--network=b]\n"),
     R"(job.yaml:7:11: tpu.flags: --network contradicts tpu.network: a
  7 |   flags: [--network=b]
    |           ^
  keep one of them
)"},
    {"FlagWithoutValue", WithTpu("  flags: [--network]\n"),
     R"(job.yaml:6:11: tpu.flags: --network needs a value
  6 |   flags: [--network]
    |           ^
)"},
};
INSTANTIATE_TEST_SUITE_P(Values, BadInputTest, ::testing::ValuesIn(kValues), NameOf);

std::string JobWithSecrets(const std::string& list) {
  return "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\n"
         "command:\n  cmd: hostname\n  secrets: " +
         list + "\n";
}

const BadInput kSecrets[] = {
    {"ValueForName", JobWithSecrets("[hf_ab-cd]"),
     R"(job.yaml:4:13: command.secrets[0]: "hf_ab-cd" is not a variable name
  4 |   secrets: [hf_ab-cd]
    |             ^
  write the name of the variable, never its value
)"},
    {"SecretTwice", JobWithSecrets("[A, {name: A, file: f}]"),
     R"(job.yaml:4:16: command.secrets[1]: the secret A is listed twice
  4 |   secrets: [A, {name: A, file: f}]
    |                ^
)"},
    {"SecretWithoutName", JobWithSecrets("[{file: f}]"),
     R"(job.yaml:4:13: command.secrets[0].name is missing
  4 |   secrets: [{file: f}]
    |             ^
  for example: name: WANDB_API_KEY
)"},
    {"SecretWithValue", JobWithSecrets("[{name: A, value: x}]"),
     R"(job.yaml:4:23: unknown key "command.secrets[0].value"
  4 |   secrets: [{name: A, value: x}]
    |                       ^
  the keys here are: name, file
)"},
    {"SecretsAsText", JobWithSecrets("A"),
     R"(job.yaml:4:12: command.secrets: expected a list of texts or maps, found text
  4 |   secrets: A
    |            ^
)"},
};
INSTANTIATE_TEST_SUITE_P(Secrets, BadInputTest, ::testing::ValuesIn(kSecrets), NameOf);

const BadInput kInterpolation[] = {
    {"Cycle", WithTpu("  name: ${job.name}\n") + "job: {name: \"${tpu.name}\"}\n",
     R"(job.yaml:6:9: interpolation cycle: tpu.name -> job.name -> tpu.name
  6 |   name: ${job.name}
    |         ^
  write one of these values without a reference
)"},
    {"CycleWithItself", SmallJob("job: {name: \"a-${job.name}\"}\n"),
     R"(job.yaml:3:13: interpolation cycle: job.name -> job.name
  3 | job: {name: "a-${job.name}"}
    |             ^
  write one of these values without a reference
)"},
    {"CycleThroughAMap", SmallJob("job: {labels: {a: \"${job}\"}}\n"),
     R"(job.yaml:3:19: interpolation cycle: job.labels.a -> job -> job.labels.a
  3 | job: {labels: {a: "${job}"}}
    |                   ^
  write one of these values without a reference
)"},
    {"NoSuchKey", WithTpu("  name: run-${tpu.acelerator}\n"),
     R"(job.yaml:6:15: ${tpu.acelerator} is not a key of this file
  6 |   name: run-${tpu.acelerator}
    |               ^
  did you mean ${tpu.accelerator}?
)"},
    {"ShellVariable", SmallJob("setup:\n  - run: echo ${HOME}\n"),
     R"(job.yaml:4:17: ${HOME} is not a key of this file
  4 |   - run: echo ${HOME}
    |                 ^
  a shell variable is $HOME or \${HOME}, one of this machine is ${oc.env:HOME}
)"},
    {"ShellDefault", SmallJob("setup:\n  - run: |\n      echo a\n      echo ${HOME:-x}\n"),
     R"(job.yaml:6:12: unknown resolver "HOME"
  6 |       echo ${HOME:-x}
    |            ^
  write \${HOME:-x} for the shell's own
)"},
    {"UnsetVariable", SmallJob("ssh: {user: \"${oc.env:LOGIN}\"}\n"),
     R"(job.yaml:3:23: the environment variable LOGIN is not set
  3 | ssh: {user: "${oc.env:LOGIN}"}
    |                       ^
  set it, or write ${oc.env:LOGIN,default}
)"},
    {"UnknownResolver", SmallJob("ssh: {user: \"${random:1}\"}\n"),
     R"(job.yaml:3:14: unknown resolver "random"
  3 | ssh: {user: "${random:1}"}
    |              ^
  the resolvers are oc.env, env, oc.select and oc.decode
)"},
    {"Unclosed", SmallJob("ssh: {user: \"${tpu.zone\"}\n"), R"(job.yaml:3:14: "${" without "}"
  3 | ssh: {user: "${tpu.zone"}
    |              ^
  for a literal "${" write \${
)"},
    {"MapInText", SmallJob("ssh: {user: \"a-${tpu}\"}\n"),
     R"(job.yaml:3:16: ${tpu} is a map, which cannot be part of a text
  3 | ssh: {user: "a-${tpu}"}
    |                ^
)"},
    {"NullInText", SmallJob("job: {name: null}\nssh: {user: \"a-${job.name}\"}\n"),
     R"(job.yaml:4:16: ${job.name} is empty, which cannot be part of a text
  4 | ssh: {user: "a-${job.name}"}
    |                ^
)"},
    {"OutOfTheFile", SmallJob("ssh: {user: \"${....a}\"}\n"),
     R"(job.yaml:3:16: "....a" points outside the file
  3 | ssh: {user: "${....a}"}
    |                ^
)"},
    {"WrongTypeThere", SmallJob("ssh: {port: \"${tpu.zone}\"}\n"),
     R"(job.yaml:3:13: ssh.port: expected a number, found "us-central2-b"
  3 | ssh: {port: "${tpu.zone}"}
    |             ^
)"},
};
INSTANTIATE_TEST_SUITE_P(Interpolation, BadInputTest, ::testing::ValuesIn(kInterpolation), NameOf);

}  // namespace
}  // namespace jobman::config
