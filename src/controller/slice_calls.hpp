#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/zone_watch.hpp"

namespace jobman::controller {

/// The calls by which slices are created, looked up and deleted; their answers go to the book. For
/// one slice a delete waits until its create was answered: it would miss what that brings.
class SliceCalls {
 public:
  SliceCalls(asio::io_context& loop, const Ports& ports, const Options& options, Clouds& clouds,
             JobBook& book, ZoneWatch& watch);
  ~SliceCalls();

  void Do(const core::Job& job, const core::CreateSlice& create);
  void Do(const core::Job& job, const core::DeleteSlice& remove);
  void Do(const core::Job& job, const core::LookUpSlice& look);
  /// Whether no call is under way.
  bool Quiet() const { return creating_.empty() && deleting_.empty() && looking_up_.empty(); }

 private:
  /// Whose call it is, and to which cloud.
  struct Caller {
    core::JobId job = {};
    core::CloudSpec cloud = {};
    core::SshSpec ssh = {};
  };
  struct Pending {
    Caller caller = {};
    core::SliceRef slice = {};
  };
  static Caller CallerFor(const core::Job& job);
  static base::Task<void> Create(SliceCalls* self, Caller caller, core::SliceRequest request);
  static base::Task<void> Delete(SliceCalls* self, Caller caller, core::SliceRef slice);
  static base::Task<void> LookUp(SliceCalls* self, Caller caller, core::SliceRef slice);
  base::Task<core::CreateAnswered> AskForSlice(Caller caller, core::SliceRequest request);
  base::Task<core::DeleteAnswered> AskToDelete(Caller caller, core::SliceRef slice);
  base::Task<base::Result<bool>> DeletePart(std::shared_ptr<ports::SliceApi> api, core::JobId job,
                                            core::SliceRef part);
  static base::Task<base::Result<Listing>> GetByName(std::shared_ptr<ports::SliceApi> api,
                                                     core::SliceRef slice);
  void StartDelete(Caller caller, core::SliceRef slice);

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  Clouds& clouds_;
  JobBook& book_;
  ZoneWatch& watch_;
  base::CancelScope scope_ = {};
  std::set<std::string> creating_ = {};
  std::set<std::string> looking_up_ = {};
  /// By name; with a value: it waits for the create of that name.
  std::map<std::string, std::optional<Pending>> deleting_ = {};
};

}  // namespace jobman::controller
