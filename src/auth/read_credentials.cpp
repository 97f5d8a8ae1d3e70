#include <algorithm>
#include <chrono>

#include "auth/credentials.hpp"
#include "auth/no_token.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/url.hpp"

namespace jobman::auth {
namespace {

using base::Error;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

// A user's file may name another address, but Google's libraries do not follow it either.
constexpr const char* kGoogleTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kDefaultWorkforceUrl = "https://sts.googleapis.com/v1/oauthtoken";
constexpr int kDeepestSource = 4;

/// A word of the file, for people: whoever wrote it does not write to the terminal.
std::string ShownWord(const std::string& word) {
  return base::Shorten(base::CleanLine(word), 60);
}

/// Reads one object, and remembers the first thing that is wrong with it.
class Reader {
 public:
  Reader(const Json& object, const std::string& origin) : object_(object), origin_(origin) {}

  std::string Need(const char* key) {
    std::string text = GetString(object_, key);
    if (text.empty()) Fail("it has no \"" + std::string(key) + '"');
    return text;
  }
  /// An https URL, or one of this machine.
  std::string NeedUrl(const char* key, const std::string& otherwise = {}) {
    std::string text = GetString(object_, key);
    if (text.empty()) text = otherwise;
    const auto url = base::ParseUrl(text);
    if (!url || url->IsOpen()) Fail("its \"" + std::string(key) + "\" is no https URL");
    return text;
  }
  void Fail(const std::string& why, const std::string& hint = {}) {
    if (!error_) error_ = Bad(origin_, why, hint);
  }
  const std::optional<Error>& error() const { return error_; }

  static Error Bad(const std::string& origin, const std::string& why,
                   const std::string& hint = {}) {
    return NoToken(origin + " cannot be used: " + why,
                   hint.empty() ? "write the file anew, for instance with gcloud auth "
                                  "application-default login"
                                : hint);
  }

