#include "tests/checks/source.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>

namespace jobman::checks {
namespace {

namespace fs = std::filesystem;

/// Walks a text and blanks what is not code.
class Blanker {
 public:
  explicit Blanker(std::string text) : text_(std::move(text)) {}

  std::string Run() {
    while (at_ < text_.size()) Step();
    return std::move(text_);
  }

 private:
  bool At(const std::string& word) const { return text_.compare(at_, word.size(), word) == 0; }
  bool AfterWord() const {
    return at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
  }

  void Step() {
    if (At("//")) return BlankUntil(text_.find('\n', at_), 0);
    if (At("/*")) return BlankUntil(text_.find("*/", at_ + 2), 2);
    if (At("R\"")) return BlankRaw();
    if (At("\"")) return BlankLiteral('"');
    // 1'000 is a number.
    if (At("'") && !AfterWord()) return BlankLiteral('\'');
    ++at_;
  }

  void BlankUntil(std::size_t end, std::size_t tail) {
    end = std::min(end == std::string::npos ? end : end + tail, text_.size());
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') text_[at_] = ' ';
    }
  }
  void BlankRaw() {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
    BlankUntil(text_.find(close, at_), close.size());
  }
  void BlankLiteral(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) text_[at_++] = ' ';
      if (text_[at_] != '\n') text_[at_] = ' ';
    }
    ++at_;
  }

  std::string text_;
  std::size_t at_ = 0;
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Include> IncludesOf(const std::vector<std::string>& lines) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Include> includes;
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_match(lines[i], match, kInclude)) continue;
    includes.push_back(
        {.line = static_cast<int>(i) + 1, .path = match[2], .angled = match[1] == "<"});
  }
  return includes;
}

std::string ModuleOf(const std::string& path) {
  static const std::regex kModule("^(include/jobman|src)/([^/]+)/.*");
  std::smatch match;
  return std::regex_match(path, match, kModule) ? match[2].str() : std::string();
}

Source Load(const fs::path& file, std::string path) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  Source source{.path = std::move(path)};
  source.module = ModuleOf(source.path);
  source.includes = IncludesOf(LinesOf(text));
  source.lines = LinesOf(BlankOut(text));
  return source;
}

}  // namespace

std::string BlankOut(const std::string& text) {
  return Blanker(text).Run();
}

std::vector<Source> LoadSources(const fs::path& root, const std::string& folder) {
  std::vector<Source> sources;
  if (!fs::exists(root / folder)) return sources;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".cpp") continue;
    sources.push_back(Load(entry.path(), fs::relative(entry.path(), root).generic_string()));
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

}  // namespace jobman::checks
