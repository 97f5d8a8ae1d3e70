#include "store/documents.hpp"

#include <utility>

namespace jobman::store {
namespace {

/// Of both kinds of JSON.
constexpr auto kReplace = base::Json::error_handler_t::replace;

}  // namespace

std::string JsonText(const base::Json& json) {
  return json.dump(-1, ' ', false, kReplace);
}

std::string JsonText(const base::OrderedJson& json) {
  return json.dump(-1, ' ', false, kReplace);
}

base::Result<base::Json> ParseColumn(std::string_view text) {
  auto json = base::ParseJson(text);
  if (json.ok()) return json;
  return base::Error{.code = base::Code::kDataLoss,
                     .message = "a row of the store is damaged: " + json.error().message,
                     .hint = "`sqlite3 jobman.db 'PRAGMA integrity_check'` shows the extent"};
}

base::Error WrittenByNewer(const std::string& what) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "written by a newer jobman: " + what,
          .reason = base::Reason::kNewerStore,
          .hint = "use the newest jobman that has worked on this store"};
}

base::Error Unreadable(base::Error error, const std::string& doing) {
  if (error.code == base::Code::kInvalidArgument) error = WrittenByNewer(error.message);
  return std::move(error).With(doing);
}

}  // namespace jobman::store
