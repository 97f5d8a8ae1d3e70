#include "sim/wire/paging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "sim/wire/api_error.hpp"
#include "sim/wire/filter.hpp"

namespace jobman::sim {

namespace {

constexpr std::size_t kSealed = 8;

/// Of the listing, whatever the version, and the name: a token that was made up, or belongs to
/// another listing, is refused.
std::string Seal(const Request& request, const std::string& name) {
  const std::string listing =
      request.path.substr(std::min(request.path.find('/', 1), request.path.size()));
  return base::Sha256Hex(listing + " " + name).substr(0, kSealed);
}

std::string ToToken(const Request& request, const std::string& name) {
  std::string token = Seal(request, name);
  for (const char c : name) token += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return token;
}

std::optional<std::string> FromToken(const Request& request, const std::string& sealed) {
  const std::string token = sealed.substr(std::min(kSealed, sealed.size()));
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
  if (token.size() % 2 != 0 || !sealed.starts_with(Seal(request, name))) return std::nullopt;
  return name;
}

std::size_t PageSize(const Request& request, const PageSizes& sizes) {
  const std::int64_t asked = base::ParseNumber(Query(request, "pageSize")).value_or(0);
  std::int64_t size = asked > 0 ? asked : sizes.usual;
  if (size <= 0) size = sizes.most;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(size, 1, std::max<std::int64_t>(sizes.most, 1)));
}

}  // namespace

namespace {

ApiError Invalid(const std::string& what) {
  return {.code = base::Code::kInvalidArgument, .message = what};
}

/// Leaves the entries that `filter` asks for, sorted as orderBy says, else by name.
std::optional<ApiError> Arrange(const Request& request, std::vector<Listed>& entries) {
  const auto filter = ParseFilter(Query(request, "filter"));
  if (!filter) return Invalid("Invalid list filter.");
  if (!filter->empty()) {
    std::erase_if(entries, [&](const Listed& entry) { return !Matches(*filter, entry.render()); });
  }
  std::sort(entries.begin(), entries.end(),
            [](const Listed& a, const Listed& b) { return a.name < b.name; });
  const std::string text = Query(request, "orderBy");
  if (text.empty()) return std::nullopt;
  const auto order = ParseOrder(text);
  if (!order) return Invalid("Invalid order by.");
  std::stable_sort(entries.begin(), entries.end(), [&](const Listed& a, const Listed& b) {
    return ComesBefore(*order, a.render(), b.render());
  });
  return std::nullopt;
}

/// The first entry after the one that a page token names.
std::optional<std::vector<Listed>::iterator> After(const Request& request,
                                                   std::vector<Listed>& entries) {
  const std::string token = Query(request, "pageToken");
  if (token.empty()) return entries.begin();
  const auto after = FromToken(request, token);
  if (!after) return std::nullopt;
  if (Query(request, "orderBy").empty()) {
    return std::upper_bound(
        entries.begin(), entries.end(), *after,
        [](const std::string& name, const Listed& entry) { return name < entry.name; });
  }
  const auto last = std::find_if(entries.begin(), entries.end(),
                                 [&](const Listed& entry) { return entry.name == *after; });
  return last == entries.end() ? std::nullopt : std::optional(last + 1);
}

}  // namespace

Reply Page(const Request& request, const PageSizes& sizes, const std::string& field,
           std::vector<Listed> entries) {
  if (base::ParseNumber(Query(request, "pageSize")).value_or(0) < 0) {
    return ToReply(Invalid("Page size must not be negative."));
  }
  if (auto error = Arrange(request, entries)) return ToReply(*error);
  const auto begin = After(request, entries);
  if (!begin) return ToReply(Invalid("Invalid page token."));
  const auto first = *begin;
  const auto left = static_cast<std::size_t>(entries.end() - first);
  const std::size_t size = std::min(PageSize(request, sizes), left);
  Json list = Json::array();
  for (auto entry = first; entry != first + static_cast<std::ptrdiff_t>(size); ++entry) {
    list.push_back(entry->render());
  }
  Json body = Json::object();
  if (!list.empty()) body[field] = std::move(list);
  if (size < left)
    body["nextPageToken"] = ToToken(request, (first + static_cast<std::ptrdiff_t>(size) - 1)->name);
  return {.body = std::move(body)};
}

}  // namespace jobman::sim
