#include "config/resolve.hpp"

#include <algorithm>

#include "config/merge.hpp"
#include "config/names.hpp"
#include "jobman/base/regex.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/config/schema.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

void ResolveName(Reader& reader, core::JobSpec& spec) {
  if (reader.Has("job.id")) spec.worker_num.clear();  // of a snapshot, whose names have the suffix
  const std::string suffix = spec.worker_num;
  if (suffix != kFreeNumber) spec.worker_num.clear();
  if (reader.Has("job.name")) return;
  reader.Note("job.name", "the file's name");
  spec.name = MakeValidName(reader.request().file.stem().string());
  if (!suffix.empty() && suffix != kFreeNumber) spec.name += "_" + suffix;
}

/// Any text may be a name, but not by every name a job is found.
void CheckFindable(Reader& reader, const std::string& name) {
  const bool number = base::ParseNumber(name).has_value();
  if (!number && name.find_first_of("*?[") == std::string::npos) return;
  reader.Warn(
      "job.name",
      "commands take " + name + " for " + (number ? "the number of a job" : "a pattern of names"),
      "they find this job by its number; choose another name to find it by that");
}

void ResolveGroup(Reader& reader, core::JobSpec& spec) {
  if (!spec.max_running || !spec.group.empty()) return;
  reader.Note("job.group", "job.name");
  spec.group = spec.name;
}

/// Replaces "google" by the URL of the real API, and removes trailing slashes.
std::string EndpointOf(std::string text) {
  if (text == "google") return core::kDefaultEndpoint;
  while (text.ends_with('/')) text.pop_back();
  return text;
}

void CheckCloud(Reader& reader, const std::string& endpoint, const std::string& found_in) {
  const base::Status checked = CheckEndpoint(endpoint);
  if (checked.ok()) return;
  reader.Complain("cloud.endpoint", found_in + ": " + checked.error().message,
                  checked.error().hint);
}

/// Who could change them could see the token, or run commands as this user.
void CheckTokenSource(Reader& reader, const core::CloudSpec& cloud) {
  const auto check_file = [&reader](const char* key, const std::string& file) {
    if (file.empty()) return;
    reader.Complain(
        key, base::CheckTrusted(file, {.what = "the file", .instead = "name a file of your own"}));
  };
  check_file("cloud.token_file", cloud.token_file);
  if (reader.Has("cloud.credentials_file")) {
    check_file("cloud.credentials_file", cloud.credentials_file);
  }
  reader.Complain(
      "cloud.token_command",
      base::CheckTrustedCommand(cloud.token_command, reader.defaults().working_dir,
                                {.what = "the command", .instead = "name one of your own"}));
}

void CheckOneLogin(Reader& reader, const core::CloudSpec& cloud) {
  const std::pair<const char*, const std::string*> logins[] = {
      {"cloud.token_file", &cloud.token_file},
      {"cloud.token_command", &cloud.token_command},
      {"cloud.credentials_file", &cloud.credentials_file}};
  const char* first = nullptr;
  for (const auto& [key, value] : logins) {
    if (value->empty()) continue;
    if (first != nullptr) {
      reader.Complain(key, std::string(first) + " and " + key + " cannot be used together",
                      "remove one of them");
    }
    first = key;
  }
}

/// Recorded with the job: a controller that is started later has another environment.
void TakeGoogleDefaults(Reader& reader, core::CloudSpec& cloud) {
  const auto take = [&reader](const std::string& key, const char* variable, std::string& value) {
    const auto named = reader.Env(variable);
    if (!value.empty() || !named) return;
    value = *named;
    reader.Note(key, variable);
  };
  if (cloud.token_file.empty() && cloud.token_command.empty()) {
    std::string& file = cloud.credentials_file;
    take("cloud.credentials_file", "GOOGLE_APPLICATION_CREDENTIALS", file);
    // Of the shell's folder: the controller is in another one.
    if (!file.empty()) file = ResolvePath(reader.defaults(), reader.defaults().working_dir, file);
  }
  take("cloud.impersonate_service_account", "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
       cloud.impersonate_service_account);
}

void ResolveCloud(Reader& reader, core::CloudSpec& cloud) {
  std::string found_in = reader.Name("cloud.endpoint");
  if (!reader.Has("cloud.endpoint")) {
    const auto named = reader.Env("JOBMAN_ENDPOINT");
    if (named) reader.Note("cloud.endpoint", found_in = "JOBMAN_ENDPOINT");
    cloud.endpoint = named.value_or("google");
  }
  cloud.endpoint = EndpointOf(cloud.endpoint);
  CheckCloud(reader, cloud.endpoint, found_in);
  CheckOneLogin(reader, cloud);
  CheckTokenSource(reader, cloud);
  if (cloud.endpoint == core::kDefaultEndpoint) TakeGoogleDefaults(reader, cloud);
}

