#include "jobman/http/redacting_transport.hpp"

#include <algorithm>

#include "http/escaped.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/http/redact.hpp"

namespace jobman::http {
namespace {

/// Shorter ones are found in ordinary text; no service issues them.
constexpr std::size_t kShortestToken = 8;

/// The credential of "Bearer abc".
std::string TokenOf(const Headers& headers) {
  const std::string value = FindHeader(headers, "Authorization").value_or("");
  return value.substr(value.find(' ') + 1);
}

/// How the secret reads inside of a longer text in base64, after `shift` other bytes of a group of
/// three: without the characters that depend on its neighbours.
std::string InBase64(const std::string& secret, std::size_t shift) {
  const std::string coded = base::Base64(std::string(shift, ' ') + secret);
  const std::size_t over = (shift + secret.size()) % 3;
  const std::size_t first = shift == 0 ? 0 : shift + 1;
  const std::size_t last = coded.size() - (over == 0 ? 0 : 4 - over);
  return coded.substr(first, last - first);
}

std::string InHex(const std::string& secret, const char* digits) {
  std::string coded;
  for (const char c : secret) {
    const auto byte = static_cast<unsigned char>(c);
    coded += digits[byte >> 4U];
    coded += digits[byte & 0xfU];
  }
  return coded;
}

std::vector<std::string> FormsOf(const std::string& secret) {
  std::vector<std::string> forms = {secret, InHex(secret, "0123456789abcdef"),
                                    InHex(secret, "0123456789ABCDEF")};
  for (const std::size_t shift : {0U, 1U, 2U}) {
    forms.push_back(InBase64(secret, shift));
    forms.push_back(base::ReplaceAll(base::ReplaceAll(forms.back(), "+", "-"), "/", "_"));
  }
  std::sort(forms.begin(), forms.end());
  forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
  return forms;
}

class RedactingTransport final : public Transport {
 public:
  explicit RedactingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  Task<Result<Response>> Send(Request request) override {
    const std::string token = TokenOf(request.headers);
    JM_CO_ASSIGN_OR_RETURN(Response answer, co_await inner_->Send(std::move(request)));
    if (token.size() < kShortestToken) co_return answer;
    for (const std::string& form : FormsOf(token)) {
      answer.body = WithoutEscaped(std::move(answer.body), form);
      for (auto& field : answer.headers) {
        field.first = WithoutEscaped(std::move(field.first), form);
        field.second = WithoutEscaped(std::move(field.second), form);
      }
    }
    co_return answer;
  }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace

std::unique_ptr<Transport> MakeRedactingTransport(std::unique_ptr<Transport> inner) {
  return std::make_unique<RedactingTransport>(std::move(inner));
}

}  // namespace jobman::http
