#include "client/copy_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/copy_script.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kKeptEnd = 4096;
constexpr std::size_t kMostOfPaths = 100'000;  // of one command, which may have 128 KiB
constexpr int kNoSuchProgram = 127;            // of shells and of env

base::Error BadSource(const std::string& word) {
  return base::InvalidArgument("\"" + word + "\" has no name of its own that the copy could have",
                               "name a file or folder, such as " + word +
                                   (word.ends_with('/') || word.ends_with(':') ? "" : "/") +
                                   "results");
}

base::Error OneSide(const std::string& why) {
  return base::InvalidArgument(
      "cp copies between this machine and the hosts of one job: " + why,
      "jobman cp results.txt JOB:data/ copies to the hosts, jobman cp JOB:data/results.txt . from "
      "host 0; ./a:b is a file of this machine");
}

base::Status CheckNames(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    const std::string name = NameOf(ParseCopyPlace(word).path);
    if (name.empty() || name == "." || name == ".." || name == "~") return BadSource(word);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return base::InvalidArgument("two sources have the name " + name +
                                   ": one would replace the "
                                   "other");
    }
    names.push_back(name);
  }
  return base::Ok();
}

base::Status CheckLength(const std::vector<std::string>& paths) {
  std::size_t length = 0;
  for (const std::string& path : paths) length += HostPath(path).size() + 3;
  if (length <= kMostOfPaths) return base::Ok();
  return base::InvalidArgument(
      fmt::format("{} paths of hosts, {} in all, are too long for one command", paths.size(),
                  base::FormatBytes(static_cast<std::int64_t>(length))),
      "name the folder that they are in, or copy them in several calls");
}

/// The line where one of the words is; empty if there is none.
std::string LineWith(std::string_view said, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    const std::size_t at = said.find(word);
    if (at == std::string_view::npos) continue;
    const std::size_t before = said.rfind('\n', at);
    return FirstLine(said.substr(before == std::string_view::npos ? 0 : before + 1));
  }
  return {};
}

}  // namespace

CopyPlace ParseCopyPlace(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos || colon == 0 || word.find('/') < colon) return {.path = word};
  return {.job = word.substr(0, colon), .path = word.substr(colon + 1)};
}

base::Result<CopyPlan> PlanCopy(const std::vector<std::string>& words) {
  if (words.size() < 2) return OneSide("a source and a target are needed");
  const CopyPlace to = ParseCopyPlace(words.back());
  std::vector<std::string> sources(words.begin(), words.end() - 1);
  CopyPlan plan{.job = to.job, .to_hosts = !to.job.empty(), .to = to.path};
  for (const std::string& word : sources) {
    const CopyPlace from = ParseCopyPlace(word);
    if (plan.to_hosts && !from.job.empty())
      return OneSide("both sides, " + word + " and " + words.back() + ", are on hosts");
    if (!plan.to_hosts && from.job.empty())
      return OneSide("neither " + word + " nor " + words.back() + " is on a host");
    if (!plan.to_hosts && !plan.job.empty() && from.job != plan.job)
      return OneSide(from.job + " and " + plan.job + " are two");
    if (!plan.to_hosts) plan.job = from.job;
    plan.sources.push_back(from.path);
  }
  JM_TRY(CheckNames(sources));
  if (!plan.to_hosts) JM_TRY(CheckLength(plan.sources));
  return plan;
}

std::string HostPath(const std::string& path) {
  std::string rest = path;
  if (rest == "~") rest.clear();
  if (rest.starts_with("~/")) rest.erase(0, 2);
  if (rest.starts_with('/')) return rest;
  return rest.empty() ? "." : "./" + rest;
}