void ResolveRetries(Reader& reader, core::RetrySpec& retries) {
  if (const auto loop = reader.Bool("job.loop")) {
    const auto set = [&](const std::string& path, std::optional<int>& budget) {
      if (reader.Has(path)) return;
      budget = *loop ? std::nullopt : std::optional(0);
      reader.Note(path, "job.loop");
    };
    set("retries.preemption", retries.preemption);
    if (*loop) set("retries.failure", retries.failure);
    if (*loop) set("retries.infra", retries.infra);
  }
  if (!reader.Has("retries.backoff_cap")) {
    retries.backoff_cap = std::max(retries.backoff_cap, retries.backoff);
  } else if (retries.backoff_cap < retries.backoff) {
    reader.Complain("retries.backoff_cap", "retries.backoff_cap is less than retries.backoff");
  }
}

/// The lines of all hosts are matched against all rules, by one process.
void CheckRules(Reader& reader, const std::vector<core::OutputRule>& rules) {
  constexpr int kMost = 2000;
  int steps = 0;
  for (const core::OutputRule& rule : rules) {
    const auto regex = base::Regex::Compile(rule.match);
    if (regex.ok()) steps += regex->steps();
  }
  if (steps <= kMost) return;
  reader.Complain("watchdog.bad_output",
                  "watchdog.bad_output: the patterns together are too large: they take " +
                      std::to_string(steps) + " steps, and the limit is " + std::to_string(kMost),
                  "remove some, or use smaller repetitions");
}

/// Checks host numbers against the number of hosts of the accelerator type.
void CheckHosts(Reader& reader, const core::JobSpec& spec) {
  const auto accelerator = core::FindAccelerator(spec.tpu.accelerator);
  if (!accelerator.ok()) return;
  const int count = accelerator->hosts * spec.tpu.num_slices;
  const std::string what = spec.tpu.num_slices > 1 ? core::AcceleratorText(spec.tpu) + " have "
                                                   : "a " + accelerator->type + " has ";
  const std::string has = what + base::Plural(count, "host") +
                          (count > 1 ? ", 0-" + std::to_string(count - 1) : ", number 0");
  const auto check = [&](const std::string& path, const core::HostSet& hosts) {
    if (hosts.all || hosts.numbers.empty() || hosts.numbers.back() < count) return;
    const std::string host = std::to_string(hosts.numbers.back());
    reader.Complain(path, path + ": there is no host " + host + ": " + has);
  };
  check("command.workers", spec.command.workers);
  const std::size_t own = reader.CountItems("setup");  // those of the queue's prefix follow
  for (std::size_t i = 0; i < spec.setup.size(); ++i) {
    check(i < own ? "setup[" + std::to_string(i) + "].hosts"
                  : "job.queue.prefix[" + std::to_string(i - own) + "].workers",
          spec.setup[i].hosts);
  }
}

/// People resume the file that Python jobman kept of a job. What it added there is of no use here.
void WarnOfSnapshot(Reader& reader) {
  std::vector<std::string> keys;
  for (const KeyRow& row : Schema()) {
    if (row.status == KeyStatus::kIgnored && reader.IsWritten(row.path))
      keys.emplace_back(row.path);
  }
  if (keys.empty()) return;
  const bool one = keys.size() == 1;
  const std::string what = one ? "it" : "them";
  reader.Warn(keys.front(),
              base::Join(keys, ", ") + (one ? " is" : " are") + " ignored: Python jobman wrote " +
                  what + " into its snapshot of a job",
              "leave " + what + " out");
}

}  // namespace

void ResolveSpec(Reader& reader, core::JobSpec& spec) {
  ResolveName(reader, spec);
  CheckFindable(reader, spec.name);
  ResolveGroup(reader, spec);
  ResolveCloud(reader, spec.cloud);
  ResolveTpu(reader, spec);
  ResolveSsh(reader, spec);
  ResolveCode(reader, spec.code);
  ResolveSetup(reader, spec);
  ResolveStages(reader, spec);
  ResolveRetries(reader, spec.retries);
  CheckRules(reader, spec.watchdog.bad_output);
  ResolveHooks(reader, spec);
  CheckHosts(reader, spec);
  WarnOfSnapshot(reader);
}

}  // namespace jobman::config
