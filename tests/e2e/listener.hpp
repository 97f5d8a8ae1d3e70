#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "jobman/base/handle.hpp"

namespace jobman::test {

/// A small server on loopback: serves one client after the other, and keeps what each sent.
class Listener {
 public:
  /// Serves one client on a connected socket, and returns what it sent.
  using Talk = std::function<std::string(int socket)>;
  explicit Listener(Talk talk);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  std::vector<std::string> heard() const;

 private:
  void Serve();

  Talk talk_;
  base::UniqueFd socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> heard_ = {};
  std::thread thread_;
};

/// Receives a POST and answers with the status that it deserves.
Listener::Talk WebhookThatAnswers(std::function<int(const std::string& request)> judge);
/// Receives a POST and answers with this status.
Listener::Talk WebhookThatSays(std::function<int()> status);
/// Receives a GET or POST and answers with what is found for it, as JSON; 404 if that is empty.
Listener::Talk ServiceThatFinds(std::function<std::string(const std::string& request)> find);
/// Receives any request and answers with this text, which is the whole answer in HTTP.
Listener::Talk ServiceThatAnswers(std::function<std::string(const std::string& request)> answer);
/// Hears everything and says nothing.
std::string SayNothing(int socket);
/// Receives a mail over SMTP.
Listener::Talk MailServerTalk();

}  // namespace jobman::test
