#include "jobman/controller/shell_messages.hpp"

#include <algorithm>
#include <array>

#include "jobman/base/strings.hpp"
#include "jobman/controller/shell_frames.hpp"

namespace jobman::controller {
namespace {

constexpr std::string_view kVouched = "vouched ";
constexpr std::size_t kLongestText = std::size_t{16} << 10;
constexpr std::size_t kMostContext = 12;
/// Bytes of a request without its command.
constexpr std::size_t kUsualRequest = 1024;
constexpr int kLastPort = 65535;

/// Members by the name of their field: one list for both directions.
struct TextField {
  std::string_view name;
  std::string ports::HostTarget::*member;
};
constexpr std::array kTexts = {TextField{"address", &ports::HostTarget::address},
                               TextField{"user", &ports::HostTarget::user},
                               TextField{"private_key", &ports::HostTarget::private_key},
                               TextField{"identity", &ports::HostTarget::identity},
                               TextField{"unvouched", &ports::HostTarget::unvouched},
                               TextField{"proxy_jump", &ports::HostTarget::proxy_jump},
                               TextField{"proxy_command", &ports::HostTarget::proxy_command},
                               TextField{"vm_name", &ports::HostTarget::vm_name}};
struct FlagField {
  std::string_view name;
  bool ports::HostTarget::*member;
};
constexpr std::array kFlags = {FlagField{"first_sight", &ports::HostTarget::first_sight},
                               FlagField{"strict", &ports::HostTarget::strict},
                               FlagField{"forward_agent", &ports::HostTarget::forward_agent}};
struct TimeField {
  std::string_view name;
  std::optional<base::Duration> ShellRequest::*member;
};
constexpr std::array kTimes = {TimeField{"limit", &ShellRequest::limit},
                               TimeField{"silence", &ShellRequest::silence},
                               TimeField{"linger", &ShellRequest::linger}};

base::Error Wrong(const std::string& what) {
  return base::InvalidArgument("a request to run a command: " + what);
}

base::Status ReadTime(ShellRequest& request, const TimeField& field, std::string_view value) {
  const auto millis = base::ParseNumber(value);
  if (!millis || base::Duration{*millis} > base::kLongestDuration)
    return Wrong(std::string(field.name) + " is no time");
  request.*field.member = base::Duration{*millis};
  return base::Ok();
}

base::Status ReadField(ShellRequest& request, std::string_view name, std::string_view value) {
  for (const TextField& field : kTexts)
    if (name == field.name) request.target.*field.member = value;
  for (const FlagField& field : kFlags)
    if (name == field.name) request.target.*field.member = value == "1";
  for (const TimeField& field : kTimes) {
    if (name == field.name) JM_TRY(ReadTime(request, field, value));
  }
  if (name == "command") request.command = value;
  if (name == "agent") request.agent = value;
  if (name == "confirm") request.confirm = value == "1";
  if (name == "port")
    request.target.port = static_cast<int>(base::ParseNumber(value.substr(0, 6)).value_or(0));
  if (name.starts_with(kVouched))
    request.target.vouched_keys[std::string(name.substr(kVouched.size()))] = value;
  return base::Ok();
}

/// What ends a line ends a name of a connection too, and a C string ends at a zero.
bool IsOneLine(const std::string& text) {
  return text.find('\n') == std::string::npos && text.find('\0') == std::string::npos;
}

base::Status CheckTarget(const ports::HostTarget& target) {
  if (target.address.empty()) return Wrong("no address");
  if (target.port < 1 || target.port > kLastPort) return Wrong("no port");
  for (const TextField& field : kTexts) {
    const bool for_people = field.member == &ports::HostTarget::unvouched;
    if (!for_people && !IsOneLine(target.*field.member))
      return Wrong(std::string(field.name) + " has two lines");
  }
  for (const auto& [type, key] : target.vouched_keys)
    if (!IsOneLine(type) || !IsOneLine(key)) return Wrong("a host key has two lines");
  return base::Ok();
}

}  // namespace

std::string Encode(const ShellRequest& request) {
  std::string body;
  body.reserve(kUsualRequest + request.command.size());
  AppendField(body, "version", std::to_string(kShellVersion));
  AppendField(body, "command", request.command);
  AppendField(body, "agent", request.agent);
  AppendField(body, "confirm", request.confirm ? "1" : "0");
  AppendField(body, "port", std::to_string(request.target.port));
  for (const TextField& field : kTexts) AppendField(body, field.name, request.target.*field.member);
  for (const FlagField& field : kFlags)
    AppendField(body, field.name, request.target.*field.member ? "1" : "0");
  for (const TimeField& field : kTimes)
    if (const auto& time = request.*field.member)
      AppendField(body, field.name, std::to_string(time->count()));
  for (const auto& [type, key] : request.target.vouched_keys)
    AppendField(body, std::string(kVouched) + type, key);
  return body;
}

base::Result<ShellRequest> ParseRequest(std::string_view body) {
  JM_ASSIGN_OR_RETURN(const Fields fields, ParseFields(body));
  const std::string version = std::to_string(kShellVersion);
  if (fields.empty() || fields[0].first != "version" || fields[0].second != version) {
    return base::Error{.code = base::Code::kUnimplemented,
                       .message = "the controller speaks version " + version};
  }
  ShellRequest request;
  for (const auto& [name, value] : fields) JM_TRY(ReadField(request, name, value));
  JM_TRY(CheckTarget(request.target));
  return request;
}

std::string Encode(const base::Error& error) {
  std::string body;
  AppendField(body, "code", base::CodeName(error.code));
  AppendField(body, "reason", base::ReasonName(error.reason));
  AppendField(body, "message", base::Shorten(error.message, kLongestText));
  AppendField(body, "hint", base::Shorten(error.hint, kLongestText));
  if (error.retry_after)
    AppendField(body, "retry_after", std::to_string(error.retry_after->count()));
  for (std::size_t i = 0; i < std::min(error.context.size(), kMostContext); ++i)
    AppendField(body, "context", base::Shorten(error.context[i], kLongestText));
  return body;
}

base::Error ParseError(std::string_view body) {
  const auto fields = ParseFields(body);
  if (!fields.ok() || fields->empty())
    return base::Internal("the controller reports an error that cannot be read");
  base::Error error;
  for (const auto& [name, value] : *fields) {
    if (name == "code") error.code = base::CodeFromName(value);
    if (name == "reason") error.reason = base::ReasonFromName(value);
    if (name == "message") error.message = value;
    if (name == "hint") error.hint = value;
    if (name == "context") error.context.emplace_back(value);
    if (name == "retry_after")
      error.retry_after = std::chrono::seconds{base::ParseNumber(value.substr(0, 9)).value_or(0)};
  }
  return error;
}

}  // namespace jobman::controller
