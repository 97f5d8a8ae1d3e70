// A resolved job printed as YAML loads to the same job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/spec_json.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/unit/config/keys.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using core::AllocationMode;
using core::Pricing;
using std::chrono::seconds;

/// Makes random specs valid for a job file, by changing values that need a certain form. A new key
/// with such a form needs a line here.
class ValidSpec {
 public:
  explicit ValidSpec(unsigned seed) : random_(seed) { random_.Fill(spec_); }

  core::JobSpec Make() {
    spec_.name = Name("job-");
    Rename(spec_.environment, "VAR");
    Rename(spec_.labels, "key-");
    for (auto& [key, value] : spec_.labels) value = Name("v");
    spec_.cloud.endpoint = Either("https://tpu.googleapis.com", "local");
    MakeLogin(spec_.cloud);
    MakeTpu(spec_.tpu);
    spec_.ssh = {
        .user = Name("u"),
        .private_key = Path(),
        .port = random_.Number(65535),
        .address = random_.Coin() ? core::AddressChoice::kExternal : core::AddressChoice::kInternal,
        .proxy_jump = Either("", "ada@[::1]:22, two"),
        .identities = std::move(spec_.ssh.identities)};
    if (spec_.ssh.proxy_jump.empty()) spec_.ssh.proxy_command = Name("nc '%h' ${x} %% ");
    for (core::Identity& key : spec_.ssh.identities)
      key.private_key = Path(), key.public_key = Path();
    for (core::SetupStep& step : spec_.setup) {
      step.name = Name("step-");
      step.run += "x";
      if (step.timeout) *step.timeout += seconds{1};
    }
    MakeCommand(spec_.command);
    spec_.retries.backoff += seconds{1};
    spec_.retries.backoff_cap += spec_.retries.backoff;
    if (spec_.watchdog.no_output) *spec_.watchdog.no_output += seconds{1};
    if (spec_.watchdog.max_duration) *spec_.watchdog.max_duration += seconds{1};
    for (core::OutputRule& rule : spec_.watchdog.bad_output) rule.match = Name("a[b-c]{1,2}|");
    spec_.logs.max_bytes += 1 << 20;
    MakeSmtp(spec_.smtp);
    for (core::HookSpec& hook : spec_.hooks) MakeHook(hook);
    if (!spec_.worker_num.empty()) spec_.worker_num = "auto";
    spec_.group = Name("group-");
    if (spec_.max_running) spec_.max_running = 1 + *spec_.max_running % 10'000;
    spec_.array.index %= 1000;
    spec_.array.size = 1 + spec_.array.size % 1000;
    Rename(spec_.matrix, "VALUE");
    MakeQueue();
    MakeSetup();
    return std::move(spec_);
  }

 private:
  std::string Name(const std::string& prefix) { return prefix + std::to_string(++names_); }
  std::string Path() { return Name("/nowhere/file "); }
  const char* Either(const char* a, const char* b) { return random_.Coin() ? a : b; }

  /// A job has one login.
  void MakeLogin(core::CloudSpec& cloud) {
    const std::string command = cloud.token_command;
    cloud.token_file.clear(), cloud.token_command.clear(), cloud.credentials_file.clear();
    const int login = random_.Number(2);
    if (login == 0) cloud.token_file = Path();
    if (login == 1) cloud.token_command = command;
    if (login == 2) cloud.credentials_file = Path();
  }
  void Rename(std::map<std::string, std::string>& map, const std::string& prefix) {
    std::map<std::string, std::string> renamed;
    for (auto& [key, value] : map) renamed[Name(prefix)] = std::move(value);
    map = std::move(renamed);
  }

  /// A worker has no command.
  void MakeQueue() {
    if (!spec_.queue) return;
    spec_.queue->enabled = true;
    spec_.worker_num = "auto";  // without one, it gets that
    spec_.queue->config = Path();
    if (spec_.queue->idle) *spec_.queue->idle += seconds{1};
    spec_.command.cmd.clear();
  }

