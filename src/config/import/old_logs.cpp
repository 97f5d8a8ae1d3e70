#include <cstddef>
#include <cstdint>
#include <string>

#include "jobman/base/strings.hpp"
#include "jobman/config/old_state.hpp"

namespace jobman::config {
namespace {

constexpr std::string_view kWorker = "_worker_";
constexpr std::string_view kLogEnd = ".log";
constexpr std::int64_t kMostHosts = 10'000;
constexpr std::size_t kLongestAction = 40;

/// The action becomes the name of a folder.
bool IsAction(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !text.empty() && text.size() <= kLongestAction &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

std::optional<OldLog> OldLogOf(std::string_view file_name) {
  if (!file_name.ends_with(kLogEnd)) return std::nullopt;
  file_name.remove_suffix(kLogEnd.size());
  const auto at = file_name.rfind(kWorker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view action = file_name.substr(0, at);
  const auto host = base::ParseNumber(file_name.substr(at + kWorker.size()));
  if (!IsAction(action) || !host || *host >= kMostHosts) return std::nullopt;
  const bool command = action == "command" || action == "main_command";
  return OldLog{.stage = command ? "run" : std::string(action), .host = static_cast<int>(*host)};
}

}  // namespace jobman::config
