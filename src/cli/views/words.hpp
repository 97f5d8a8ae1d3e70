#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"
#include "jobman/core/prices.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// The colour of a state's word.
ui::Tone ToneOfState(std::string_view state);
/// "WAITING (QUEUEING)"; the familiar word only if it says something else.
std::string StatusText(std::string_view state, std::string_view familiar);
/// "3m20s": how long ago; never negative, even if clocks disagree.
std::string Ago(core::TimePoint since, core::TimePoint now);
/// The line "label      text", to be put in column `indent`; a text that does not fit goes on below
/// itself.
std::string LabelledLine(std::string_view label, std::string_view text, int indent, ui::Tone tone,
                         const ui::Style& style);
/// The line "job 000042 (train) is RUNNING: why", whose head ends before the state. What does not
/// fit goes on below.
std::string StateLine(const std::string& head, std::string_view state, ui::Tone tone,
                      std::string_view why, const ui::Style& style);
/// The text, or "-" if it is empty.
std::string OrDash(std::string text);
/// RFC 3339, or null.
base::OrderedJson TimeJson(const std::optional<core::TimePoint>& time);
/// [{"name": "skypilot-catalog 006059e", "date": "2026-11-26"}]
base::OrderedJson PriceListsJson(const std::vector<core::PriceSource>& sources);
/// "first line ..." of a script, without the comments at its head.
std::string FirstLine(std::string_view text);

/// "./proj, 312 files, 4.2 MB, commit 0123456789ab": what a snapshot is of.
std::string CodeText(const core::CodeSpec& code);
/// The section as show --json has it.
base::OrderedJson CodeJson(const core::CodeSpec& code);

}  // namespace jobman::cli::views
