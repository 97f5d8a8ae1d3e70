#include "jobman/base/shell.hpp"

#include <algorithm>

namespace jobman::base {
namespace {

bool IsAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsPlain(char c) {
  switch (c) {
    case '_':
    case '-':
    case '.':
    case '/':
    case ':':
    case ',':
    case '@':
    case '%':
    case '+':
      return true;
    default:
      return IsAlpha(c) || IsDigit(c);
  }
}

}  // namespace

std::string ShellQuote(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return std::string(word);
  std::string quoted = "'";
  quoted.reserve(word.size() + 2);
  for (auto quote = word.find('\''); quote != std::string_view::npos; quote = word.find('\'')) {
    quoted.append(word.substr(0, quote)).append(R"('\'')");
    word.remove_prefix(quote + 1);
  }
  quoted.append(word) += '\'';
  return quoted;
}

std::string ShellJoin(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += ShellQuote(word);
  }
  return line;
}

bool IsEnvName(std::string_view name) {
  if (name.empty() || IsDigit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlpha(c) || IsDigit(c) || c == '_'; });
}

}  // namespace jobman::base
