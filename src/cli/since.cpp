#include "cli/since.hpp"

#include <fmt/format.h>

namespace jobman::cli {

base::Result<std::optional<base::TimePoint>> ReadSince(const std::optional<std::string>& text,
                                                       base::TimePoint now) {
  if (!text) return std::optional<base::TimePoint>{};
  const auto age = base::ParseDuration(*text);
  if (age.ok()) return std::optional(now - *age);
  if (age.error().code == base::Code::kOutOfRange)
    return base::InvalidArgument("--since: " + age.error().message, age.error().hint);
  if (const auto time = base::ParseRfc3339(*text); time.ok()) return std::optional(*time);
  return base::InvalidArgument(
      fmt::format("--since: \"{}\" is neither a duration nor an RFC 3339 time", *text),
      "write for example 10m, 2h or 2026-11-21T03:57:00Z");
}

}  // namespace jobman::cli
