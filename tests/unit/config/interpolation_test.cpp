#include <gtest/gtest.h>

#include "config/interpolate.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

/// The value of the command's environment variable X; others may be added.
std::string Expanded(const std::string& x, testing::Environment env = {}) {
  const std::string text = R"(
job: {name: outer, labels: {which: zone, list: "a"}}
tpu: {accelerator: v4-32, zone: us-central2-b, project: p, tags: [first, second]}
command:
  cmd: hostname
  env:
    Y: why
    X: )" + x + "\n";
  const Loaded loaded = MustLoad(RequestOf(text, std::move(env)));
  const auto found = loaded.spec.command.env.find("X");
  return found == loaded.spec.command.env.end() ? "(absent)" : found->second;
}

TEST(Interpolation, RefersToOtherKeys) {
  EXPECT_EQ(Expanded("${tpu.zone}"), "us-central2-b");
  EXPECT_EQ(Expanded("a-${tpu.zone}-b-${job.name}"), "a-us-central2-b-b-outer");
  EXPECT_EQ(Expanded("'${tpu.zone}'"), "us-central2-b");
  EXPECT_EQ(Expanded("${ tpu.zone }"), "us-central2-b");
  EXPECT_EQ(Expanded("${tpu.tags[1]} ${tpu.tags.0}"), "second first");
}

TEST(Interpolation, MayBeNestedAndRelative) {
  EXPECT_EQ(Expanded("${tpu.${job.labels.which}}"), "us-central2-b");
  EXPECT_EQ(Expanded("${.Y}"), "why");
  EXPECT_EQ(Expanded("${..cmd}"), "hostname");
  EXPECT_EQ(Expanded("${...job.name}"), "outer");
}

TEST(Interpolation, ReadsTheEnvironment) {
  EXPECT_EQ(Expanded("${oc.env:HOME}", {{"HOME", "/home/a"}}), "/home/a");
  EXPECT_EQ(Expanded("${env:HOME}/x", {{"HOME", "/home/a"}}), "/home/a/x");
  EXPECT_EQ(Expanded("${oc.env:STEPS,100}"), "100");
  EXPECT_EQ(Expanded("${oc.env:STEPS, 'a, b'}"), "a, b");
  EXPECT_EQ(Expanded("${oc.env:STEPS,${tpu.zone}}"), "us-central2-b");
  EXPECT_EQ(Expanded("x${oc.env:STEPS,''}y"), "xy");
  EXPECT_EQ(Expanded("${oc.env:STEPS,null}"), "(absent)");
}

TEST(Interpolation, KnowsOmegaConfsOwnResolvers) {
  EXPECT_EQ(Expanded("${oc.select:tpu.network,none}"), "none");
  EXPECT_EQ(Expanded("${oc.select:tpu.zone,none}"), "us-central2-b");
  EXPECT_EQ(Expanded("${oc.decode:'12'}"), "12");
}

TEST(Interpolation, BackslashesEscapeShellVariables) {
  EXPECT_EQ(Expanded(R"(\${HOME})"), "${HOME}");
  EXPECT_EQ(Expanded(R"(a\\${tpu.zone})"), R"(a\us-central2-b)");
  EXPECT_EQ(Expanded(R"(\\\${HOME})"), R"(\${HOME})");
  EXPECT_EQ(Expanded("$HOME a$b {c}"), "$HOME a$b {c}");
}

TEST(Interpolation, ResultsAreNotExpandedAgain) {
  EXPECT_EQ(Expanded("${oc.env:A}", {{"A", "${tpu.zone}"}}), "${tpu.zone}");
}

TEST(Interpolation, ASingleInterpolationKeepsTheType) {
  const Loaded loaded = MustLoad(RequestOf(R"(
job: {environment: {A: "1", B: "2"}, worker_num: 4}
tpu: {accelerator: v4-32, zone: us-central2-b, project: p, external_ips: false}
ssh: {port: "${oc.env:PORT,2222}"}
setup: [{run: a, hosts: "${command.workers}", required: "${tpu.external_ips}"}]
command: {cmd: b, workers: [0, 2], env: "${job.environment}"}
retries: {failure: "${job.worker_num}"}
)"));
  EXPECT_EQ(loaded.spec.ssh.port, 2222);
  EXPECT_EQ(core::HostSetText(loaded.spec.setup[0].hosts), "0,2");
  EXPECT_FALSE(loaded.spec.setup[0].required);
  EXPECT_EQ(loaded.spec.command.env, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(loaded.spec.retries.failure, 4);
}

TEST(Interpolation, IsBounded) {
  // Each line contains the one before ten times: 10^9 bytes in the end.
  std::string laughs = SmallJob("job:\n  environment:\n    A0: aaaaaaaaaa\n");
  for (int i = 1; i < 9; ++i) {
    laughs += "    A" + std::to_string(i) + ": \"";
    for (int k = 0; k < 10; ++k) laughs += "${.A" + std::to_string(i - 1) + "}";
    laughs += "\"\n";
  }
  EXPECT_NE(ProblemsOf(laughs).find("interpolation makes the file too large"), std::string::npos);

  std::string chain = SmallJob("job:\n  environment:\n    A0: a\n");
  for (int i = 1; i < 200; ++i) {
    // In reverse order, so that the first one depends on all others.
    chain += "    A" + std::to_string(i) + ": ${.A" + std::to_string(i == 199 ? 0 : i + 1) + "}\n";
  }
  EXPECT_NE(ProblemsOf(chain).find("a chain of more than 40 interpolations"), std::string::npos);

  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "${";
  EXPECT_NE(ProblemsOf(SmallJob("job: {name: \"" + deep + "\"}\n")), "");
  EXPECT_NE(ProblemsOf(SmallJob("job: {name: \"" + deep + std::string(100'000, '}') + "\"}\n")),
            "");
}

TEST(Interpolation, EscapedTextIsRestored) {
  for (const std::string text :
       {R"(${a})", R"(\${a})", R"(\\${a}\)", R"($${a})", R"(a\b$c)", R"(${)", R"(\)"}) {
    EXPECT_EQ(Expanded("'" + EscapeInterpolation(text) + "'"), text);
  }
}

TEST(Interpolation, TheNameOfTheSliceIsLeftToTheAttempt) {
  const std::string text =
      "tpu: {accelerator: v4-32, zone: us-central2-b, project: p, name: \"my-${job.name}\",\n"
      "      metadata: {n: \"${tpu.name}\"}}\n"
      "job: {name: train, environment: {A: \"${tpu.name}/x\", B: \"${oc.select:tpu.name,y}\"}}\n"
      "setup: [{run: \"echo ${tpu.name}\"}]\n"
      "command: {cmd: \"export P=${tpu.name} A=${job.environment.A}\", env: {C: "
      "\"${...tpu.name}\"}}\n";
  const core::JobSpec spec = MustLoad(RequestOf(text)).spec;
  EXPECT_EQ(spec.command.cmd, "export P=${tpu.name} A=${tpu.name}/x");
  EXPECT_EQ(spec.environment.at("A"), "${tpu.name}/x");
  EXPECT_EQ(spec.environment.at("B"), "${tpu.name}");
  EXPECT_EQ(spec.setup[0].run, "echo ${tpu.name}");
  EXPECT_EQ(spec.tpu.metadata.at("n"), "my-train") << "the prefix, where no attempt is known";
  EXPECT_EQ(spec.command.env.at("C"), "${tpu.name}");
}

}  // namespace
}  // namespace jobman::config