  /// Sections that job.env_type does not name are empty.
  void MakeSetup() {
    const core::EnvType type = spec_.env_type.value_or(core::EnvType::kNone);
    spec_.docker = type != core::EnvType::kDocker
                       ? core::DockerSpec{}
                       : core::DockerSpec{.image = Name("an/image:"),
                                          .flags = std::move(spec_.docker.flags),
                                          .env_vars = {Name("A") + "=" + spec_.docker.workdir},
                                          .mount_dirs = {"~/a", "/b:/c"},
                                          .workdir = std::move(spec_.docker.workdir)};
    spec_.conda = type != core::EnvType::kConda
                      ? core::CondaSpec{}
                      : core::CondaSpec{.name = Name("env"), .config_file = "name: env\n"};
    spec_.venv = type != core::EnvType::kVenv ? core::VenvSpec{}
                                              : core::VenvSpec{.name = Name("env"),
                                                               .requirements_file = "jax[tpu]\n",
                                                               .python = "python3.11"};
    MakeCode(spec_.code);
    spec_.nfs = {.path = "/srv/shared", .exported = Either("", "10.0.0.9:/vol")};
    core::GcsfuseSpec& gcsfuse = spec_.gcsfuse;
    gcsfuse.bucket_name = Name("bucket");
    gcsfuse.mount_path = Name("/mnt/");
    MakeCache(gcsfuse.cache);
    for (core::BucketMount& mount : gcsfuse.extra_mounts) {
      mount.bucket_name = Name("bucket");
      mount.mount_path = Name("~/mnt");
      MakeCache(mount.cache);
    }
  }

  void MakeCode(core::CodeSpec& code) {
    code.path = Name(random_.Coin() ? "~/code" : "/opt/code");
    code.max_size += 1;
    code.submodules = random_.Coin();
    const core::CodeSnapshot taken = {.sha256 = Name("a"),
                                      .files = random_.Number(9),
                                      .packed = random_.Number(9),
                                      .unpacked = std::int64_t{5} << 30,
                                      .commit = Either("", "c0ffee"),
                                      .changed = random_.Coin()};
    if (random_.Coin()) code.snapshot = taken;
    if (random_.Coin()) {
      code.dir = "/usr";
      code.exclude = {Name("*.o")};
      code.git.clear(), code.ref.clear(), code.submodules = false;
    } else {
      code.dir.clear(), code.exclude.clear();
      code.git = Either("https://example.com/a/b.git", "me@host:b");
      code.ref = Either("", "v1.0");
    }
  }

  void MakeCache(core::GcsfuseCache& cache) {
    if (!cache.dir.empty()) cache.dir = Path();
    for (std::string* number : {&cache.metadata_ttl_secs, &cache.stat_cache_max_size_mb,
                                &cache.type_cache_max_size_mb, &cache.file_cache_max_size_mb}) {
      if (!number->empty()) *number = Either("-1", "100");
    }
  }

