#include "cli/offer_check.hpp"

#include <algorithm>

#include "cli/host_world.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kKeep = std::chrono::hours{24};
using Words = std::vector<std::string>;

bool CannotTell(const base::Error& error) {
  return error.code == base::Code::kUnavailable || error.code == base::Code::kDeadlineExceeded ||
         error.code == base::Code::kInternal || error.reason == base::Reason::kRateLimit;
}

/// Asks through the store's cache.
class Offers {
 public:
  Offers(App& app, ports::Cache& cache, const base::StatePaths& paths, const core::JobSpec& spec)
      : app_(app), cache_(cache), paths_(paths), spec_(spec) {}

  base::Result<Words> Types() {
    return Ask("types", [](ports::Catalog& catalog, core::Place place) {
      return catalog.AcceleratorTypes(std::move(place));
    });
  }
  base::Result<Words> Runtimes() {
    return Ask("runtimes", [](ports::Catalog& catalog, core::Place place) {
      return catalog.RuntimeVersions(std::move(place));
    });
  }

 private:
  template <class Call>
  base::Result<Words> Ask(const std::string& what, Call call) {
    const std::string key = "offers:" + what + ":" + spec_.cloud.endpoint + ":" +
                            spec_.tpu.project + ":" + spec_.tpu.zone;
    const auto kept = app_.Await(cache_.Cached(key));
    if (kept.ok() && *kept && app_.Now() - (*kept)->at < kKeep) {
      return base::Split((*kept)->value, '\n');
    }
    JM_ASSIGN_OR_RETURN(ports::Catalog* const catalog, Open());
    const core::Place place{.project = spec_.tpu.project, .zone = spec_.tpu.zone};
    JM_ASSIGN_OR_RETURN(Words words, base::RunTask(loop_, call(*catalog, place)));
    const bool lasting = spec_.cloud.endpoint != "local";  // a simulator may come back as another
    if (lasting && !words.empty()) {
      const ports::CachedFact fact{.value = base::Join(words, "\n"), .at = app_.Now()};
      JM_TRY(app_.Await(cache_.PutInCache(key, fact)));
    }
    return words;
  }

  base::Result<ports::Catalog*> Open() {
    if (!cloud_) {
      JM_ASSIGN_OR_RETURN(cloud_, OpenCloud(loop_, paths_, spec_.cloud));
    }
    return &cloud_->catalog();
  }

  App& app_;
  ports::Cache& cache_;
  const base::StatePaths& paths_;
  const core::JobSpec& spec_;
  asio::io_context loop_ = {};
  std::unique_ptr<cloud::Cloud> cloud_ = {};
};

/// What is wrong, at the place of its key in the job file.
base::Error WrongKey(config::Problem place, std::string message, std::string hint,
                     base::Reason reason) {
  place.message = std::move(message);
  place.hint = std::move(hint);
  base::Error error = config::ToError({place});
  error.reason = reason;
  return error;
}

base::Status MustContain(const base::Result<Words>& offered, const std::string& wanted,
                         const std::string& message, base::Reason reason, const std::string& keys,
                         const config::Problem& place) {
  if (!offered.ok()) return offered.error();
  if (offered->empty()) return base::Ok();
  if (std::find(offered->begin(), offered->end(), wanted) != offered->end()) return base::Ok();
  std::string hint = "it offers " + base::Join(*offered, ", ");
  if (offered->size() > 12)
    hint = "set " + keys + " to one of the " + std::to_string(offered->size()) + " that it offers";
  if (const auto near = base::Nearest(wanted, *offered)) hint = "did you mean " + *near + "?";
  return WrongKey(place, message, hint, reason);
}

base::Status CheckValidUntil(const config::Loaded& loaded, base::TimePoint now) {
  const auto& until = loaded.spec.tpu.valid_until;
  if (!until || *until > now) return base::Ok();
  return WrongKey(loaded.places.at("tpu.valid_until"),
                  "tpu.valid_until, " + base::FormatRfc3339(*until) + ", has passed",
                  "set a later time, or a duration such as 6h", base::Reason::kNone);
}

}  // namespace

base::Status CheckOffer(App& app, ports::Cache& cache, const config::Loaded& loaded) {
  JM_TRY(CheckValidUntil(loaded, app.Now()));
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  Offers offers(app, cache, paths, loaded.spec);
  const core::TpuSpec& tpu = loaded.spec.tpu;
  const std::string in_zone = "zone " + tpu.zone + " does not offer ";
  auto checked = MustContain(offers.Types(), tpu.accelerator, in_zone + tpu.accelerator,
                             base::Reason::kBadAccelerator, "tpu.accelerator or tpu.zone",
                             loaded.places.at("tpu.accelerator"));
  if (checked.ok()) {
    checked =
        MustContain(offers.Runtimes(), tpu.version, in_zone + "the runtime version " + tpu.version,
                    base::Reason::kBadRuntime, "tpu.version", loaded.places.at("tpu.version"));
  }
  if (checked.ok() || !CannotTell(checked.error())) return checked;
  app.Say("note: what zone " + tpu.zone +
          " offers could not be asked: " + checked.error().ToString());
  return base::Ok();
}

}  // namespace jobman::cli
