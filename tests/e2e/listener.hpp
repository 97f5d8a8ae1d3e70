#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "jobman/base/handle.hpp"

namespace jobman::test {

/// A small server on loopback for one test: speaks with one caller after the other, and keeps what
/// each of them sent.
class Listener {
 public:
  /// Speaks with a caller over a connected socket until it has heard all; gives that back.
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

/// Takes a POST and answers with this status.
Listener::Talk WebhookThatSays(std::function<int()> status);
/// Takes a mail over SMTP.
Listener::Talk MailServerTalk();

}  // namespace jobman::test
