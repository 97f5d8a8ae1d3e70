#pragma once

#include <map>
#include <memory>
#include <string>

#include "jobman/ports/slice_api.hpp"

namespace jobman::test {

/// A cloud behind a ports::SliceApi, and what a test can do to it directly. It offers v4-8 and
/// v4-32 in us-central2-b, but no v5p; it also has europe-west4-a.
class SliceCloud {
 public:
  virtual ~SliceCloud() = default;
  virtual ports::SliceApi& slices() = 0;
  virtual ports::Catalog& catalog() = 0;
  virtual asio::io_context& loop() = 0;
  /// Lets a little time pass.
  virtual void Pass() = 0;

  /// From now on a create takes long enough to be observed, however slow the machine is.
  virtual void TakeTimeToCreate() = 0;
  /// Sets how many more slices of the type us-central2-b has capacity for.
  virtual void SetStock(const std::string& type, int slices) = 0;
  /// Gives us-central2-b these reservations: names, and numbers of chips.
  virtual void Reserve(const std::map<std::string, int>& chips) = 0;
  /// The next create of a v4 in us-central2-b exceeds the project's quota.
  virtual void ExhaustQuota() = 0;
  /// The next call fails with this error; `word` is jobman-sim's name for it.
  virtual void FailNextCall(const std::string& word, base::Error error) = 0;
  /// The next create succeeds, but its reply is lost.
  virtual void LoseNextReply() = 0;
  virtual void Preempt(const std::string& name) = 0;
  /// The service fails the queued resource: no capacity.
  virtual void GiveUp(const std::string& queued) = 0;
  /// Publishes the keys of the node's hosts, if they do not do so by themselves.
  virtual void PublishHostKeys(const std::string& node, int hosts) = 0;
  /// From now on the cloud does not answer.
  virtual void Vanish() = 0;
  /// The node's metadata in the cloud.
  virtual std::map<std::string, std::string> MetadataOf(const core::SliceRef& node) = 0;
};

/// The fake that unit tests use.
std::unique_ptr<SliceCloud> MakeFakeCloud();
/// The client of module cloud, over HTTP, against a jobman-sim of its own.
std::unique_ptr<SliceCloud> MakeSimulatedCloud();

}  // namespace jobman::test
