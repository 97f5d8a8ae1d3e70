#pragma once

#include <map>
#include <memory>
#include <string>

#include "jobman/ports/slice_api.hpp"

namespace jobman::test {

/// A cloud with an implementation of ports::SliceApi in front, and what a test may do to it behind
/// the port's back. Offers v4-8 and v4-32 in us-central2-b, and no v5p there; knows europe-west4-a.
class SliceCloud {
 public:
  virtual ~SliceCloud() = default;
  virtual ports::SliceApi& slices() = 0;
  virtual ports::Catalog& catalog() = 0;
  virtual asio::io_context& loop() = 0;
  /// Lets a little time pass.
  virtual void Pass() = 0;

  /// Creating takes long enough to be seen, however slow this machine is.
  virtual void TakeTimeToCreate() = 0;
  /// How many more slices of the type us-central2-b can give.
  virtual void SetStock(const std::string& type, int slices) = 0;
  /// The next create of a v4 in us-central2-b asks for more than the project may have.
  virtual void ExhaustQuota() = 0;
  /// The next call ends with this error; `word` is what jobman-sim calls it.
  virtual void FailNextCall(const std::string& word, base::Error error) = 0;
  /// The next create is done, but its answer gets lost.
  virtual void LoseNextReply() = 0;
  virtual void Preempt(const std::string& name) = 0;
  /// The service gives the queued resource up: no capacity.
  virtual void GiveUp(const std::string& queued) = 0;
  /// The hosts of the node publish their keys, where they do not do so by themselves.
  virtual void PublishHostKeys(const std::string& node, int hosts) = 0;
  /// From now on nobody answers.
  virtual void Vanish() = 0;
  /// The metadata that a node has in the cloud.
  virtual std::map<std::string, std::string> MetadataOf(const core::SliceRef& node) = 0;
};

/// The fake that unit tests put at the port.
std::unique_ptr<SliceCloud> MakeFakeCloud();
/// The client of module cloud, over HTTP, against a jobman-sim of its own.
std::unique_ptr<SliceCloud> MakeSimulatedCloud();

}  // namespace jobman::test
