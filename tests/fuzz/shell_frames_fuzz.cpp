// What another process may write to the controller's shell socket, and the controller to it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jobman/controller/shell_frames.hpp"
#include "jobman/controller/shell_messages.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// All frames of the text, given in pieces; empty at the first that is none.
std::vector<controller::Frame> FramesOf(const std::string& text, std::size_t piece) {
  controller::FrameReader reader;
  std::vector<controller::Frame> frames;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    reader.Add(std::string_view(text).substr(at, piece));
    for (;;) {
      auto frame = reader.Next();
      if (!frame.ok()) return {};
      if (!*frame) break;
      frames.push_back(std::move(**frame));
    }
    fuzz::Expect(reader.waiting() <= controller::kLongestBody + 5 + piece, "memory has a limit");
  }
  return frames;
}

void TryBody(const std::string& body) {
  if (const auto request = controller::ParseRequest(body); request.ok()) {
    const auto again = controller::ParseRequest(controller::Encode(*request));
    fuzz::Expect(again.ok() && *again == *request, "a request survives");
    fuzz::Expect(request->target.port > 0 && request->target.port < 65536, "a port");
  }
  const base::Error error = controller::ParseError(body);
  fuzz::Expect(controller::Encode(error).size() <= controller::kLongestBody, "an error fits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  const auto whole = FramesOf(text, std::max<std::size_t>(size, 1));
  fuzz::Expect(whole == FramesOf(text, 3), "pieces do not matter");
  for (const controller::Frame& frame : whole) TryBody(frame.body);
  TryBody(text);
  return 0;
}
