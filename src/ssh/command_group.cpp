#include "jobman/ssh/command_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "jobman/base/check.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::ssh {
namespace {

constexpr std::string_view kReport = "jobman: group ";
constexpr std::size_t kLongestReport = 64;

/// The parent of this sh is the login shell. In /proc/PID/stat the group is the third word after
/// the name, and the time of the start the twentieth.
constexpr const char* kChildSays =
    "sh -c 'read -r l 2>/dev/null </proc/$PPID/stat && set -- ${l##*) } && [ \"$3\" = $PPID ] && "
    "echo \"jobman: group $PPID ${20}\" >&2'; ";

/// The same by the login shell itself. Its startup files may have set IFS, so `read` has its own. A
/// name that is repeated keeps its last word. The second word is the shell's name, without a space.
constexpr const char* kShellSays =
    "eval 'IFS=\" \" read -r jm_x jm_x jm_x jm_x jm_g jm_x jm_x jm_x jm_x jm_x jm_x jm_x jm_x jm_x "
    "jm_x jm_x jm_x jm_x jm_x jm_x jm_x jm_s jm_x 2>/dev/null </proc/$$/stat && "
    "[ \"$jm_g\" = \"$$\" ] && echo \"jobman: group $$ $jm_s\" >&2; unset jm_x jm_g jm_s'; ";

/// sshd sets SHELL. bash and sh report themselves; for another login shell a sh does, which costs
/// the host as much time as the start of the login shell. csh and, from version 3 on, fish
/// understand the whole line. The `||` comes last: after it the status is 0 in every shell.
constexpr const char* kIsPlain = "test \"$SHELL\" = /bin/bash -o \"$SHELL\" = /bin/sh";

std::string SayGroup() {
  return fmt::format("{0} && {1}{0} || {2}", kIsPlain, kShellSays, kChildSays);
}

/// One line without "!", so that it is the same word in every login shell. A leader with another
/// start is another process, so the group has ended: the kernel gives no pid to a new process while
/// a group has it. kill fails alike for a group without members and for one whose members are all
/// another user's, so /proc is asked which it is; a zombie has ended. busybox's kill knows no "--".
constexpr const char* kEnd =
    "l=; read -r l 2>/dev/null <\"/proc/$1/stat\"; p=$1 born=$2 signal=$3 left=$4; "
    "set -- ${l##*) }; [ \"${20:-$born}\" = \"$born\" ] || exit 0; "
    "kill \"-$signal\" \"-$p\" 2>/dev/null; "
    "while code=1; kill -0 \"-$p\" 2>/dev/null || { code=2; "
    "grep -qs \") [^ZX] [0-9]* $p \" /proc/[0-9]*/stat; }; do "
    "[ \"$left\" -gt 0 ] || exit \"$code\"; "
    "left=$((left - 1)); sleep 0.1 2>/dev/null || sleep 1; done";

bool IsNumber(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

/// A pid of a group that may be signalled. kill takes "-01" and "-4294967297" for -1, which is
/// everybody, and "-00" for its own group; Linux has no pid above 2^22.
bool IsLeader(const std::string& word) {
  constexpr std::int64_t kHighestPid = std::int64_t{1} << 22;
  const auto pid = base::ParseNumber(word);
  return pid && *pid > 1 && *pid <= kHighestPid && word.front() != '0';
}

}  // namespace

std::string ReportingLine(const std::string& line) {
  static const std::string kSayGroup = SayGroup();
  return kSayGroup + line;
}

base::Status GroupReport::PassOn(std::string_view bytes) {
  if (bytes.empty()) return base::Ok();
  at_start_ = bytes.back() == '\n';
  return rest_ ? rest_(bytes) : base::Ok();
}

/// Whether the line, which is complete, is the report.
bool GroupReport::TakeLine() {
  const auto words = base::Split(base::Trim(line_), ' ');
  if (words.size() != 4 || !IsNumber(words[2]) || !IsNumber(words[3])) return false;
  if (IsLeader(words[2])) group_ = {.leader = words[2], .born = words[3]};
  return true;
}

base::Status GroupReport::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (group_.known()) return PassOn(bytes);
    if (!at_start_) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      JM_TRY(PassOn(bytes.substr(0, end)));
      bytes.remove_prefix(end);
      continue;
    }
    line_ += bytes.front();
    bytes.remove_prefix(1);
    const std::size_t known = std::min(line_.size(), kReport.size());
    const bool maybe = line_.substr(0, known) == kReport.substr(0, known);
    const bool complete = line_.back() == '\n';
    if (maybe && !complete && line_.size() < kLongestReport) continue;
    const std::string line = line_;
    const bool report = maybe && complete && TakeLine();
    line_.clear();
    if (!report) JM_TRY(PassOn(line));
  }
  return base::Ok();
}

base::Status GroupReport::Finish() {
  const std::string line = std::exchange(line_, {});
  return PassOn(line);
}

std::string EndLine(const CommandGroup& group, const std::string& signal, base::Duration wait) {
  JM_CHECK(IsLeader(group.leader) && IsNumber(group.born), "a known group");
  return fmt::format("exec sh -c '{}' sh {} {} {} {}", kEnd, group.leader, group.born, signal,
                     wait.count() / 100);
}

GroupEnd GroupEndOf(const base::Result<int>& exit_code) {
  if (!exit_code.ok()) return GroupEnd::kUnknown;
  if (*exit_code == 0) return GroupEnd::kGone;
  if (*exit_code == 1) return GroupEnd::kLeft;
  return *exit_code == 2 ? GroupEnd::kNotOurs : GroupEnd::kUnknown;
}

}  // namespace jobman::ssh
