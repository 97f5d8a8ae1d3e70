#include "jobman/client/last_exec.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

base::Path ExecRecord(const base::StatePaths& paths, core::JobId job) {
  return paths.JobDir(job.value) / "exec.json";
}

std::size_t LengthOfWords(const std::vector<std::string>& words) {
  std::size_t length = 0;
  for (const std::string& word : words) length += word.size() + 1;
  return length;
}

/// Bytes: what is typed need not be UTF-8.
base::Json BytesOfText(const std::string& text) {
  return std::vector<std::uint8_t>(text.begin(), text.end());
}

std::string TextOfBytes(const base::Json& bytes) {
  std::string text;
  for (const base::Json& byte : bytes) {
    if (byte.is_number_unsigned()) text += static_cast<char>(byte.get<std::uint8_t>());
  }
  return text;
}

base::Json ExecToJson(const LastExec& last) {
  base::Json words = base::Json::array();
  if (LengthOfWords(last.order.words) <= kLongestKept) {
    for (const std::string& word : last.order.words) words.push_back(BytesOfText(word));
  }
  base::Json json = {{"words", words},
                     {"clean_libtpu", last.order.clean_libtpu},
                     {"job_env", last.order.job_env},
                     {"had_input", last.had_input},
                     {"failed", base::FormatRanges(last.failed)}};
  if (last.order.workdir) json["workdir"] = BytesOfText(*last.order.workdir);
  if (last.order.limit) json["limit_ms"] = last.order.limit->count();
  return json;
}

base::Result<LastExec> ExecFromJson(const base::Json& json) {
  LastExec last;
  for (const base::Json& word : base::GetMember(json, "words"))
    last.order.words.push_back(TextOfBytes(word));
  last.order.clean_libtpu = base::GetBool(json, "clean_libtpu");
  last.order.job_env = base::GetBool(json, "job_env");
  last.had_input = base::GetBool(json, "had_input");
  if (json.contains("workdir")) last.order.workdir = TextOfBytes(json["workdir"]);
  if (const std::int64_t limit = base::GetInt(json, "limit_ms"); limit > 0)
    last.order.limit = base::Duration{limit};
  JM_ASSIGN_OR_RETURN(const core::HostSet failed,
                      core::ParseHostSet(base::GetString(json, "failed")));
  last.failed = failed.numbers;
  return last;
}

}  // namespace

base::Status KeepLastExec(const base::StatePaths& paths, core::JobId job, const LastExec& last) {
  const base::Path file = ExecRecord(paths, job);
  std::error_code error;
  if (last.failed.empty()) {
    std::filesystem::remove(file, error);
    if (error) return base::FromErrno(error.value(), "removing " + file.string());
    return base::Ok();
  }
  base::Status written = base::WriteFileAtomic(file, ExecToJson(last).dump());
  if (written.ok()) return written;
  // The one before is not the last any more.
  std::filesystem::remove(file, error);
  return written.error().code == base::Code::kNotFound ? base::Ok() : written;
}

base::Result<std::optional<LastExec>> ReadLastExec(const base::StatePaths& paths, core::JobId job) {
  const base::Path file = ExecRecord(paths, job);
  auto text = base::ReadRegularFile(file, kLongestRecord);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return std::optional<LastExec>();
  if (!text.ok()) return std::move(text).error();
  JM_ASSIGN_OR_RETURN(const base::Json json, base::ParseJson(*text));
  auto last = ExecFromJson(json);
  if (!last.ok()) return std::move(last).error().With("reading " + file.string());
  return std::optional(std::move(*last));
}

base::Result<ExecOrder> Again(ExecOrder given, bool has_input, const LastExec& last) {
  if (!given.words.empty()) return given;
  ExecOrder order = last.order;
  if (order.words.empty()) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "the last command was too long to be kept",
                       .hint = "give it again: jobman exec JOB --rerun-failed -- CMD"};
  }
  if (last.had_input && !has_input) {
    return base::Error{
        .code = base::Code::kFailedPrecondition,
        .message = "the last command had an input, which is not kept",
        .hint = "give it again: jobman exec JOB --rerun-failed < FILE; or give the command"};
  }
  if (given.workdir) order.workdir = given.workdir;
  if (given.limit) order.limit = given.limit;
  order.clean_libtpu = order.clean_libtpu || given.clean_libtpu;
  order.job_env = order.job_env || given.job_env;
  return order;
}

void KeepFailed(const LastExec& last, std::vector<ssh::FanOutHost>& hosts) {
  std::erase_if(hosts, [&last](const ssh::FanOutHost& host) {
    return !std::binary_search(last.failed.begin(), last.failed.end(), host.host);
  });
}

LastExec AfterExec(ExecOrder order, bool had_input, const ssh::FanOutResult& result,
                   const std::optional<LastExec>& before) {
  std::set<int> failed;
  if (before) failed.insert(before->failed.begin(), before->failed.end());
  for (const ssh::HostOutcome& host : result.hosts) {
    if (host.result.ok() && *host.result == 0)
      failed.erase(host.host);
    else
      failed.insert(host.host);
  }
  return {
      .order = std::move(order), .had_input = had_input, .failed = {failed.begin(), failed.end()}};
}

}  // namespace jobman::client
