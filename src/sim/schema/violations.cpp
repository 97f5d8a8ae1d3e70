#include "sim/schema/violations.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {
constexpr std::size_t kValueShown = 200;
}

Violation UnknownName(const std::string& name, const std::string& at, const std::string& why) {
  const std::string place = at.empty() ? "" : " at '" + at + "'";
  return {.field = at,
          .description = fmt::format("Invalid JSON payload received. Unknown name \"{}\"{}: {}",
                                     name, place, why)};
}

Violation InvalidValue(const std::string& at, const std::string& type, const std::string& value) {
  return {.field = at,
          .description = fmt::format("Invalid value at '{}' ({}), {}", at, type,
                                     base::Shorten(value, kValueShown))};
}

ApiError InvalidRequest(const Violations& violations) {
  std::vector<std::string> lines;
  Json list = Json::array();
  for (const Violation& violation : violations) {
    lines.push_back(violation.description);
    Json entry = {{"description", violation.description}};
    if (!violation.field.empty()) entry["field"] = violation.field;
    list.push_back(std::move(entry));
  }
  return {.code = base::Code::kInvalidArgument,
          .message = base::Join(lines, "\n"),
          .details = Json::array({{{"@type", "type.googleapis.com/google.rpc.BadRequest"},
                                   {"fieldViolations", std::move(list)}}})};
}

}  // namespace jobman::sim
