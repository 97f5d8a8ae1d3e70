#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/http/transport.hpp"

namespace jobman::test {

/// Gives the answers of a list, in order, and keeps the requests.
class FakeTransport final : public http::Transport {
 public:
  struct Script {
    std::deque<base::Result<http::Response>> answers = {};
    std::vector<http::Request> requests = {};

    void Answer(int status, std::string body, http::Headers headers = {}) {
      answers.push_back(
          http::Response{.status = status, .headers = std::move(headers), .body = std::move(body)});
    }
    void Fail(base::Error error) { answers.push_back(std::move(error)); }
  };

  explicit FakeTransport(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  base::Task<base::Result<http::Response>> Send(http::Request request) override {
    script_->requests.push_back(std::move(request));
    co_await base::Yield();
    if (script_->answers.empty()) {
      co_return base::Error{.code = base::Code::kUnavailable,
                            .message = "no answers are left in the script"};
    }
    base::Result<http::Response> answer = std::move(script_->answers.front());
    script_->answers.pop_front();
    co_return answer;
  }

 private:
  std::shared_ptr<Script> script_;
};

/// A loop on which a test runs one call at a time.
struct Loop {
  asio::io_context context = {};
  template <class T>
  T Run(base::Task<T> task) {
    return base::RunTask(context, std::move(task));
  }
};

inline base::Json Parse(const std::string& text) {
  auto json = base::ParseJson(text);
  JM_CHECK(json.ok(), "the JSON in the test is valid");
  return *json;
}

}  // namespace jobman::test
