#include "sim/wire/request.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// A sequence that is not "%XX" stays as it is.
std::string PercentDecode(const std::string& text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (text[i] == '%' && low >= 0) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace

std::string ValidText(const std::string& text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

std::map<std::string, std::string> ParseQuery(const std::string& target,
                                              std::set<std::string>* repeated) {
  std::map<std::string, std::string> query;
  const auto begin = target.find('?');
  if (begin == std::string::npos) return query;
  for (const std::string& pair : base::Split(target.substr(begin + 1), '&')) {
    if (pair.empty()) continue;
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string value = equals < pair.size() ? pair.substr(equals + 1) : "";
    const std::string name = ValidText(PercentDecode(pair.substr(0, equals)));
    const bool first = query.emplace(name, ValidText(PercentDecode(value))).second;
    if (!first && repeated != nullptr) repeated->insert(name);
  }
  return query;
}

}  // namespace jobman::sim
