#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobman/base/check.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"
#include "remote/export_lines.hpp"

namespace jobman::remote {
namespace {

using base::InvalidArgument;
using base::ShellQuote;

// `exec` and `sh -c` mean the same in bash, dash, zsh, fish and csh, whatever the login shell is.
// With `exec` the script's parent is sshd, so the script notices when the connection is gone.
constexpr std::string_view kBegin = "exec sh -c '";

std::string ScriptCommand(const std::string& arguments) {
  return fmt::format("{}[ -f \"$0\" ] || exit {}; exec sh \"$0\" \"$@\"' ~/.jobman/bin/{} {}",
                     kBegin, kExitNotInstalled, HostScriptName(), arguments);
}

/// Takes the script, and not a byte more, from the input, and puts it at "$0". (busybox's head(1)
/// reads ahead.) If that fails, what is left of the input is no order: nothing begins, and
/// InstallCall tells what is wrong.
std::string TakeScript() {
  const std::string take =
      fmt::format("dd bs={} count=1 iflag=fullblock 2>/dev/null", PackedHostScript().size());
  return fmt::format(
      "if [ -f \"$0\" ]; then {0} >/dev/null || exit {1}; else (new=; umask 077; bin=${{0%/*}}; "
      "mkdir -p \"$bin\" && new=$(mktemp \"$bin/.new.XXXXXX\") && {0} | gzip -dc >\"$new\" && "
      "{{ ln \"$new\" \"$0\" || [ -f \"$0\" ]; }}; code=$?; rm -f \"$new\"; exit $code) "
      "2>/dev/null || exit {1}; fi; ",
      take, kExitNotInstalled);
}

constexpr std::size_t kLongestRunId = 199;  // of the 255 bytes of a file name

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::int64_t WholeSeconds(Duration time) {
  return std::chrono::ceil<std::chrono::seconds>(std::max(time, Duration{0})).count();
}

}  // namespace

std::string HostScriptName() {
  static const std::string kName = "host-" + base::Sha256Hex(HostScript()).substr(0, 12) + ".sh";
  return kName;
}

bool IsRunId(std::string_view text) {
  const auto allowed = [](char c) { return IsAlnum(c) || c == '.' || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= kLongestRunId && IsAlnum(text.front()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

// gzip tells a script that was cut short by its checksum. A whole one is linked into place, so that
// nobody runs half of it. Hosts that share a home folder do this at the same moment: mktemp gives
// each its own file, and an existing script, which another host may be reading, is not replaced.
Call InstallCall() {
  const std::string body = fmt::format(
      "new=; die() {{ rm -f \"$new\"; echo \"jobman: error $*\" >&2; exit {}; }}; "
      "umask 077; bin=$HOME/.jobman/bin; script=$bin/{}; "
      "why=$(mkdir -p \"$bin\" 2>&1) || die \"cannot create $bin: $why\"; "
      "new=$(mktemp \"$bin/.new.XXXXXX\" 2>&1) || "
      "{{ why=$new; new=; die \"cannot write to $bin (is the disk full?):\" $why; }}; "
      "why=$(gzip -dc 2>&1 >\"$new\") || "
      "die \"cannot unpack the script into $bin (is the disk full?):\" $why; "
      "ln \"$new\" \"$script\" 2>/dev/null || [ -f \"$script\" ] || mv -f \"$new\" \"$script\" || "
      "die \"cannot write to $bin\"; rm -f \"$new\"",
      kExitHostError, HostScriptName());
  return Call{.command = "exec sh -c " + ShellQuote(body),
              .input = std::string(PackedHostScript()),
              .limit = kCallLimit};
}

Call WithScript(Call call) {
  JM_CHECK(call.command.starts_with(kBegin), "a call of the script");
  call.command.insert(kBegin.size(), TakeScript());
  call.late_input = [late = std::move(call.late_input),
                     input = std::exchange(call.input, {})]() -> Result<std::string> {
    std::string text(PackedHostScript());
    if (!late) return text + input;
    JM_ASSIGN_OR_RETURN(const std::string order, late());
    return text + order;
  };
  return call;
}

namespace {

// The order is shell text that only assigns variables; the script evaluates it. Exports are quoted
// twice, so that they happen only in the command's own process. A truncated order leaves a quote
// open or lacks the last line: either way it is refused.
Result<std::string> OrderText(const RunOrder& order) {
  if (!IsRunId(order.run_id)) return InvalidArgument("'" + order.run_id + "' is not a run id");
  if ((order.script + order.workdir).find('\0') != std::string::npos)
    return InvalidArgument("the command or its working folder holds a NUL byte");
  for (const std::string& id : order.setup) JM_CHECK(IsRunId(id), "a valid run id");
  JM_ASSIGN_OR_RETURN(const std::string exports, ExportLines(order.env, order.secrets));
  return fmt::format(
      "jm_setup='{}'\njm_workdir={}\njm_script={}\njm_env={}\njm_signal={}\njm_log_max_b={}\n"
      "jm_agent={}\njobman-end\n",
      base::Join(order.setup, " "), ShellQuote(order.workdir), ShellQuote(order.script),
      ShellQuote(exports), ShellQuote(order.notice_signal), order.log_limit,
      order.uses_agent ? "yes" : "''");
}

}  // namespace

Result<Call> RunCall(const RunOrder& order, std::int64_t offset) {
  JM_ASSIGN_OR_RETURN(std::string text, OrderText(order));
  // Before the start the script ends earlier runs, and then what holds the chips.
  Call call{.input = std::move(text),
            .silence = kLongestSilence,
            .start = 2 * (std::max(order.grace, Duration{0}) + kStopMargin)};
  std::string arguments = fmt::format("run {} {}", order.run_id, offset);
  if (!order.replaces.empty() || !order.chips_of.empty()) {
    for (const std::string& ids : {order.replaces, order.chips_of})
      JM_CHECK(ids.empty() || IsRunId(ids), "a valid prefix of run ids");
    arguments += fmt::format(" {} {}", WholeSeconds(order.grace),
                             order.replaces.empty() ? "-" : order.replaces);
    if (!order.chips_of.empty()) arguments += " " + order.chips_of;
  }
  call.command = ScriptCommand(arguments);
  return call;
}

Result<Call> BeginCall(const RunOrder& order, int keep, const std::string& prefix) {
  JM_CHECK(IsRunId(prefix) && keep >= 0, "a valid prefix of run ids");
  JM_ASSIGN_OR_RETURN(std::string text, OrderText(order));
  return Call{.command = ScriptCommand(fmt::format("begin {} {} {}", order.run_id, keep, prefix)),
              .input = std::move(text),
              .limit = kCallLimit};
}

Call AgesCall(const std::string& prefix) {
  JM_CHECK(IsRunId(prefix), "a valid prefix of run ids");
  return {.command = ScriptCommand("ages " + prefix), .limit = kCallLimit};
}

Call FollowCall(const std::string& run_id, std::int64_t offset) {
  JM_CHECK(IsRunId(run_id), "a valid run id");
  return {.command = ScriptCommand(fmt::format("follow {} {}", run_id, offset)),
          .silence = kLongestSilence,
          .start = kLongestSilence};
}

Call ListCall(const std::string& prefix) {
  JM_CHECK(IsRunId(prefix), "a valid prefix of run ids");
  return {.command = ScriptCommand("list " + prefix), .limit = kCallLimit};
}

Call StopCall(const std::string& run_id, Duration grace, const std::string& others) {
  JM_CHECK(IsRunId(run_id), "a valid run id");
  std::string arguments = fmt::format("stop {} {}", run_id, WholeSeconds(grace));
  if (!others.empty()) {
    JM_CHECK(IsRunId(others), "a valid prefix of run ids");
    arguments += " " + others;
  }
  return {.command = ScriptCommand(arguments), .limit = grace + kStopMargin};
}

// Must equal the line that the script writes for a notice of the metadata server byte for byte, so
// that the file gets one line.
Call NoticeCall(const std::string& run_id, const core::Notice& notice, const std::string& signal) {
  JM_CHECK(IsRunId(run_id) && IsRunId(signal), "valid words");
  const base::Json line = {{"kind", core::NoticeKindName(notice.kind)},
                           {"imminent", notice.imminent},
                           {"text", notice.text}};
  return {.command = ScriptCommand(fmt::format("notice {} {}", run_id, signal)),
          .input = line.dump(-1, ' ', false, base::Json::error_handler_t::replace) + "\n",
          .limit = kCallLimit};
}

Call RenewCall(const std::string& run_id, bool again) {
  JM_CHECK(IsRunId(run_id), "a valid run id");
  return {.command = ScriptCommand("renew " + run_id + (again ? " again" : "")),
          .limit = kCallLimit};
}

Call HaveCall(const std::string& file) {
  JM_CHECK(IsRunId(file), "a valid name");
  return {.command = ScriptCommand("have " + file), .limit = kCallLimit};
}

Call PutCall(const std::string& file, std::int64_t bytes, const std::string& sha256,
             const std::string& replaces) {
  JM_CHECK(IsRunId(file) && IsRunId(sha256) && IsRunId(replaces), "valid words");
  return {.command = ScriptCommand(fmt::format("put {} {} {} {}", file, bytes, sha256, replaces)),
          .limit = kPutLimit + std::chrono::seconds{bytes / kSlowestPut},
          .silence = kLongestSilence};
}

Call FetchCall(const std::string& file, std::int64_t bytes, const std::string& sha256,
               const std::string& replaces, const FileGiver& from) {
  JM_CHECK(IsRunId(file) && IsRunId(sha256) && IsRunId(replaces) && IsRunId(from.name),
           "valid words");
  return {
      .command = ScriptCommand(fmt::format("fetch {} {} {} {} {} {}", file, bytes, sha256, replaces,
                                           base::ShellQuote(from.address), from.name)),
      .limit = 2 * kPutLimit + std::chrono::seconds{bytes / kSlowestFetch}};
}

std::string CodeFileName(const core::JobOnHost& on, const std::string& sha256) {
  return CodeFilePrefix(on) + sha256 + ".tar.gz";
}

std::string CodeFilePrefix(const core::JobOnHost& on) {
  return fmt::format("{}.j{}.", on.store, core::FormatJobId(on.job));
}

}  // namespace jobman::remote
