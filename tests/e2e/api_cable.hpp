#pragma once

#include <memory>
#include <string>

namespace jobman::test {

/// A proxy between jobman and a simulator's API that a test can unplug and plug in again. While it
/// is out, connections to endpoint() are refused; the simulator and its hosts go on.
class ApiCable {
 public:
  /// Connects to `api_port` of 127.0.0.1; plugged in at first.
  explicit ApiCable(int api_port);
  ~ApiCable();
  ApiCable(const ApiCable&) = delete;
  ApiCable& operator=(const ApiCable&) = delete;

  std::string endpoint() const;
  void PullOut();
  void PlugIn();
  /// Unplugs at the next request that begins with `words` ("DELETE /v2/"): before it arrives, or
  /// after it was done but before its answer returns. Other connections end as soon as it arrives.
  void PullOutAt(std::string words);
  void PullOutAfter(std::string words);
  /// Holds the next request that begins with `words` until LetGo(). Others pass.
  void HoldUp(std::string words);
  /// Whether a request is held up.
  bool Holds();
  void LetGo();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jobman::test
