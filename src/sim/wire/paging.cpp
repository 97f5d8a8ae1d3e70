#include "sim/wire/paging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jobman/base/strings.hpp"
#include "sim/wire/api_error.hpp"

namespace jobman::sim {

namespace {

std::string ToToken(const std::string& name) {
  std::string token;
  for (const char c : name) token += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return token;
}

std::optional<std::string> FromToken(const std::string& token) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string name;
  for (std::size_t i = 0; i + 1 < token.size(); i += 2) {
    const int high = digit(token[i]);
    const int low = digit(token[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    name += static_cast<char>(high * 16 + low);
  }
  return token.size() % 2 == 0 ? std::optional(name) : std::nullopt;
}

std::size_t PageSize(const Request& request, const PageSizes& sizes) {
  const std::int64_t asked = base::ParseNumber(Query(request, "pageSize")).value_or(0);
  std::int64_t size = asked > 0 ? asked : sizes.usual;
  if (size <= 0) size = sizes.most;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(size, 1, std::max<std::int64_t>(sizes.most, 1)));
}

}  // namespace

Reply Page(const Request& request, const PageSizes& sizes, const std::string& field,
           std::vector<Listed> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  auto first = entries.begin();
  if (const std::string token = Query(request, "pageToken"); !token.empty()) {
    const auto after = FromToken(token);
    if (!after)
      return ToReply({.code = base::Code::kInvalidArgument, .message = "Invalid page token."});
    first = std::upper_bound(
        entries.begin(), entries.end(), *after,
        [](const std::string& name, const Listed& entry) { return name < entry.name; });
  }
  const auto left = static_cast<std::size_t>(entries.end() - first);
  const std::size_t size = std::min(PageSize(request, sizes), left);
  Json list = Json::array();
  for (auto entry = first; entry != first + static_cast<std::ptrdiff_t>(size); ++entry) {
    list.push_back(entry->render());
  }
  Json body = Json::object();
  if (!list.empty()) body[field] = std::move(list);
  if (size < left)
    body["nextPageToken"] = ToToken((first + static_cast<std::ptrdiff_t>(size) - 1)->name);
  return {.body = std::move(body)};
}

}  // namespace jobman::sim
