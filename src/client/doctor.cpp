#include "jobman/client/doctor.hpp"

#include <asio/this_coro.hpp>
#include <iterator>

#include "client/doctor_parts.hpp"
#include "jobman/client/local_cloud.hpp"

namespace jobman::client {
namespace {

/// For an error of which neither it nor its check knows a cure.
constexpr const char* kLookCloser =
    "jobman --verbose doctor logs what is asked, and what comes back";

struct ListedCheck {
  const char* name = "";
  base::Task<Finding> (*run)(CheckupPtr, std::string) = nullptr;
  bool of_cloud = false;  ///< not for the simulator of the home folder
};

constexpr ListedCheck kAllChecks[] = {{"credentials", CheckCredentials, true},
                                      {"project", CheckProject, true},
                                      {"clock", CheckClock, true},
                                      {"Cloud TPU API", CheckApi, true},
                                      {"zone", CheckZone, true},
                                      {"OS Login", CheckOsLogin, true},
                                      {"addresses", CheckAddresses, true},
                                      {"boot disks", CheckDisks, true},
                                      {"quota", CheckQuota, true},
                                      {"SSH key", CheckKey},
                                      {"SSH agent", CheckAgent},
                                      {"host", CheckHost},
                                      {"state folder", CheckFolder},
                                      {"store", CheckStore},
                                      {"controller", CheckController},
                                      {"versions", CheckVersions}};

/// What the coroutines of one Diagnose() share.
struct Round {
  CheckupPtr checkup = {};
  std::vector<std::optional<Finding>> found = {};
  base::Waiters news = {};
};

std::string SimulatorText(const base::StatePaths& paths) {
  const auto local = FindLocalCloud(paths);
  if (!local) return "the cloud is the simulator, which starts when it is needed";
  return "the cloud is the simulator at " + local->endpoint;
}

base::Task<void> RunCheck(std::shared_ptr<Round> round, std::size_t row) {
  const ListedCheck& check = kAllChecks[row];
  const bool local = round->checkup->about.spec.cloud.endpoint == kLocal;
  if (local && check.of_cloud) {
    const std::string why =
        row == 0 ? SimulatorText(round->checkup->context.paths) : "not of the simulator";
    round->found[row] = IsSkipped(check.name, why);
  } else {
    round->found[row] = co_await check.run(round->checkup, check.name);
  }
  round->news.WakeAll();
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kSkipped:
      return "skipped";
  }
  return "failed";
}

Finding IsFine(std::string check, std::string found) {
  return {.check = std::move(check), .found = std::move(found)};
}

Finding IsOdd(std::string check, std::string found, std::string cure) {
  return {.check = std::move(check),
          .result = Verdict::kWarning,
          .found = std::move(found),
          .cure = std::move(cure)};
}

Finding IsSkipped(std::string check, std::string why) {
  return {.check = std::move(check), .result = Verdict::kSkipped, .found = std::move(why)};
}

Finding HasFailed(std::string check, base::Error error, std::string cure) {
  Finding finding{.check = std::move(check), .result = Verdict::kFailed, .found = error.ToString()};
  finding.cure = error.hint.empty() ? std::move(cure) : error.hint;
  if (finding.cure.empty()) finding.cure = kLookCloser;
  finding.failure = std::move(error);
  return finding;
}

base::Task<std::vector<Finding>> Diagnose(Context context, Probes probes, Examination about,
                                          std::function<void(const Finding&)> tell) {
  const auto round = std::make_shared<Round>();
  round->checkup = std::make_shared<Checkup>();
  round->checkup->context = std::move(context);
  round->checkup->probes = std::move(probes);
  round->checkup->about = std::move(about);
  round->found.resize(std::size(kAllChecks));
  const auto executor = co_await asio::this_coro::executor;
  const base::CancelScope scope;
  for (std::size_t row = 0; row < std::size(kAllChecks); ++row) {
    base::Spawn(executor, scope, RunCheck(round, row));
  }
  std::vector<Finding> findings;
  for (std::size_t row = 0; row < std::size(kAllChecks); ++row) {
    while (!round->found[row]) co_await round->news.Wait();
    findings.push_back(*round->found[row]);
    if (tell) tell(findings.back());
  }
  co_return findings;
}

}  // namespace jobman::client
