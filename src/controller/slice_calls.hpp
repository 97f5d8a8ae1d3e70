#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "controller/guest_logins.hpp"
#include "controller/zone_watch.hpp"

namespace jobman::controller {

/// Calls the API to create, look up and delete slices, and to be let in to others; the answers go
/// to the book. A delete waits for the answer of a create of the same slice, which it could miss
/// otherwise. A delete that was answered is not repeated before the next one is decided.
class SliceCalls {
 public:
  SliceCalls(asio::io_context& loop, const Ports& ports, const Options& options, Clouds& clouds,
             JobBook& book, ZoneWatch& watch);
  ~SliceCalls();

  void Do(const core::Job& job, const core::CreateSlice& create);
  void Do(const core::Job& job, const core::DeleteSlice& remove);
  void Do(const core::Job& job, const core::LookUpSlice& look);
  void Do(const core::Job& job, const core::AddLogin& add);
  /// See GuestLogins::Bring().
  void BringGuests(const core::Job& job) { guests_.Bring(job); }
  /// Whether no call is in progress.
  bool Quiet() const {
    return creating_.empty() && deleting_.empty() && looking_up_.empty() && adding_.empty() &&
           guests_.Quiet();
  }

 private:
  /// Whose call it is, and to which cloud.
  struct Caller {
    core::JobId job = {};
    std::string name = {};
    Labels labels = {};  ///< what its slices carry
    core::CloudSpec cloud = {};
    core::SshSpec ssh = {};
    std::optional<core::TimePoint> delete_decided = {};
  };
  struct Pending {
    Caller caller = {};
    core::SliceRef slice = {};
  };
  Caller CallerFor(const core::Job& job) const;
  static base::Task<void> Create(SliceCalls* self, Caller caller, core::SliceRequest request);
  static base::Task<void> Delete(SliceCalls* self, Caller caller, core::SliceRef slice);
  static base::Task<void> LookUp(SliceCalls* self, Caller caller, core::SliceRef slice);
  static base::Task<void> AddLogin(SliceCalls* self, Caller caller, core::SliceRef slice);
  base::Task<base::Status> AskForLogin(Caller caller, core::SliceRef slice);
  base::Task<core::CreateAnswered> AskForSlice(Caller caller, core::SliceRequest request);
  base::Task<core::DeleteAnswered> AskToDelete(Caller caller, core::SliceRef slice);
  static base::Task<base::Result<Listing>> GetByName(std::shared_ptr<ports::SliceApi> api,
                                                     core::SliceRef slice);
  void StartDelete(Caller caller, core::SliceRef slice);

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  Clouds& clouds_;
  JobBook& book_;
  ZoneWatch& watch_;
  GuestLogins guests_;
  base::CancelScope scope_ = {};
  std::set<std::string> creating_ = {};
  std::set<std::string> looking_up_ = {};
  std::set<std::string> adding_ = {};
  /// By name; a value waits for the create of that name.
  std::map<std::string, std::optional<Pending>> deleting_ = {};
  /// When the last delete that was clearly answered was decided, by name of its slice.
  std::map<std::string, core::TimePoint> answered_ = {};
};

}  // namespace jobman::controller
