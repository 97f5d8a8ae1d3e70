#include "config/convert/words.hpp"

namespace jobman::config::convert {
namespace {

constexpr std::string_view kBlanks = " \t\r";

class WordReader {
 public:
  WordReader(std::string_view text, Position start, Rules rules, Diagnostics& out)
      : text_(text), pos_(start), rules_(rules), out_(out) {}

  std::optional<std::vector<Word>> Read() {
    while (SkipToWord() && good_) ReadWord();
    if (!good_) return std::nullopt;
    return std::move(words_);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Now() const { return text_[at_]; }
  bool IsShell() const { return rules_ == Rules::kShell; }
  bool Follows(std::string_view part) const { return text_.substr(at_).starts_with(part); }

  void Step() {
    ++pos_.column;
    if (Now() == '\n') {
      ++pos_.line;
      pos_.column = 1;
    }
    ++at_;
  }
  void Steps(std::size_t count) {
    for (; count > 0 && !AtEnd(); --count) Step();
  }

  void Fail(Position at, std::string message, std::string hint) {
    if (good_) out_.Report(at, std::move(message), std::move(hint));
    good_ = false;
  }

  /// Passes over a backslash and the line break after it.
  bool SkipContinuation() {
    const std::size_t length = Follows("\\\n") ? 2 : Follows("\\\r\n") ? 3 : 0;
    Steps(length);
    return length > 0;
  }

  /// Passes over what separates words. False at the end of the text.
  bool SkipToWord() {
    while (!AtEnd() && good_) {
      if (SkipContinuation()) continue;
      if (Now() == '#') {
        while (!AtEnd() && Now() != '\n') Step();
      } else if (Now() == '\n') {
        ended_ = !words_.empty();
        Step();
      } else if (kBlanks.find(Now()) != std::string_view::npos) {
        Step();
      } else {
        return true;
      }
    }
    return false;
  }

  /// "\ " at the end of a line was meant to continue it.
  bool IsBlankAfterBackslash() const {
    const std::size_t end = text_.find_first_not_of(kBlanks, at_ + 1);
    return end > at_ + 1 && end < text_.size() && text_[end] == '\n';
  }

  void ReadWord() {
    if (ended_) {
      return Fail(pos_, "a line break ended the command, and this is another one",
                  "write \\ at the end of each line that goes on");
    }
    Word word{.pos = pos_};
    while (!AtEnd() && good_ && Now() != '\n' && kBlanks.find(Now()) == std::string_view::npos) {
      if (!SkipContinuation()) ReadPart(word.text);
    }
    if (good_) words_.push_back(std::move(word));
  }

  void ReadPart(std::string& word) {
    const char c = Now();
    if (c == '\'' || c == '"') return ReadQuoted(word, c);
    if (c == '\\' && at_ + 1 < text_.size()) {
      if (IsShell() && IsBlankAfterBackslash())
        return Fail(pos_, "blanks after the \\ at the end of a line", "remove them");
      Step();
    } else if (IsShell() && !CheckPlain(c)) {
      return;
    }
    word += Now();
    Step();
  }

  /// Whether the character means itself outside of quotes; if not, reports it.
  bool CheckPlain(char c) {
    if (!CheckExpansion(c)) return false;
    if (std::string_view(";|&<>()").find(c) == std::string_view::npos) return true;
    Fail(pos_, std::string("\"") + c + "\" is for a shell, and no shell reads this",
         "give the one command that creates the node, and nothing around it");
    return false;
  }

  bool CheckExpansion(char c) {
    if (c != '$' && c != '`') return true;
    Fail(pos_, "what a shell would put here is not known: no shell reads this",
         "put the whole command in double quotes, so that your shell fills it in, or write the "
         "value");
    return false;
  }

  void ReadQuoted(std::string& word, char quote) {
    const Position begin = pos_;
    Step();
    while (!AtEnd() && Now() != quote && good_) {
      if (quote == '"' && SkipContinuation()) continue;
      const bool escapes =
          quote == '"' && Now() == '\\' && at_ + 1 < text_.size() &&
          std::string_view("\\\"$`").find(text_[at_ + 1]) != std::string_view::npos;
      if (escapes) Step();
      if (!escapes && quote == '"' && IsShell() && !CheckExpansion(Now())) return;
      word += Now();
      Step();
    }
    if (AtEnd()) return Fail(begin, "a quote that nothing closes", "close it");
    Step();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Position pos_;
  Rules rules_;
  Diagnostics& out_;
  std::vector<Word> words_ = {};
  bool ended_ = false;  ///< by a line break
  bool good_ = true;
};

}  // namespace

std::optional<std::vector<Word>> WordsOf(std::string_view text, Position start, Rules rules,
                                         Diagnostics& out) {
  return WordReader(text, start, rules, out).Read();
}

}  // namespace jobman::config::convert
