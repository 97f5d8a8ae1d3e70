// Which guests a word of the user names.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/client/guests.hpp"

namespace jobman::client {
namespace {

std::string WithoutHashName(std::string_view print) {
  constexpr std::string_view kHash = "SHA256:";
  return std::string(print.starts_with(kHash) ? print.substr(kHash.size()) : print);
}

constexpr std::size_t kLeastOfFingerprint = 6;

}  // namespace

base::Result<std::vector<core::Guest>> FindGuests(const std::vector<core::Guest>& guests,
                                                  const std::string& word,
                                                  const std::string& user) {
  const std::string print = WithoutHashName(word);
  std::vector<core::Guest> exact;
  std::vector<core::Guest> begins;
  std::set<std::string> prints;
  for (const core::Guest& guest : guests) {
    if (!user.empty() && guest.user != user) continue;
    const std::string its = WithoutHashName(core::FingerprintOf(guest.key));
    const bool named = word == guest.user || (!word.empty() && word == guest.key.comment);
    if (its == print || named) {
      exact.push_back(guest);
    } else if (print.size() >= kLeastOfFingerprint && its.starts_with(print)) {
      begins.push_back(guest);
      prints.insert(its);
    }
  }
  if (!exact.empty()) return exact;
  if (prints.size() > 1)
    return base::InvalidArgument("several keys begin with \"" + word + '"', "write more of it");
  if (!begins.empty()) return begins;
  return base::NotFound("no guest has the key, the name or the comment \"" + word + '"',
                        "jobman keys list shows who is let in");
}

}  // namespace jobman::client
