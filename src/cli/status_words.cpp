#include "cli/status_words.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

std::string ToUpper(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

}  // namespace

const std::vector<std::string>& StatusWords() {
  static const std::vector<std::string> kWords = {
      "QUEUED",   "REQUESTING", "WAITING",   "PROVISIONING", "SETUP",     "STARTING",
      "RUNNING",  "BACKOFF",    "SUCCEEDED", "FAILED",       "CANCELLED", "CANCELLING",
      "DELETING", "DELETED",    "QUEUEING",  "IDLE",         "DEAD"};
  return kWords;
}

base::Result<std::vector<std::string>> ReadStatusWords(const std::string& option,
                                                       const std::vector<std::string>& given,
                                                       const std::vector<std::string>& known) {
  std::vector<std::string> words;
  for (const std::string& list : given) {
    for (const std::string& part : base::Split(list, ',')) {
      const std::string word = ToUpper(std::string(base::Trim(part)));
      if (std::find(known.begin(), known.end(), word) == known.end()) {
        const auto near = base::Nearest(word, known);
        return base::InvalidArgument(
            option + ": \"" + part + "\" is not a status",
            near ? "did you mean " + *near + "?" : "one of " + base::Join(known, ", "));
      }
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace jobman::cli
