#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/login_sources.hpp"
#include "auth/no_token.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/http/redact.hpp"
#include "jobman/http/url.hpp"

namespace jobman::auth {
namespace {

using base::Error;
using base::GetString;
using base::Json;

constexpr const char* kAllowVariable = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
constexpr std::int64_t kLatest = 100'000'000'000;
constexpr const char* kSaml = "urn:ietf:params:oauth:token-type:saml2";

/// The token of the other identity provider, from where the credentials say.
class Subject {
 public:
  Subject(const Federation& federation, std::string acts_as, Env env, Exchanger exchanger,
          Asker asker)
      : federation_(federation),
        acts_as_(std::move(acts_as)),
        env_(std::move(env)),
        exchanger_(std::move(exchanger)),
        asker_(std::move(asker)) {}

  Task<Result<std::string>> Get() {
    const SubjectSource& source = federation_.subject;
    if (source.kind == SubjectSource::Kind::kExecutable) co_return co_await Run();
    if (source.kind == SubjectSource::Kind::kUrl) {
      http::Request request{.url = source.place};
      // Without TLS it is a server of this machine, or of its cloud's metadata.
      request.direct = !base::ToLower(source.place).starts_with("https://");
      Asker asker = asker_;
      for (const auto& [name, value] : source.headers) {
        request.headers.emplace_back(name, value);
        asker.secrets.push_back(value);
        asker.secrets.push_back(value.substr(value.rfind(' ') + 1));  // "Bearer SECRET"
      }
      JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                             co_await Exchange(exchanger_, std::move(asker), std::move(request)));
      co_return In(answer.body);
    }
    const auto text = base::ReadRegularFile(base::ExpandHome(source.place));
    if (!text) co_return Bad(text.error().message);
    co_return In(*text);
  }

 private:
  Error Bad(const std::string& why) const {
    return NoToken(asker_.origin + ": the token of its identity provider is not there: " + why,
                   asker_.cure);
  }
  Result<std::string> In(const std::string& text) const {
    const std::string& field = federation_.subject.field;
    std::string token(base::Trim(text));
    if (!field.empty()) token = GetString(base::ParseJson(text).value_or(Json()), field);
    if (token.empty()) return Bad(field.empty() ? "it is empty" : "there is no \"" + field + '"');
    return token;
  }

  /// AIP-4117: the command is called with what it needs to know, and answers with JSON.
  Task<Result<std::string>> Run() {
    const SubjectSource& source = federation_.subject;
    if (env_(kAllowVariable) != "1") {
      co_return NoToken(asker_.origin + " run a program, which is not allowed",
                        "if you trust the file: export " + std::string(kAllowVariable) + "=1");
    }
    JM_CO_TRY(CheckSafe());
    if (const auto kept = Kept()) co_return *kept;
    auto run = base::RunProcess(Command());
    auto limited = base::WithTimeout(std::move(run), source.timeout, "'" + source.place + "'");
    const auto ran = co_await std::move(limited);
    if (!ran) co_return Bad(ran.error().message);
    if (ran->exit_code != 0) {
      const std::string said = http::RedactText(base::Trim(ran->err));
      co_return Bad(fmt::format("'{}' ended with exit code {}{}{}", source.place, ran->exit_code,
                                said.empty() ? "" : ": ", base::Shorten(said, 300)));
    }
    co_return Answer(ran->out);
  }

  /// Whoever can change the program, or what it keeps, chooses whose token is used.
  base::Status CheckSafe() const {
    constexpr const char* kCure = "put it into a folder of your own";
    const std::string program = "the program of " + asker_.origin;
    auto safe = base::CheckTrustedCommand(federation_.subject.place, {}, {program, kCure});
    const std::string& file = federation_.subject.output_file;
    const std::string kept = "the output file of " + program;
    if (safe && !file.empty()) safe = base::CheckTrusted(base::ExpandHome(file), {kept, kCure});
    return safe ? safe : NoToken(safe.error().message, safe.error().hint);
  }

  std::vector<std::string> Command() const {
    std::vector<std::string> argv = {
        "env", "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE=" + federation_.audience,
        "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=" + federation_.subject_type,
        "GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0"};
    if (!acts_as_.empty()) argv.push_back("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL=" + acts_as_);
    const std::string& file = federation_.subject.output_file;
    if (!file.empty()) argv.push_back("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=" + file);
    for (const std::string& word : base::Split(federation_.subject.place, ' ')) {
      if (!word.empty()) argv.push_back(word);
    }
    return argv;
  }

