#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jobman::core {

/// Where a bucket of Cloud Storage is: https://cloud.google.com/storage/docs/locations.
struct BucketLocation {
  /// A region, a dual-region or a multi-region: "us-central2", "nam4", "us".
  std::string name = {};
  /// Of a dual-region that somebody chose: the two, as the service lists them.
  std::vector<std::string> regions = {};
  friend bool operator==(const BucketLocation&, const BucketLocation&) = default;
};

/// The region of a zone: "us-central2" of "us-central2-b".
std::string RegionOf(std::string_view zone);

/// The regions that have the bucket's data: one, or those of a dual-region. None for a
/// multi-region, in which no single region is known to have them, and for a location that is not
/// known here.
std::vector<std::string> RegionsOf(const BucketLocation& bucket);

/// About what it costs to read 1 TB of the bucket in a region, in USD at list price, by continents;
/// 0 in a region that has the data, nothing where it is not known.
std::optional<double> PriceOfReading(const BucketLocation& bucket, std::string_view region);

/// The least and the most of what 1 TB costs to read in a region from a bucket that is somewhere
/// else; nothing for a region that is not known here.
struct PriceRange {
  double least = 0;
  double most = 0;
  friend bool operator==(const PriceRange&, const PriceRange&) = default;
};
std::optional<PriceRange> PricesOfReadingElsewhere(std::string_view region);

}  // namespace jobman::core
