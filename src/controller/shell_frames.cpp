#include "jobman/controller/shell_frames.hpp"

#include <array>

#include "jobman/base/check.hpp"

namespace jobman::controller {
namespace {

constexpr std::size_t kNumberSize = 4;
constexpr std::size_t kHeaderSize = kNumberSize + 1;

void AppendNumber(std::string& bytes, std::size_t number) {
  std::array<char, kNumberSize> written = {};
  for (char& byte : written) {
    byte = static_cast<char>(number & 0xffU);
    number >>= 8U;
  }
  bytes.append(written.data(), written.size());
}

/// Of the first four bytes.
std::size_t NumberAt(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = kNumberSize; i-- > 0;)
    number = (number << 8U) | std::size_t{static_cast<unsigned char>(bytes[i])};
  return number;
}

std::size_t LongestOf(FrameType type) {
  const bool piece =
      type == FrameType::kInput || type == FrameType::kOut || type == FrameType::kErr;
  return piece ? kLongestPiece : kLongestBody;
}

base::Error NoFrame(const std::string& what) {
  return base::InvalidArgument("the other end of the socket does not speak as jobman does: " +
                               what);
}

void AppendText(std::string& body, std::string_view text) {
  AppendNumber(body, text.size());
  body += text;
}

/// Takes a number and as many bytes from the front.
base::Result<std::string_view> TakeText(std::string_view& body) {
  if (body.size() < kNumberSize) return NoFrame("a field ends early");
  const std::size_t size = NumberAt(body);
  body.remove_prefix(kNumberSize);
  if (size > body.size()) return NoFrame("a field is longer than its frame");
  const std::string_view text = body.substr(0, size);
  body.remove_prefix(size);
  return text;
}

}  // namespace

void AppendFrame(std::string& bytes, FrameType type, std::string_view body) {
  JM_CHECK(body.size() <= LongestOf(type), "a frame that nobody would read");
  AppendNumber(bytes, body.size());
  bytes.push_back(static_cast<char>(type));
  bytes += body;
}

void AppendPieces(std::string& bytes, FrameType type, std::string_view body) {
  while (!body.empty()) {
    const std::string_view piece = body.substr(0, kLongestPiece);
    AppendFrame(bytes, type, piece);
    body.remove_prefix(piece.size());
  }
}

void FrameReader::Add(std::string_view bytes) {
  bytes_.erase(0, at_);
  at_ = 0;
  bytes_ += bytes;
}

base::Result<std::optional<Frame>> FrameReader::Next() {
  const std::string_view left = std::string_view(bytes_).substr(at_);
  if (left.size() < kHeaderSize) return std::optional<Frame>();
  const std::size_t size = NumberAt(left);
  const auto number = static_cast<unsigned char>(left[kNumberSize]);
  const auto type = static_cast<FrameType>(number);
  if (type < FrameType::kRequest || type > FrameType::kAlive)
    return NoFrame("a frame of type " + std::to_string(number));
  if (size > LongestOf(type)) return NoFrame("a frame of " + std::to_string(size) + " bytes");
  if (left.size() < kHeaderSize + size) return std::optional<Frame>();
  at_ += kHeaderSize + size;
  return std::optional<Frame>(
      Frame{.type = type, .body = std::string(left.substr(kHeaderSize, size))});
}

void AppendField(std::string& body, std::string_view name, std::string_view value) {
  AppendText(body, name);
  AppendText(body, value);
}

base::Result<Fields> ParseFields(std::string_view body) {
  Fields fields;
  while (!body.empty()) {
    JM_ASSIGN_OR_RETURN(const std::string_view name, TakeText(body));
    JM_ASSIGN_OR_RETURN(const std::string_view value, TakeText(body));
    fields.emplace_back(name, value);
  }
  return fields;
}

}  // namespace jobman::controller