  void MakeTpu(core::TpuSpec& tpu) {
    tpu.accelerator = "v4-32";  // with 4 hosts, as many as random host sets need
    if (!tpu.topology.empty()) tpu.topology = "2x2x4";  // of the same type
    tpu.num_slices = 1 + random_.Number(255);
    if (!tpu.name.empty()) tpu.name = Name("slice-");
    if (!tpu.existing.empty()) tpu.existing = Name("node-"), tpu.num_slices = 1;
    tpu.zone = Either("us-central2-b", "europe-west4-a");
    tpu.project = Name("project-");
    tpu.version += "v";
    const bool queued = tpu.allocation_mode == AllocationMode::kQueuedResources;
    if (queued && tpu.pricing == Pricing::kPreemptible) tpu.pricing = Pricing::kSpot;
    if (!queued && tpu.pricing == Pricing::kFlexStart) tpu.pricing = Pricing::kOnDemand;
    const bool bound = tpu.pricing == Pricing::kReservationBound;
    if (!bound && tpu.pricing != Pricing::kReserved) tpu.reservation.clear();
    if (bound) tpu.reservation += "x";
    if (!queued) tpu.valid_for = {}, tpu.valid_until = {}, tpu.max_run_duration = {};
    if (tpu.max_run_duration) *tpu.max_run_duration += seconds{1};
    if (tpu.pricing == Pricing::kFlexStart) tpu.max_run_duration = seconds{14'400};
    if (tpu.valid_for) *tpu.valid_for += seconds{1};
    for (std::string* name : {&tpu.network, &tpu.subnetwork, &tpu.reservation})
      if (!name->empty()) *name = Name("name-");
    if (!tpu.service_account.empty()) tpu.service_account = Name("a") + "@example.com";
    for (std::string& tag : tpu.tags) tag = Name("tag-");
    Rename(tpu.labels, "key-");
    for (auto& [key, value] : tpu.labels) value = Name("v");
    Rename(tpu.metadata, "key-");
    if (!tpu.startup_script.empty()) tpu.startup_script.insert(0, Either("#!", "a\n"));
  }

  void MakeCommand(core::CommandSpec& command) {
    command.cmd += "x";
    Rename(command.env, "VAR");
    for (core::SecretRef& secret : command.secrets) {
      secret.name = Name("SECRET");
      if (!secret.file.empty()) secret.file = Path();
    }
    command.on_notice.signal = Either("USR1", "none");
  }

  void MakeSource(core::SecretSource& source) {
    if (source.empty()) return;
    source = random_.Coin() ? core::SecretSource{.env = Name("ENV")}
                            : core::SecretSource{.file = Path()};
  }

  void MakeSmtp(core::SmtpSpec& smtp) {
    if (smtp.empty()) smtp.host = "somewhere";
    smtp.host += "x";
    if (smtp.tls == core::SmtpTls::kNone) smtp.host = "localhost";  // gets the password
    smtp.from = "a@example.com";
    smtp.port = 1 + random_.Number(65534);
    MakeSource(smtp.password);
    if (smtp.password.empty()) smtp.user.clear();
    if (!smtp.password.empty()) smtp.user += "u";
  }

  void MakeHook(core::HookSpec& hook) {
    core::HookSpec made{.event = hook.event, .token = hook.token, .timeout = hook.timeout};
    MakeSource(made.token);
    made.timeout += seconds{1};
    switch (random_.Number(4)) {
      case 0:
        made.command = hook.command + "x";
        made.folder = Path();
        break;
      case 1:
        made.url = Name("https://example.com/?${");
        break;
      case 2:
        made.url_from = {.env = Name("ENV")};
        break;
      case 3:
        made.mail_to = {Name("a@b"), Name("c@d")};
        break;
      case 4:
        made.brevo = {
            .api_key = {.env = Name("ENV")}, .sender = Name("a@b"), .receiver = Name("c@d")};
        break;
    }
    hook = made;
  }

  test::SpecFiller random_;
  core::JobSpec spec_ = {};
  int names_ = 0;
};

TEST(RoundTrip, AResolvedJobLoadsToTheSameJob) {
  std::set<std::string_view> covered;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Loaded loaded{.spec = ValidSpec(seed).Make()};
    const std::string yaml = ResolvedYaml(loaded, false);
    const LoadResult again = Load(testing::RequestOf(yaml));
    ASSERT_TRUE(again.loaded) << testing::Rendered(again) << yaml;
    ASSERT_EQ(again.loaded->spec, loaded.spec) << yaml;
    ASSERT_EQ(ResolvedYaml(*again.loaded, false), yaml);
    testing::ForEachKey(core::SpecToJson(loaded.spec), "",
                        [&](const KeyRow* row, const base::Json& /*value*/) {
                          if (row != nullptr) covered.insert(row->path);
                        });
  }
  for (const KeyRow& row : Schema()) {
    EXPECT_EQ(covered.contains(row.path), row.status == KeyStatus::kWorks) << row.path;
  }
}

}  // namespace
}  // namespace jobman::config
