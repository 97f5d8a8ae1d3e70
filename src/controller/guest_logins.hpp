#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/clouds.hpp"

namespace jobman::controller {

/// Keeps who may log in to the nodes of jobs as the store has it (ADR 27): adds the keys of guests
/// that a node was requested without, and takes away those of guests that have left since. Without
/// guests it asks nobody.
class GuestLogins {
 public:
  GuestLogins(asio::io_context& loop, const Ports& ports, Clouds& clouds)
      : loop_(loop), ports_(ports), clouds_(clouds) {}
  ~GuestLogins() { scope_.Cancel(); }

  /// The request of the job's slice with the keys of its guests. A store that does not answer is no
  /// reason to wait with the request: they are added later.
  base::Task<core::SliceRequest> WithGuests(core::SliceRequest request, core::JobId job,
                                            std::string name);
  /// Has the nodes of the job's slice changed, if they are not the user's own. What fails is
  /// logged, and is tried again when the job's next stage begins. While they are being changed, the
  /// newest call waits its turn.
  void Bring(const core::Job& job);
  /// Whether no call is in progress.
  bool Quiet() const { return bringing_.empty(); }

 private:
  struct Visit {
    core::JobId job = {};
    std::string name = {};
    core::JobSpec spec = {};
    core::SliceRef slice = {};
  };
  static base::Task<void> Run(GuestLogins* self, Visit visit);
  base::Task<base::Status> Change(Visit visit);
  base::Task<base::Status> ChangeNodes(Visit visit, core::LoginChange change);
  base::Task<base::Result<bool>> StillStands(Visit visit, std::vector<core::Guest> guests);
  base::Task<base::Status> PutBack(core::Guest was, Visit visit);
  base::Task<base::Status> KeepLeft(std::vector<core::Guest> guests, Visit visit);
  base::Task<base::Status> NoteLeft(std::vector<core::Guest> guests, core::JobId job);
  base::Task<base::Status> StrikeOff(core::Guest guest, core::JobId job);

  asio::io_context& loop_;
  const Ports& ports_;
  Clouds& clouds_;
  base::CancelScope scope_ = {};
  /// The jobs whose nodes are being changed, and for what they are to be changed next.
  std::map<core::JobId, std::optional<Visit>> bringing_ = {};
};

}  // namespace jobman::controller
