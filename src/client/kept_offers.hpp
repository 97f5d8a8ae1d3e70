#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/waiters.hpp"
#include "jobman/client/context.hpp"

namespace jobman::client {

/// Names that a zone offers, and when the cloud said so.
struct KeptOffer {
  std::vector<std::string> words = {};
  base::TimePoint at = {};
};

/// Which zones a cloud has and what they offer, kept in the store's cache for a day (kOffersKept).
/// `create` and `zones` share what is kept. Of the simulator nothing is kept: a new one may offer
/// something else. Must outlive its coroutines; several may ask at once.
class KeptOffers {
 public:
  KeptOffers(Context context, core::CloudSpec cloud)
      : context_(std::move(context)), cloud_spec_(std::move(cloud)) {}

  struct Question {
    core::Place place = {};  ///< of Zones(): without a zone
    /// A kept list without it may be too old: it counts only if the cloud cannot be asked. Empty:
    /// any list will do.
    std::string wanted = {};
    bool anew = false;  ///< whatever is kept
  };
  base::Task<base::Result<KeptOffer>> Types(Question question) {
    const auto call = [place = question.place](ports::Catalog& catalog) {
      return catalog.AcceleratorTypes(place);
    };
    return Ask("types", call, std::move(question));
  }
  base::Task<base::Result<KeptOffer>> Runtimes(Question question) {
    const auto call = [place = question.place](ports::Catalog& catalog) {
      return catalog.RuntimeVersions(place);
    };
    return Ask("runtimes", call, std::move(question));
  }
  /// The zones that the project may use.
  base::Task<base::Result<KeptOffer>> Zones(Question question) {
    const auto call = [project = question.place.project](ports::Catalog& catalog) {
      return catalog.Zones(project);
    };
    return Ask("zones", call, std::move(question));
  }
  /// Why the cloud is not asked any more: it does not answer at all, or there are no credentials.
  /// It would be the same for every zone. Nothing while it can be asked.
  const std::optional<base::Error>& out_of_reach() const { return out_of_reach_; }

 private:
  using Words = std::vector<std::string>;
  using Call = std::function<base::Task<base::Result<Words>>(ports::Catalog&)>;

  base::Task<base::Result<KeptOffer>> Ask(std::string what, Call call, Question question);
  base::Task<std::optional<KeptOffer>> Find(std::string key, Question question);
  base::Task<base::Result<Words>> Fetch(Call call, std::string zone);
  base::Task<base::Status> Open();

  Context context_;
  core::CloudSpec cloud_spec_;
  base::Gate opening_{1};  ///< one coroutine opens the cloud for all
  CloudClient cloud_ = {};
  bool answered_ = false;
  std::optional<base::Error> out_of_reach_ = {};
};

}  // namespace jobman::client
