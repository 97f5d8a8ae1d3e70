#include "jobman/http/transport.hpp"

#include <curl/curl.h>

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

}  // namespace jobman::http