 private:
  const Json& object_;
  const std::string& origin_;
  std::optional<Error> error_ = {};
};

UserLogin ReadUser(Reader& reader, bool workforce) {
  UserLogin login{.client_id = reader.Need("client_id"),
                  .client_secret = reader.Need("client_secret"),
                  .refresh_token = reader.Need("refresh_token"),
                  .token_url = kGoogleTokenUrl,
                  .workforce = workforce};
  if (workforce) login.token_url = reader.NeedUrl("token_url", kDefaultWorkforceUrl);
  return login;
}

ServiceKey ReadServiceKey(Reader& reader, const Json& object) {
  return {.email = reader.Need("client_email"),
          .private_key = reader.Need("private_key"),
          .key_id = GetString(object, "private_key_id"),
          .token_url = reader.NeedUrl("token_uri", kGoogleTokenUrl)};
}

/// "format": {"type": "json", "subject_token_field_name": "access_token"}
std::string ReadField(const Json& source, Reader& reader) {
  const Json& format = GetMember(source, "format");
  const std::string type = GetString(format, "type");
  if (type.empty() || type == "text") return {};
  if (type != "json") reader.Fail("the \"format\" of its source is neither text nor json");
  const std::string field = GetString(format, "subject_token_field_name");
  if (field.empty()) reader.Fail("its source has no \"subject_token_field_name\"");
  return field;
}

/// Its headers are often secret, and its answer always is. Metadata servers of clouds speak plain
/// http, on this machine's own link.
void CheckSubjectUrl(const std::string& text, Reader& reader) {
  const auto url = base::ParseUrl(text);
  if (!url) {
    reader.Fail("the \"url\" of its source is no http or https URL");
  } else if (url->IsOpen() && !base::IsLinkLocal(url->host) &&
             url->host != "metadata.google.internal") {
    reader.Fail("its source is plain http to " + ShownWord(url->host),
                "use an https URL; http is for this machine and for a cloud's metadata server");
  }
}

SubjectSource ReadSubject(const Json& source, Reader& reader) {
  SubjectSource subject{.field = ReadField(source, reader)};
  const Json& executable = GetMember(source, "executable");
  if (!GetString(source, "environment_id").empty()) {
    reader.Fail("its source is Amazon's cloud, which is not supported yet",
                "let a program fetch the token: credential_source.executable");
  } else if (!GetMember(source, "certificate").is_null()) {
    reader.Fail("its source is an X.509 certificate, which is not supported yet",
                "let a program fetch the token: credential_source.executable");
  } else if (!GetString(source, "file").empty()) {
    subject.place = GetString(source, "file");
  } else if (!GetString(source, "url").empty()) {
    subject.kind = SubjectSource::Kind::kUrl;
    subject.place = GetString(source, "url");
    CheckSubjectUrl(subject.place, reader);
    const Json& headers = GetMember(source, "headers");
    for (const auto& [name, value] : headers.items()) {
      if (headers.is_object() && value.is_string())
        subject.headers[name] = value.get<std::string>();
    }
  } else if (!GetString(executable, "command").empty()) {
    subject.kind = SubjectSource::Kind::kExecutable;
    subject.place = GetString(executable, "command");
    subject.output_file = GetString(executable, "output_file");
    // AIP-4117: from 5 s to 2 minutes.
    const auto ms = base::GetInt(executable, "timeout_millis");
    if (ms > 0)
      subject.timeout = std::chrono::milliseconds{std::clamp<std::int64_t>(ms, 5'000, 120'000)};
  } else {
    reader.Fail("its \"credential_source\" names no file, url or executable");
  }
  return subject;
}

/// "//iam.googleapis.com/locations/global/workforcePools/POOL/providers/NAME".
bool IsOfWorkforce(const std::string& audience) {
  constexpr std::string_view kBefore = "//iam.googleapis.com/locations/";
  if (!audience.starts_with(kBefore)) return false;
  const std::size_t slash = audience.find('/', kBefore.size());
  return slash != std::string::npos && slash > kBefore.size() &&
         std::string_view(audience).substr(slash).starts_with("/workforcePools/");
}

std::string ReadUserProject(Reader& reader, const Json& object) {
  std::string project = GetString(object, "workforce_pool_user_project");
  if (!project.empty() && !IsOfWorkforce(GetString(object, "audience"))) {
    reader.Fail("its \"workforce_pool_user_project\" needs the \"audience\" of a workforce pool",
                "remove it from the file, or name the pool");
  }
  return project;
}

Federation ReadFederation(Reader& reader, const Json& object) {
  return {.audience = reader.Need("audience"),
          .subject_type = reader.Need("subject_token_type"),
          .token_url = reader.NeedUrl("token_url"),
          .client_id = GetString(object, "client_id"),
          .client_secret = GetString(object, "client_secret"),
          .user_project = ReadUserProject(reader, object),
          .subject = ReadSubject(GetMember(object, "credential_source"), reader)};
}

/// "service_account_impersonation": {"token_lifetime_seconds": 2800}. The limits are those of
/// Google's IAM Service Account Credentials API and of its client libraries.
std::chrono::seconds ReadLifetime(Reader& reader, const Json& object) {
  constexpr std::chrono::seconds kShortest = std::chrono::minutes{10};
  constexpr std::chrono::seconds kLongest = std::chrono::hours{12};
  const Json& settings = GetMember(object, "service_account_impersonation");
  if (GetMember(settings, "token_lifetime_seconds").is_null()) return Impersonation{}.lifetime;
  const std::chrono::seconds lifetime{base::GetInt(settings, "token_lifetime_seconds")};
  if (lifetime < kShortest || lifetime > kLongest) {
    reader.Fail("its \"token_lifetime_seconds\" is no number from 600 to 43200",
                "write such a number, or remove it: then it is an hour");
  }
  return lifetime;
}

Impersonation ReadImpersonation(Reader& reader, const Json& object) {
  Impersonation one{.url = reader.NeedUrl("service_account_impersonation_url"),
                    .lifetime = ReadLifetime(reader, object)};
  for (const Json& delegate : GetMember(object, "delegates"))
    if (delegate.is_string()) one.delegates.push_back(delegate.get<std::string>());
  if (one.Account().empty()) {
    reader.Fail("its \"service_account_impersonation_url\" names no service account");
  }
  return one;
}

Result<Credentials> ReadObject(const Json& object, const std::string& origin, int depth) {
  Credentials found{.quota_project = GetString(object, "quota_project_id"), .origin = origin};
  Reader reader(object, origin);
  const std::string universe = GetString(object, "universe_domain");
  if (!universe.empty() && universe != "googleapis.com") {
    return Reader::Bad(origin, "it is for another cloud, " + ShownWord(universe),
                       "use credentials of googleapis.com");
  }
  const std::string type = GetString(object, "type");
  if (type == "authorized_user" || type == "external_account_authorized_user") {
    found.login = ReadUser(reader, type != "authorized_user");
  } else if (type == "service_account") {
    found.login = ReadServiceKey(reader, object);
  } else if (type == "external_account") {
    found.login = ReadFederation(reader, object);
    if (!GetString(object, "service_account_impersonation_url").empty())
      found.impersonations.push_back(ReadImpersonation(reader, object));
  } else if (type == "impersonated_service_account") {
    if (depth >= kDeepestSource) return Reader::Bad(origin, "its sources are nested too deep");
    auto source = ReadObject(GetMember(object, "source_credentials"), origin, depth + 1);
    if (!source) return source;
    found.login = std::move(source->login);
    found.impersonations = std::move(source->impersonations);
    found.impersonations.push_back(ReadImpersonation(reader, object));
    if (found.quota_project.empty()) found.quota_project = source->quota_project;
  } else if (type.empty()) {
    reader.Fail("it has no \"type\"");
  } else {
    reader.Fail("its type is " + ShownWord(type) + ", which is not supported",
                "use a user's login (gcloud auth application-default login) or the key of a "
                "service account");
  }
  if (reader.error()) return *reader.error();
  return found;
}

}  // namespace

std::string Impersonation::Account() const {
  constexpr std::string_view kBefore = "/serviceAccounts/";
  constexpr std::string_view kAfter = ":generateAccessToken";
  const std::size_t at = url.rfind(kBefore);
  if (at == std::string::npos || !url.ends_with(kAfter)) return {};
  const std::size_t begin = at + kBefore.size();
  return begin + kAfter.size() > url.size() ? std::string()
                                            : url.substr(begin, url.size() - kAfter.size() - begin);
}

std::string Credentials::Account() const {
  if (!impersonations.empty()) return impersonations.back().Account();
  if (const auto* key = std::get_if<ServiceKey>(&login)) return key->email;
  return {};
}

Result<Credentials> ParseCredentials(std::string_view text, const std::string& origin) {
  const auto json = base::ParseJson(text);
  if (!json || !json->is_object()) return Reader::Bad(origin, "it is no JSON object");
  return ReadObject(*json, origin, 0);
}

}  // namespace jobman::auth
