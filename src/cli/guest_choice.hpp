#pragma once

#include <string>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::cli {

/// What a command line says about a guest.
struct GuestWords {
  /// Of `keys add` a key: its line, its file, or "-" for standard input. Of `keys remove` that, or
  /// what client::FindGuests() takes.
  std::string key = {};
  std::string user = {};
  std::vector<std::string> jobs = {};
};

/// Words of jobs, checked, and numbers without leading zeros: one job has one word.
base::Result<std::vector<std::string>> ReadJobWords(std::vector<std::string> words);
/// The guest to add. kInvalidArgument, with what to write instead, unless there is one public key,
/// and a user of --user or of the key's comment whom hosts can have.
base::Result<core::Guest> ReadGuest(const GuestWords& words, base::TimePoint now);
/// Those of `guests` who are meant. Errors of client::FindGuests() and of reading the key.
base::Result<std::vector<core::Guest>> ChooseGuests(const std::vector<core::Guest>& guests,
                                                    const GuestWords& words);

}  // namespace jobman::cli
