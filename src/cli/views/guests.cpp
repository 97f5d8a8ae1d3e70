#include "cli/views/guests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/error.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::GuestChange;
using client::GuestVisit;

constexpr std::string_view kHashName = "SHA256:";

std::string NumbersText(const std::vector<core::JobId>& jobs) {
  std::vector<int> numbers;
  for (const core::JobId job : jobs) numbers.push_back(static_cast<int>(job.value));
  std::sort(numbers.begin(), numbers.end());
  return (numbers.size() == 1 ? "job " : "jobs ") + base::FormatRanges(numbers);
}

std::string QuietLine(const core::Guest& guest) {
  return guest.user + " " + core::FingerprintOf(guest.key) + "\n";
}

/// "ann (ED25519 SHA256:...) is let in to every job"
std::string Sentence(const GuestChange& change) {
  const core::Guest& guest = change.guest;
  const std::string who =
      fmt::format("{} ({} {})", guest.user, KeyTypeWord(guest.key), core::FingerprintOf(guest.key));
  if (change.forgotten) return who + " is let in no more";
  if (!guest.leaving) return who + " is let in to " + WhereText(guest);
  return fmt::format("{} is let in no more, and {} may still have the key", who,
                     NumbersText(guest.left_on));
}

ui::Cell ResultCell(const GuestVisit& visit) {
  switch (visit.fate) {
    case GuestVisit::Fate::kSettled:
      return {visit.why, ui::Tone::kGood};
    case GuestVisit::Fate::kLater:
      return {visit.why, ui::Tone::kBusy};
    case GuestVisit::Fate::kLeft:
      return {visit.why, ui::Tone::kDim};
    case GuestVisit::Fate::kFailed:
      return {visit.error ? visit.error->ToString() : "failed", ui::Tone::kBad};
  }
  return visit.why;
}

base::OrderedJson GuestJson(const core::Guest& guest) {
  base::OrderedJson left = base::OrderedJson::array();
  for (const core::JobId job : guest.left_on) left.push_back(job.value);
  return {{"user", guest.user},
          {"type", guest.key.type},
          {"fingerprint", core::FingerprintOf(guest.key)},
          {"key", guest.key.type + " " + guest.key.data},
          {"comment", guest.key.comment},
          {"jobs", guest.jobs},
          {"added_at", TimeJson(guest.added_at)},
          {"leaving", guest.leaving},
          {"left_on", std::move(left)}};
}

base::OrderedJson VisitJson(const GuestVisit& visit) {
  return {{"job", visit.job.value},
          {"name", visit.name},
          {"node", visit.node},
          {"outcome", client::FateName(visit.fate)},
          {"why", visit.why},
          {"error", visit.error ? views::ToJson(*visit.error) : base::OrderedJson()}};
}

}  // namespace

std::string KeyTypeWord(const core::PublicKey& key) {
  const std::string print = base::KeyFingerprint(key.type + " " + key.data);
  std::string word = print.substr(0, print.find(' '));
  // "SK-SSH-ED25519@OPENSSH.COM"
  if (word.starts_with("SK-") || word.starts_with("sk-"))
    return base::Contains(word, "ECDSA") || base::Contains(word, "ecdsa") ? "ECDSA-SK"
                                                                          : "ED25519-SK";
  return word;
}

std::string WhereText(const core::Guest& guest) {
  if (guest.leaving && guest.left_on.empty()) return "nothing";
  if (guest.leaving) return "leaving " + NumbersText(guest.left_on);
  return guest.jobs.empty() ? "every job" : base::Join(guest.jobs, ", ");
}

std::string RenderText(const Guests& view, const ui::Style& style) {
  ui::Table table({{.header = "USER", .flexible = 3},
                   {.header = "TYPE"},
                   {.header = "FINGERPRINT (SHA256)", .flexible = 4},
                   {.header = "COMMENT", .flexible = 1},
                   {.header = "WHERE", .flexible = 2}});
  for (const core::Guest& guest : view.rows) {
    std::string print = core::FingerprintOf(guest.key);
    if (print.starts_with(kHashName)) print.erase(0, kHashName.size());
    table.AddRow({guest.user,
                  KeyTypeWord(guest.key),
                  print,
                  OrDash(guest.key.comment),
                  {WhereText(guest), guest.leaving ? ui::Tone::kBusy : ui::Tone::kPlain}});
  }
  return table.empty() ? std::string{} : table.Render(style);
}

std::string RenderQuiet(const Guests& view) {
  std::string text;
  for (const core::Guest& guest : view.rows) text += QuietLine(guest);
  return text;
}

base::OrderedJson ToJson(const Guests& view) {
  base::OrderedJson guests = base::OrderedJson::array();
  for (const core::Guest& guest : view.rows) guests.push_back(GuestJson(guest));
  return {{"guests", std::move(guests)}};
}

std::string RenderText(const GuestChanges& view, const ui::Style& style) {
  std::string text;
  for (const GuestChange& change : view.rows) {
    text += WrapMessage(Sentence(change) + "\n", style.width);
    ui::Table table({{.header = "JOB"},
                     {.header = "NAME", .flexible = 1, .drop = 1},
                     {.header = "NODE", .flexible = 2},
                     {.header = "RESULT", .flexible = 3, .wraps = true}});
    for (const GuestVisit& visit : change.visits)
      table.AddRow({core::FormatJobId(visit.job), visit.name, visit.node, ResultCell(visit)});
    if (!table.empty()) text += table.Render(style);
  }
  return text;
}

std::string RenderQuiet(const GuestChanges& view) {
  std::string text;
  for (const GuestChange& change : view.rows) text += QuietLine(change.guest);
  return text;
}

base::OrderedJson ToJson(const GuestChanges& view) {
  base::OrderedJson guests = base::OrderedJson::array();
  for (const GuestChange& change : view.rows) {
    base::OrderedJson json = GuestJson(change.guest);
    json["forgotten"] = change.forgotten;
    json["nodes"] = base::OrderedJson::array();
    for (const GuestVisit& visit : change.visits) json["nodes"].push_back(VisitJson(visit));
    guests.push_back(std::move(json));
  }
  return {{"guests", std::move(guests)}};
}

}  // namespace jobman::cli::views
