#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/guests.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// "ED25519", as ssh-keygen -l calls a type of keys.
std::string KeyTypeWord(const core::PublicKey& key);
/// "every job", or "train-*, 42".
std::string WhereText(const core::Guest& guest);

/// Who is let in: `keys list`.
struct Guests {
  std::vector<core::Guest> rows = {};
};
/// A table. Fingerprints lack "SHA256:", so that they fit.
std::string RenderText(const Guests& view, const ui::Style& style);
/// "ann SHA256:...", a line each.
std::string RenderQuiet(const Guests& view);
/// {"guests": [{"user", "type", "fingerprint", "key", "comment", "jobs", "added_at", "leaving",
/// "left_on"}]}
base::OrderedJson ToJson(const Guests& view);

/// What `keys add` or `keys remove` did.
struct GuestChanges {
  std::vector<client::GuestChange> rows = {};
};
/// A line for each guest, and a table of nodes.
std::string RenderText(const GuestChanges& view, const ui::Style& style);
/// "ann SHA256:...", a line each.
std::string RenderQuiet(const GuestChanges& view);
/// As of Guests, each with "forgotten" and "nodes": [{"job", "name", "node", "outcome", "why",
/// "error"}].
base::OrderedJson ToJson(const GuestChanges& view);

}  // namespace jobman::cli::views
