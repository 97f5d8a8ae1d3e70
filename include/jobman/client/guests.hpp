#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/guest.hpp"

/// Who is let in to the hosts of slices beside the jobs' own logins (ADR 27).
namespace jobman::client {

/// What became of a guest on one node, or on the slice of a job that has no nodes yet.
struct GuestVisit {
  enum class Fate {
    kSettled,  ///< the node has the key, or has it no more
    kLater,    ///< the node is not there yet: the controller does it when it is
    kLeft,     ///< nothing is to be done there: see `why`
    kFailed,   ///< `error` says why
  };
  core::JobId job = {};
  std::string name = {};  ///< of the job
  std::string node = {};  ///< or the slice; empty if the job's record cannot be read
  Fate fate = Fate::kSettled;
  std::string why = {};  ///< a few words; of kFailed in `error`
  std::optional<base::Error> error = {};
};
/// "done", "later", "left", "failed".
std::string_view FateName(GuestVisit::Fate fate);

/// What was done about a guest, who is as recorded now.
struct GuestChange {
  core::Guest guest = {};
  bool forgotten = false;  ///< no node has the key any more, and the record is dropped
  std::vector<GuestVisit> visits = {};
};

/// Lets a guest in: records them, so that nodes are requested with the key, then adds the key to
/// the nodes that jobs hold, eight at a time, each within controller::kLoginChange. A guest who is
/// known is let in to more jobs. A node that fails does not stop the others. Nodes that are the
/// user's own (tpu.existing) are left alone.
///
/// The guest's user and words of jobs must be checked (core::CheckGuestUser, CheckJobWord).
/// kNotFound for a number that no job has; kStale if another command changes the record first. One
/// that changes it later, while the nodes are visited, is followed: the nodes are visited again,
/// and the result is that of the record then. kAborted, kStale if that does not end.
base::Task<base::Result<GuestChange>> LetIn(Context context, core::Guest guest);

/// kInvalidArgument for a word of `words` that the guest was not let in by.
base::Status CheckLetInBy(const core::Guest& guest, const std::vector<std::string>& words);

/// Takes a guest's key away from the jobs that `words`, of Guest::jobs, mean; without words from
/// all of them. It is recorded first, so no node gets the key any more; the record is kept as long
/// as some node may have it: repeating the call tries again. Logins that are the job's own stay.
/// Sessions that are open stay open, too. A guest who is let in again meanwhile gets the key back
/// where it was taken away: the result has the record as it is then. Errors of CheckLetInBy(), and
/// of other commands as in LetIn().
base::Task<base::Result<GuestChange>> TakeAway(Context context, core::Guest guest,
                                               std::vector<std::string> words);

/// The guests that a word names: a fingerprint, with or without "SHA256:", or its beginning; a
/// user; or the comment of a key. With `user`, only that user's. kNotFound lists nobody else's
/// keys, but what to do; kInvalidArgument if a beginning fits several keys.
base::Result<std::vector<core::Guest>> FindGuests(const std::vector<core::Guest>& guests,
                                                  const std::string& word, const std::string& user);

}  // namespace jobman::client
