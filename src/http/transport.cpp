#include "jobman/http/transport.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>

#include "jobman/base/strings.hpp"

namespace jobman::http {

std::optional<std::string> FindHeader(const Headers& headers, std::string_view name) {
  const std::string wanted = base::ToLower(name);
  for (const auto& [field, value] : headers) {
    if (base::ToLower(field) == wanted) return value;
  }
  return {};
}

void SetHeader(Headers& headers, std::string_view name, std::string value) {
  const std::string wanted = base::ToLower(name);
  std::erase_if(headers, [&](const auto& field) { return base::ToLower(field.first) == wanted; });
  headers.emplace_back(std::string(name), std::move(value));
}

std::optional<base::TimePoint> DateOf(const Headers& headers) {
  const auto text = FindHeader(headers, "Date");
  const std::time_t seconds = text ? ::curl_getdate(text->c_str(), nullptr) : -1;
  if (seconds < 0) return {};
  return base::TimePoint{std::chrono::seconds{seconds}};
}

std::string ClockTrouble(const Headers& headers, base::TimePoint now) {
  // Less is of no consequence: Google accepts what is signed within some minutes.
  constexpr base::Duration kSkew = std::chrono::minutes{1};
  const auto date = DateOf(headers);
  if (!date) return {};
  const base::Duration ahead = now - *date;
  if (ahead < kSkew && ahead > -kSkew) return {};
  // In minutes, so that it is the same text when the same happens again.
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(ahead);
  const bool behind = ahead < base::Duration::zero();
  return fmt::format("this machine's clock is {} {} the server's",
                     base::FormatDuration(behind ? -minutes : minutes),
                     behind ? "behind" : "ahead of");
}

}  // namespace jobman::http
