#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What a zone offers, or why that is not known.
struct ZoneOffers {
  std::string zone = {};
  std::vector<std::string> types = {};           ///< accelerator types
  std::vector<std::string> runtimes = {};        ///< runtime versions
  std::optional<base::TimePoint> asked_at = {};  ///< nothing: the cloud did not say it
  std::optional<base::Error> refused = {};       ///< then the lists are empty
};

struct ZonesQuery {
  core::CloudSpec cloud = {};
  std::string project = {};
  std::vector<std::string> zones = {};
  /// Asks also the project's zones that are not among these. Nothing: only `zones`.
  std::optional<std::vector<std::string>> and_not_in = {};
  bool anew = false;  ///< asks for what is kept, too
};

struct ZonesAnswer {
  std::vector<ZoneOffers> zones = {};  ///< in the order of the query, then the project's others
  /// Set if the cloud does not answer, or there are no credentials: then the zones that were not
  /// asked for that reason have the same error.
  std::optional<base::Error> out_of_reach = {};
};

/// Asks zones for what they offer, several at once; each may take kOfferAnswer. What was asked
/// within kOffersKept is taken from the store's cache, which CheckOffer() uses as well.
base::Task<ZonesAnswer> AskZones(Context context, ZonesQuery query);

/// What this program knows of the zone itself: the types of each generation that the price list
/// has there, and the runtime versions that fit them. kNotFound as `refused` if that is nothing.
ZoneOffers BuiltInOffers(std::string zone);

}  // namespace jobman::client
