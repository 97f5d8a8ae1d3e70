#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"

/// What a command and the controller write to each other about one command on one host (ADR 34). A
/// frame is its length, 4 bytes, little-endian; its type, 1 byte; its body.
namespace jobman::controller {

enum class FrameType : std::uint8_t {
  kRequest = 1,    ///< first, to the controller: a ShellRequest
  kAccepted = 2,   ///< first, from it, if the request wants that: it tries to reach the host
  kRefused = 3,    ///< or: it does not; the body says why
  kConnected = 4,  ///< from it: the host has accepted the login
  kGo = 5,         ///< to it: the command may begin; without it nothing runs
  kInput = 6,      ///< to it: a piece of the command's input; an empty one is its end
  kOut = 7,        ///< from it: the command's output
  kErr = 8,
  kEnded = 9,    ///< last, from it: the exit code, as a decimal number
  kFailed = 10,  ///< or: an Error
  kAlive = 11,   ///< from it, now and then: it has nothing else to say
};

struct Frame {
  FrameType type = FrameType::kAlive;
  std::string body = {};
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Longest body of a frame of input or output, and of any other.
inline constexpr std::size_t kLongestPiece = std::size_t{64} << 10;
inline constexpr std::size_t kLongestBody = std::size_t{1} << 20;

/// Appends a frame to `bytes`; the body must not be too long.
void AppendFrame(std::string& bytes, FrameType type, std::string_view body);
/// The same in as many frames as it takes; none for an empty body.
void AppendPieces(std::string& bytes, FrameType type, std::string_view body);

/// Takes frames out of bytes as they arrive.
class FrameReader {
 public:
  void Add(std::string_view bytes);
  /// The next frame; nothing while it is incomplete. kInvalidArgument for what is none: an unknown
  /// type, a body that is too long. Nothing that follows can be read then.
  base::Result<std::optional<Frame>> Next();
  /// Bytes of an incomplete frame.
  std::size_t waiting() const { return bytes_.size() - at_; }

 private:
  std::string bytes_ = {};
  std::size_t at_ = 0;  ///< the first byte that was not taken
};

/// Appends a name and a value, of any bytes, to a body. A name may occur several times.
void AppendField(std::string& body, std::string_view name, std::string_view value);
/// Names and values, parts of the body that they were read from.
using Fields = std::vector<std::pair<std::string_view, std::string_view>>;
/// kInvalidArgument for what AppendField() does not write.
base::Result<Fields> ParseFields(std::string_view body);

}  // namespace jobman::controller
