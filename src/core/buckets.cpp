#include "jobman/core/buckets.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>

#include "jobman/base/strings.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::core {
namespace {

constexpr std::string_view kScheme = "gs://";
constexpr std::size_t kShortestBucketName = 3;
constexpr std::size_t kLongestNamePart = 63;  ///< of a name, between dots
constexpr std::size_t kLongestBucketName = 222;

/// What stays on this machine, is a name, or is known to the cloud alone.
constexpr std::array<std::string_view, 12> kOtherTexts = {
    "job.name",  "job.group", "job.labels.", "job.queue.", "cloud.", "tpu.labels.",
    "tpu.tags[", "code.",     "watchdog.",   "on.",        "smtp.",  "ssh."};

bool ReachesHosts(std::string_view key) {
  return std::none_of(kOtherTexts.begin(), kOtherTexts.end(),
                      [&](std::string_view other) { return key.starts_with(other); });
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool MayBeInName(char c) {
  return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.';
}

/// Whether a name cannot go on with this character, neither itself nor by what a shell puts there:
/// not so with $, {, * and the like.
bool EndsName(char c) {
  return std::string_view("/ \t\r\"'`;,|&)]}<>#:\\!").find(c) != std::string_view::npos;
}

bool IsBucketName(std::string_view name) {
  if (name.size() < kShortestBucketName || name.size() > kLongestBucketName) return false;
  if (!IsLetterOrDigit(name.front()) || !IsLetterOrDigit(name.back())) return false;
  if (!std::all_of(name.begin(), name.end(), &MayBeInName)) return false;
  while (name.size() > kLongestNamePart) {
    const std::size_t dot = name.find('.');
    if (dot > kLongestNamePart) return false;  // or there is none
    name.remove_prefix(dot + 1);
  }
  return true;
}

bool MayBeInVariable(char c) {
  return IsLetterOrDigit(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A name at the head of a text, and how many characters it takes there.
struct HeadName {
  std::string_view name = {};
  std::size_t size = 0;
};

HeadName BucketAtHead(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && MayBeInName(text[end])) ++end;
  std::string_view name = text.substr(0, end);
  while (name.ends_with('.')) name.remove_suffix(1);  // of a sentence
  return {.name = name, .size = end};
}

/// NAME of "$NAME" and "${NAME}"; empty if there is none.
HeadName VariableAtHead(std::string_view text) {
  if (!text.starts_with('$')) return {};
  const bool braced = text.substr(1).starts_with('{');
  const std::size_t begin = braced ? 2 : 1;
  std::size_t end = begin;
  while (end < text.size() && MayBeInVariable(text[end])) ++end;
  if (braced && !text.substr(end).starts_with('}')) return {};
  return {.name = text.substr(begin, end - begin), .size = braced ? end + 1 : end};
}

/// Whether "gs://" at this place is a scheme, and not the end of another one.
bool IsScheme(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  const char before = line[at - 1];
  return !IsLetterOrDigit(before) && !(before >= 'A' && before <= 'Z');
}

class BucketFinder {
 public:
  explicit BucketFinder(const JobSpec& spec) : spec_(spec) {}

  std::vector<NamedBucket> Find() {
    Visit(SpecToJson(spec_), {});
    return std::move(found_);
  }

 private:
  bool IsFull() const { return found_.size() > kMostBuckets; }

  void Visit(const base::OrderedJson& json, const std::string& key) {
    if (const auto* text = json.get_ptr<const std::string*>()) {
      if (ReachesHosts(key)) VisitText(*text, key);
      return;
    }
    if (!json.is_structured()) return;
    std::size_t index = 0;
    for (const auto& item : json.items()) {
      if (IsFull()) return;
      const std::string child = json.is_array() ? key + "[" + std::to_string(index++) + "]"
                                : key.empty()   ? item.key()
                                                : key + "." + item.key();
      Visit(item.value(), child);
    }
  }

  void VisitText(std::string_view text, const std::string& key) {
    if (key.starts_with("gcsfuse.") && key.ends_with(".bucket_name")) {
      return Add(text, text, key);
    }
    while (!text.empty() && !IsFull()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      if (!base::Trim(line).starts_with('#')) VisitLine(line, key);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void VisitLine(std::string_view line, const std::string& key) {
    std::size_t at = line.find(kScheme);
    while (at != std::string_view::npos && !IsFull()) {
      const std::size_t begin = at + kScheme.size();
      const HeadName head = NameAtHead(line.substr(begin));
      const std::size_t end = begin + head.size;
      const bool ends = end == line.size() || EndsName(line[end]);
      if (ends && IsScheme(line, at) && IsBucketName(head.name)) {
        Add(head.name, line.substr(at, end + 1 - at), key);
      }
      at = line.find(kScheme, end);
    }
  }

  /// The name of a bucket, itself or as a variable.
  HeadName NameAtHead(std::string_view text) const {
    const HeadName variable = VariableAtHead(text);
    if (variable.name.empty()) return BucketAtHead(text);
    return {.name = ValueOf(variable.name), .size = variable.size};
  }

  /// What the job gives the variable; empty if only the shell knows.
  std::string_view ValueOf(std::string_view variable) const {
    const std::string name(variable);
    for (const auto* values : {&spec_.command.env, &spec_.matrix, &spec_.environment}) {
      if (const auto found = values->find(name); found != values->end()) return found->second;
    }
    return {};
  }

  void Add(std::string_view name, std::string_view written, const std::string& key) {
    if (!names_.emplace(name).second) return;
    found_.push_back({.name = std::string(name), .key = key, .written = std::string(written)});
  }

  const JobSpec& spec_;
  std::set<std::string, std::less<>> names_ = {};
  std::vector<NamedBucket> found_ = {};
};

}  // namespace

std::vector<NamedBucket> BucketsOf(const JobSpec& spec) {
  return BucketFinder(spec).Find();
}

}  // namespace jobman::core