std::string NameOf(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return {};
  const std::size_t slash = path.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

std::string CopyFolder(const Context& context, const CopyPlan& plan) {
  std::error_code none;
  const auto here = [&none](const std::string& path) {
    return std::filesystem::absolute(path, none).string();
  };
  std::vector<std::string> words = {context.paths.home.string(), plan.to_hosts ? "up" : "down",
                                    plan.job, plan.to_hosts ? plan.to : here(plan.to)};
  for (const std::string& source : plan.sources)
    words.push_back(plan.to_hosts ? here(source) : source);
  std::string all;
  for (const std::string& word : words) all += std::to_string(word.size()) + ":" + word;
  return ".jobman-cp-" + base::Sha256Hex(all).substr(0, 16);
}

bool MayPass(const base::Error& error) {
  using base::Reason;
  return error.reason == Reason::kHostRefused || error.reason == Reason::kHostTimeout ||
         error.reason == Reason::kConnectionBroke || error.reason == Reason::kHostHangs;
}

std::string FirstLine(std::string_view said) {
  std::string line(base::Trim(said.substr(0, said.find('\n'))));
  for (const std::string_view word : {"tar: ", "mv: ", "find: ", "sh: "}) {
    if (line.starts_with(word)) line.erase(0, word.size());
  }
  return base::CleanLine(line);
}

base::Error CopyError(std::string_view said, int exit_code) {
  base::Error error{.code = base::Code::kFailedPrecondition, .message = FirstLine(said)};
  if (error.message.empty()) error.message = fmt::format("tar ended with {}", exit_code);
  if (const std::string taken = LineWith(said, {"another copy of the same"}); !taken.empty()) {
    error.message = taken;  // the host's shell says first that a signal ended the writer
  } else if (exit_code == kNoSuchProgram) {
    error.message = "tar is not installed there";
    error.hint = "install tar";
  } else if (const std::string full =
                 LineWith(said, {"No space left on device", "quota exceeded", "Wrote only"});
             !full.empty()) {
    error.message = full;
    // All that tar says of a write that the end of the disk made short.
    if (base::Contains(full, "Wrote only")) error.message += ": no space is left";
    error.code = base::Code::kResourceExhausted;
    error.reason = base::Reason::kDiskFull;
    error.hint = "free some space there, and copy again";
  } else if (base::Contains(said, "Permission denied") ||
             base::Contains(said, "Read-only file system")) {
    error.reason = base::Reason::kNotWritable;
    error.hint = "choose a folder of your own, or correct its owner or mode";
  } else if (exit_code == remote::kCopyMissing || base::Contains(said, "No such")) {
    error.code = base::Code::kNotFound;
    error.hint = "paths on hosts begin in the home folder, and patterns are not expanded there";
  }
  return error;
}

base::Error PartlyCopied(base::Error error) {
  error.message += "; it may be partly copied";
  return error;
}

base::Status PackNews::Hear(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    JM_TRY(HearPart(bytes.substr(0, end)));
    bytes.remove_prefix(end);
  }
  return base::Ok();
}

/// `part` reaches to the end of a line at most. A line for people is passed on before it is whole.
base::Status PackNews::HearPart(std::string_view part) {
  constexpr std::string_view kOurs = "jobman-cp ";
  const bool ends = part.back() == '\n';
  const std::size_t held = line_.size();
  if (!theirs_) line_.append(part.substr(0, kKeptEnd - held));  // one of ours is short
  const bool ours = !theirs_ && line_.substr(0, kOurs.size()) == kOurs.substr(0, line_.size());
  if (ours && !ends) return base::Ok();
  const std::string line = std::exchange(line_, {});
  theirs_ = !ours && !ends;
  if (ours) {
    Read(line);
    return base::Ok();
  }
  if (held > 0) JM_TRY(people_(std::string_view(line).substr(0, held)));
  return people_(part);
}

void PackNews::Read(std::string_view line) {
  constexpr std::string_view kSize = "jobman-cp size ";
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // a host says it: sums stay numbers
  if (!line.starts_with(kSize)) return;
  size_ = std::min(base::ParseNumber(base::Trim(line.substr(kSize.size()))).value_or(0), kMost);
}

base::Error KeptCopy(base::Error error, const std::string& folder) {
  if (!MayPass(error)) return error;
  error.hint = "what arrived is kept in " + folder +
               " beside the target for a day: the same cp goes on from there, with --patience by "
               "itself";
  return error;
}

void KeepEnds(std::string& text, std::string_view more) {
  text.append(more);
  if (text.size() > 2 * kKeptEnd) text.erase(kKeptEnd, text.size() - 2 * kKeptEnd);
}

ports::ByteSink HostTalk::SinkOf(int host) {
  said_[host].clear();
  return [this, host](std::string_view bytes) -> base::Status {
    KeepEnds(said_[host], bytes);
    return base::Ok();
  };
}

}  // namespace jobman::client
