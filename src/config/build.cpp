#include "config/build.hpp"

#include "config/names.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::config {
namespace {

std::string BuildName(Reader& reader) {
  if (reader.Has("job.name")) {
    reader.Complain("job.name", CheckJobName(reader.Text("job.name")));
    return reader.Text("job.name");
  }
  reader.Note("job.name", "the file's name");
  return MakeValidName(reader.request().file.stem().string());
}

void CheckLabels(Reader& reader, const std::string& path) {
  for (const auto& [key, value] : reader.TextMap(path)) {
    reader.ComplainOfKey(path, key, CheckLabelKey(key));
    reader.Complain(path + "." + key, CheckLabelValue(value));
    if (path == "tpu.labels" && key.starts_with("jobman-")) {
      reader.ComplainOfKey(path, key,
                           base::InvalidArgument("\"" + key + "\" is one of jobman's own labels",
                                                 "choose a key without \"jobman-\""));
    }
  }
}

void CheckEnvironment(Reader& reader, const std::string& path) {
  for (const auto& [name, value] : reader.TextMap(path)) {
    if (!base::IsEnvName(name)) {
      reader.ComplainOfKey(path, name,
                           base::InvalidArgument("\"" + name + "\" cannot name a variable",
                                                 "names hold letters, digits and _"));
    } else {
      reader.ComplainOfKey(path, name, CheckVariable(name, value));
    }
  }
}

/// "google" stands for the real API; URLs lose the slash that some end with.
std::string EndpointOf(std::string text) {
  if (text == "google") return "https://tpu.googleapis.com";
  while (text.ends_with('/')) text.pop_back();
  return text;
}

void CheckEndpoint(Reader& reader, const std::string& endpoint, const std::string& found_in) {
  const bool url = endpoint.starts_with("https://") || endpoint.starts_with("http://");
  const bool has_host =
      url && endpoint.find_first_not_of('/', endpoint.find(':') + 1) != std::string::npos;
  if (endpoint == "local" || (has_host && endpoint.find(' ') == std::string::npos)) return;
  const std::string where = found_in.empty() ? "cloud.endpoint" : found_in;
  reader.Complain("cloud.endpoint", where + ": \"" + endpoint + "\" is no endpoint",
                  "write google, local, or an http(s) URL");
}

}  // namespace

core::CloudSpec BuildCloud(Reader& reader) {
  std::string endpoint = reader.Text("cloud.endpoint");
  std::string found_in;
  if (!reader.Has("cloud.endpoint")) {
    const auto named = reader.Env("JOBMAN_ENDPOINT");
    if (named) reader.Note("cloud.endpoint", found_in = "JOBMAN_ENDPOINT");
    endpoint = named.value_or("google");
  }
  core::CloudSpec cloud{.endpoint = EndpointOf(endpoint),
                        .token_command = reader.Text("cloud.token_command")};
  CheckEndpoint(reader, cloud.endpoint, found_in);
  if (reader.Has("cloud.token_file")) {
    cloud.token_file =
        reader.ResolvePath("cloud.token_file", reader.Text("cloud.token_file")).string();
  }
  if (!cloud.token_file.empty() && !cloud.token_command.empty()) {
    reader.Complain("cloud.token_command",
                    "cloud.token_file and cloud.token_command exclude each other", "keep one");
  }
  return cloud;
}

core::RetrySpec BuildRetries(Reader& reader) {
  core::RetrySpec retries;
  if (const auto loop = reader.Bool("job.loop")) {
    retries.preemption = *loop ? std::nullopt : std::optional(0);
    reader.Note("retries.preemption", "job.loop");
  }
  if (const auto count = reader.Count("retries.preemption")) retries.preemption = *count;
  if (const auto count = reader.Count("retries.failure")) retries.failure = *count;
  if (const auto count = reader.Count("retries.infra")) retries.infra = *count;
  if (const auto backoff = reader.Duration("retries.backoff")) {
    retries.backoff = *backoff;
    if (backoff->count() == 0) {
      reader.Complain("retries.backoff", "retries.backoff must be longer than nothing");
    }
  }
  retries.backoff_cap = std::max(retries.backoff_cap, retries.backoff);
  return retries;
}

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
  for (std::size_t i = 0; i < spec.setup.size(); ++i) {
    check("setup[" + std::to_string(i) + "].hosts", spec.setup[i].hosts);
  }
  if (spec.worker_num && *spec.worker_num != count) {
    reader.Complain("job.worker_num",
                    "job.worker_num is " + std::to_string(*spec.worker_num) + ", but " + has);
  }
}

core::JobSpec BuildSpec(Reader& reader) {
  core::JobSpec spec;
  spec.name = BuildName(reader);
  spec.labels = reader.TextMap("job.labels");
  spec.environment = reader.TextMap("job.environment");
  spec.worker_num = reader.Number("job.worker_num");
  for (const std::string path : {"job.labels", "tpu.labels"}) CheckLabels(reader, path);
  for (const std::string path : {"job.environment", "command.env"}) CheckEnvironment(reader, path);
  spec.cloud = BuildCloud(reader);
  spec.tpu = BuildTpu(reader, spec);
  spec.ssh = BuildSsh(reader, spec);
  spec.setup = BuildSetup(reader);
  spec.command = BuildCommand(reader);
  spec.retries = BuildRetries(reader);
  spec.watchdog = BuildWatchdog(reader);
  spec.hooks = BuildHooks(reader);
  spec.smtp = BuildSmtp(reader);
  CheckHosts(reader, spec);
  return spec;
}

}  // namespace jobman::config
