#pragma once

#include <memory>
#include <string>

namespace jobman::test {

/// The wire between jobman and a simulator's API, for a test to pull out and to plug in again.
/// While it is out, connections to endpoint() are refused; the simulator and its hosts live on.
class ApiCable {
 public:
  /// Leads to `api_port` of 127.0.0.1; plugged in.
  explicit ApiCable(int api_port);
  ~ApiCable();
  ApiCable(const ApiCable&) = delete;
  ApiCable& operator=(const ApiCable&) = delete;

  std::string endpoint() const;
  void PullOut();
  void PlugIn();
  /// Pulls itself out at the next request that begins with `words` ("DELETE /v2/"): before it
  /// arrives, or after it was done and before its answer comes back.
  void PullOutAt(std::string words);
  void PullOutAfter(std::string words);
  /// Keeps the next request that begins with `words` on its way until LetGo(). Others pass.
  void HoldUp(std::string words);
  /// Whether a request is held up.
  bool Holds();
  void LetGo();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jobman::test
