#include "cli/guest_choice.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/guests.hpp"

namespace jobman::cli {
namespace {

/// Longer than any key, so that what is wrong with a longer text can be said.
constexpr std::size_t kMostOfKey = std::size_t{64} << 10;

bool IsFile(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::exists(base::ExpandHome(word), ignored);
}

/// Whether the word is a key, or tells where one is.
bool HoldsKey(const std::string& word) {
  return word == "-" || word.find(' ') != std::string::npos || IsFile(word);
}

base::Result<core::PublicKey> ReadKey(const std::string& word) {
  const bool line = word.find(' ') != std::string::npos && !IsFile(word);
  if (line) return core::ParsePublicKey(word);
  const base::Path path = word == "-" ? base::Path("/dev/stdin") : base::ExpandHome(word);
  JM_ASSIGN_OR_RETURN(const std::string text, word == "-"
                                                  ? base::ReadFile(path, kMostOfKey)
                                                  : base::ReadRegularFile(path, kMostOfKey));
  auto key = core::ParsePublicKey(text);
  if (!key.ok()) return std::move(key).error().With(word == "-" ? "standard input" : word);
  return key;
}

}  // namespace

base::Result<std::vector<std::string>> ReadJobWords(std::vector<std::string> words) {
  for (std::string& word : words) {
    JM_TRY(core::CheckJobWord(word));
    if (const auto number = base::ParseNumber(word)) word = std::to_string(*number);
  }
  return words;
}

base::Result<core::Guest> ReadGuest(const GuestWords& words, base::TimePoint now) {
  core::Guest guest{.user = words.user, .added_at = now};
  JM_ASSIGN_OR_RETURN(guest.key, ReadKey(words.key));
  if (guest.user.empty()) guest.user = core::UserInComment(guest.key);
  if (guest.user.empty()) {
    return base::InvalidArgument("the comment of the key names no user that hosts could have",
                                 "say as whom it logs in: --user NAME");
  }
  JM_TRY(core::CheckGuestUser(guest.user));
  JM_ASSIGN_OR_RETURN(guest.jobs, ReadJobWords(words.jobs));
  return guest;
}

base::Result<std::vector<core::Guest>> ChooseGuests(const std::vector<core::Guest>& guests,
                                                    const GuestWords& words) {
  // A file that is called like a guest does not hide them.
  auto found = client::FindGuests(guests, words.key, words.user);
  const bool unknown = !found.ok() && found.error().code == base::Code::kNotFound;
  if (!unknown || !HoldsKey(words.key)) return found;
  JM_ASSIGN_OR_RETURN(const core::PublicKey key, ReadKey(words.key));
  return client::FindGuests(guests, core::FingerprintOf(key), words.user);
}

}  // namespace jobman::cli
