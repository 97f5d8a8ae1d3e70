#include "jobman/http/redacting_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/hash.hpp"
#include "jobman/http/redact.hpp"
#include "jobman/http/url.hpp"
#include "tests/support/fake_transport.hpp"

namespace jobman::http {
namespace {

using testing::HasSubstr;
using testing::Not;

// No mark says that this is a token.
const std::string kToken = "q9XzLw3/Vb+7_Tt2-RrKk0";

class RedactingTransportTest : public testing::Test {
 protected:
  /// The answer to a request with the token, when the peer answers so.
  Response AnswerTo(const std::string& authorization, const std::string& body,
                    const std::string& location = {}) {
    script_->Answer(302, body, {{"Location", location}});
    const auto transport = MakeRedactingTransport(std::make_unique<test::FakeTransport>(script_));
    Request request{.url = "https://h/"};
    request.headers = {{"authorization", authorization}};
    return *loop_.Run(transport->Send(std::move(request)));
  }

  test::Loop loop_;
  std::shared_ptr<test::FakeTransport::Script> script_ =
      std::make_shared<test::FakeTransport::Script>();
};

TEST_F(RedactingTransportTest, LeavesNoEchoOfTheTokenInUse) {
  const Response answer = AnswerTo("Bearer " + kToken, "you sent " + kToken + ", " + kToken,
                                   "https://elsewhere/?t=" + PercentEncode(kToken));
  EXPECT_EQ(answer.body, "you sent [redacted], [redacted]");
  EXPECT_EQ(FindHeader(answer.headers, "Location"), "https://elsewhere/?t=[redacted]");
}

TEST_F(RedactingTransportTest, FindsTheTokenInJson) {
  const Response answer = AnswerTo("Bearer " + kToken, R"({"m":"q9XzLw3\/Vb+7_Tt2-RrKk0"})");
  EXPECT_EQ(answer.body, R"({"m":"[redacted]"})");
}

TEST_F(RedactingTransportTest, FindsTheTokenInBase64) {
  for (const std::string before : {"", "x", "xy", "Bearer "}) {
    for (const std::string after : {"", "z", "zz"}) {
      const std::string coded = base::Base64(before + kToken + after);
      const std::string shown = AnswerTo("Bearer " + kToken, coded).body;
      EXPECT_THAT(shown, HasSubstr(kRedacted)) << coded;
      EXPECT_LE(shown.size(), kRedacted.size() + 18) << shown;
    }
  }
}

TEST_F(RedactingTransportTest, FindsTheTokenHoweverItsCharactersAreEscaped) {
  const std::string token = "ya29.q&/X";
  for (const char* const echo :
       {"ya29.q&/X", "%79%61%32%39%2e%71%26%2F%58", "ya29%2eq%26%2fX", "\\u0079a29.q\\u0026\\/X",
        "ya29.q\\x26/X", "&#121;a29&#46;q&amp;&#x2F;X", "&#X79;a29.q&#0038;/X",
        "ya29.q%26\\/&#x58;", "796132392e71262f58", "796132392E71262F58", "ya29.q%2526/X",
        "ya29.q\\\\u0026\\\\/X", "%252579a29.q\\\\\\\\u0026/X", "ya29.q&amp;#38;\\u0026#47;X",
        "ya29.q&amp;amp;amp;/X"}) {
    const std::string text = "<a>" + std::string(echo) + "</a>";
    EXPECT_EQ(AnswerTo("Bearer " + token, text, text).body, "<a>[redacted]</a>") << echo;
    EXPECT_EQ(FindHeader(AnswerTo("Bearer " + token, "", text).headers, "Location"),
              "<a>[redacted]</a>");
  }
}

TEST_F(RedactingTransportTest, LeavesEscapesThatAreNotTheToken) {
  for (const char* const text :
       {"", "%", "%7", "%zz", "\\", "\\u00", "\\ud83d", "&", "&#;", "&#x;", "&#300;", "&nbsp;",
        "ya29.q&/", "%79a29.q%26%2f", "ya29.q%2525252526/X"}) {
    EXPECT_EQ(AnswerTo("Bearer ya29.q&/X", text).body, text);
  }
}

TEST_F(RedactingTransportTest, LooksAtTheNamesOfHeadersToo) {
  script_->Answer(200, "", {{"X-" + kToken, "y"}});
  const auto transport = MakeRedactingTransport(std::make_unique<test::FakeTransport>(script_));
  Request request{.url = "https://h/"};
  request.headers = {{"Authorization", "Bearer " + kToken}};
  const auto answer = loop_.Run(transport->Send(std::move(request)));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->headers.front().first, "X-[redacted]");
}

TEST_F(RedactingTransportTest, LeavesTheRestAsItIs) {
  EXPECT_EQ(AnswerTo("Bearer " + kToken, "nothing of it").body, "nothing of it");
  EXPECT_EQ(AnswerTo("Bearer a", "a banana").body, "a banana");
  EXPECT_EQ(AnswerTo("", "a banana").body, "a banana");
}

}  // namespace
}  // namespace jobman::http