  /// What the command left in its output file, while that is valid.
  std::optional<std::string> Kept() const {
    const std::string& file = federation_.subject.output_file;
    if (file.empty()) return std::nullopt;
    const auto text = base::ReadRegularFile(base::ExpandHome(file));
    if (!text) return std::nullopt;
    const Json json = base::ParseJson(*text).value_or(Json());
    // Bounded: a number of this size cannot overflow.
    const std::int64_t seconds =
        std::clamp<std::int64_t>(base::GetInt(json, "expiration_time"), 0, kLatest);
    const TimePoint until{std::chrono::seconds{seconds}};
    if (!base::GetBool(json, "success") || until <= exchanger_.clock->Now()) return std::nullopt;
    const auto token = Answer(*text);
    return token ? std::optional(*token) : std::nullopt;
  }

  Result<std::string> Answer(const std::string& text) const {
    const Json json = base::ParseJson(text).value_or(Json());
    if (!json.is_object()) return Bad("'" + federation_.subject.place + "' answers with no JSON");
    if (!base::GetBool(json, "success")) {
      return Bad(fmt::format("'{}' says {}: {}", federation_.subject.place, GetString(json, "code"),
                             base::Shorten(http::RedactText(GetString(json, "message")), 300)));
    }
    const char* const field = GetString(json, "token_type") == kSaml ? "saml_response" : "id_token";
    const std::string token = GetString(json, field);
    if (token.empty()) return Bad("the answer has no \"" + std::string(field) + '"');
    return token;
  }

  const Federation& federation_;
  std::string acts_as_;
  Env env_;
  Exchanger exchanger_;
  Asker asker_;
};

class FederatedSource final : public TokenSource {
 public:
  FederatedSource(Federation federation, std::string scope, std::string acts_as, Env env,
                  Exchanger exchanger, Asker asker)
      : federation_(std::move(federation)),
        scope_(std::move(scope)),
        exchanger_(std::move(exchanger)),
        asker_(std::move(asker)),
        subject_(federation_, std::move(acts_as), std::move(env), exchanger_, asker_) {
    asker_.secrets = {federation_.client_secret, Basic()};
  }

  Task<Result<AccessToken>> Get() override {
    JM_CO_ASSIGN_OR_RETURN(const std::string subject, co_await subject_.Get());
    http::Headers form = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                          {"audience", federation_.audience},
                          {"scope", scope_},
                          {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                          {"subject_token", subject},
                          {"subject_token_type", federation_.subject_type}};
    // A client that is named has a project of its own.
    if (!federation_.user_project.empty() && federation_.client_id.empty()) {
      const Json options = {{"userProject", federation_.user_project}};
      form.emplace_back("options", options.dump());
    }
    http::Request request = FormRequest(federation_.token_url, form);
    if (!federation_.client_id.empty()) {
      http::SetHeader(request.headers, "Authorization", "Basic " + Basic());
    }
    Asker asker = asker_;
    asker.secrets.push_back(subject);
    const TimePoint sent = exchanger_.clock->Now();
    JM_CO_ASSIGN_OR_RETURN(const http::Response answer,
                           co_await Exchange(exchanger_, std::move(asker), std::move(request)));
    co_return ParseAnswer(answer.body, sent, asker_);
  }
  void Invalidate() override {}

 private:
  /// What a client names itself with; empty if there is none.
  std::string Basic() const {
    if (federation_.client_id.empty()) return {};
    return base::Base64(federation_.client_id + ":" + federation_.client_secret);
  }

  Federation federation_;
  std::string scope_;
  Exchanger exchanger_;
  Asker asker_;
  Subject subject_;
};

}  // namespace

std::unique_ptr<TokenSource> MakeFederatedSource(Federation federation, std::string scope,
                                                 std::string acts_as, Env env, Exchanger exchanger,
                                                 Asker asker) {
  return std::make_unique<FederatedSource>(std::move(federation), std::move(scope),
                                           std::move(acts_as), std::move(env), std::move(exchanger),
                                           std::move(asker));
}

}  // namespace jobman::auth
