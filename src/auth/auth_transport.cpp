#include "jobman/auth/auth_transport.hpp"

#include "jobman/base/url.hpp"
#include "jobman/http/curl_transport.hpp"

namespace jobman::auth {
namespace {

using http::Request;
using http::Response;

constexpr int kUnauthorized = 401;

class AuthTransport final : public http::Transport {
 public:
  AuthTransport(std::unique_ptr<http::Transport> inner, Identity identity)
      : inner_(std::move(inner)), identity_(std::move(identity)) {}

  Task<Result<Response>> Send(Request request) override {
    JM_CO_ASSIGN_OR_RETURN(const AccessToken token, co_await identity_.tokens->Get());
    JM_CO_ASSIGN_OR_RETURN(Request signed_request, Sign(request, token));
    Result<Response> answer = co_await inner_->Send(std::move(signed_request));
    if (!answer || answer->status != kUnauthorized || token.value.empty()) co_return answer;

    const Result<AccessToken> renewed = co_await Renew(token.value);
    // The same token would be refused again; the 401 says more than that.
    if (!renewed || renewed->value == token.value) co_return answer;
    JM_CO_ASSIGN_OR_RETURN(Request again, Sign(std::move(request), *renewed));
    co_return co_await inner_->Send(std::move(again));
  }

 private:
  /// Returns a new token after one was refused. Of many requests refused with the same token, only
  /// the first fetches a new one.
  Task<Result<AccessToken>> Renew(std::string refused) {
    Result<AccessToken> present = co_await identity_.tokens->Get();
    if (!present || present->value != refused) co_return present;
    identity_.tokens->Invalidate();
    co_return co_await identity_.tokens->Get();
  }

  Result<Request> Sign(Request request, const AccessToken& token) const {
    if (token.value.empty()) return request;
    JM_ASSIGN_OR_RETURN(const base::Url url, base::ParseUrl(request.url));
    if (url.IsOpen()) {
      return base::InvalidArgument("an access token is not sent over plain http to " + url.host,
                                   "use an https endpoint; http is accepted for this machine only");
    }
    http::SetHeader(request.headers, "Authorization", "Bearer " + token.value);
    http::SetHeader(request.headers, "x-goog-api-client", "gl-cpp/20 " + http::DefaultUserAgent());
    if (!identity_.quota_project.empty()) {
      http::SetHeader(request.headers, "x-goog-user-project", identity_.quota_project);
    }
    return request;
  }

  std::unique_ptr<http::Transport> inner_;
  Identity identity_;
};

}  // namespace

std::unique_ptr<http::Transport> MakeAuthTransport(std::unique_ptr<http::Transport> inner,
                                                   Identity identity) {
  return std::make_unique<AuthTransport>(std::move(inner), std::move(identity));
}

}  // namespace jobman::auth
