#include "tests/e2e/listener.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace jobman::test {
namespace {

void SayTo(int socket, const std::string& text) {
  (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

/// Reads until the text contains `end`; false when the client closed before.
bool HearUntil(int socket, std::string& text, const std::string& end) {
  std::array<char, 4096> buffer = {};
  while (text.find(end) == std::string::npos) {
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

std::size_t LengthIn(const std::string& head) {
  const std::size_t at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
}

/// The head and the body of a request; empty if the client goes away.
std::string HearRequest(int socket) {
  std::string text;
  if (!HearUntil(socket, text, "\r\n\r\n")) return {};
  const std::size_t body = text.find("\r\n\r\n") + 4;
  std::array<char, 4096> buffer = {};
  while (text.size() < body + LengthIn(text)) {
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

Listener::Listener(Talk talk)
    : talk_(std::move(talk)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* name = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket_.get(), name, sizeof address), 0);
  EXPECT_EQ(::listen(socket_.get(), 128), 0);
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket_.get(), name, &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

Listener::~Listener() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

std::vector<std::string> Listener::heard() const {
  const std::lock_guard lock(mutex_);
  return heard_;
}

void Listener::Serve() {
  for (;;) {
    const base::UniqueFd caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller) return;
    std::string text = talk_(caller.get());
    const std::lock_guard lock(mutex_);
    if (!text.empty()) heard_.push_back(std::move(text));
  }
}

Listener::Talk WebhookThatSays(std::function<int()> status) {
  return WebhookThatAnswers([status](const std::string&) { return status(); });
}

Listener::Talk WebhookThatAnswers(std::function<int(const std::string& request)> judge) {
  return [judge](int socket) {
    const std::string text = HearRequest(socket);
    if (text.empty()) return text;
    SayTo(socket, "HTTP/1.1 " + std::to_string(judge(text)) +
                      " Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return text;
  };
}

Listener::Talk ServiceThatFinds(std::function<std::string(const std::string& request)> find) {
  return [find](int socket) {
    const std::string text = HearRequest(socket);
    if (text.empty()) return text;
    const std::string found = find(text);
    const std::string body =
        found.empty() ? R"({"error": {"code": 404, "message": "there is none"}})" : found;
    SayTo(socket, std::string("HTTP/1.1 ") + (found.empty() ? "404 Not Found" : "200 OK") +
                      "\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    return text;
  };
}

Listener::Talk ServiceThatAnswers(std::function<std::string(const std::string& request)> answer) {
  return [answer](int socket) {
    std::string text = HearRequest(socket);
    if (!text.empty()) SayTo(socket, answer(text));
    return text;
  };
}

std::string SayNothing(int socket) {
  std::array<char, 4096> buffer = {};
  while (::recv(socket, buffer.data(), buffer.size(), 0) > 0) {
  }
  return "x";
}

Listener::Talk MailServerTalk() {
  return [](int socket) {
    std::string all;
    SayTo(socket, "220 test ESMTP\r\n");
    for (std::string text;; text.clear()) {
      if (!HearUntil(socket, text, "\r\n")) return all;
      all += text;
      if (text.starts_with("EHLO")) {
        SayTo(socket, "250-test\r\n250 8BITMIME\r\n");
      } else if (text.starts_with("DATA")) {
        SayTo(socket, "354 go on\r\n");
        std::string mail;
        if (!HearUntil(socket, mail, "\r\n.\r\n")) return all;
        all += mail;
        SayTo(socket, "250 taken\r\n");
      } else if (text.starts_with("QUIT")) {
        SayTo(socket, "221 bye\r\n");
        return all;
      } else {
        SayTo(socket, "250 ok\r\n");
      }
    }
  };
}

}  // namespace jobman::test
