#include "jobman/controller/shell_frames.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "jobman/controller/shell_messages.hpp"

namespace jobman::controller {
namespace {

using base::Code;

TEST(ShellFrames, ArriveInAnyPieces) {
  std::string bytes;
  AppendFrame(bytes, FrameType::kGo, {});
  AppendFrame(bytes, FrameType::kOut, std::string_view("a\0b", 3));
  FrameReader reader;
  std::vector<Frame> got;
  for (const char byte : bytes) {
    reader.Add(std::string_view(&byte, 1));
    auto frame = reader.Next();
    ASSERT_TRUE(frame.ok()) << frame.error().ToString();
    if (*frame) got.push_back(std::move(**frame));
  }
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0], (Frame{.type = FrameType::kGo}));
  EXPECT_EQ(got[1], (Frame{.type = FrameType::kOut, .body = std::string("a\0b", 3)}));
  EXPECT_EQ(reader.waiting(), 0u);
}

TEST(ShellFrames, LongOutputTakesSeveral) {
  std::string bytes;
  AppendPieces(bytes, FrameType::kErr, std::string(kLongestPiece + 1, 'x'));
  AppendPieces(bytes, FrameType::kErr, {});
  FrameReader reader;
  reader.Add(bytes);
  EXPECT_EQ((*reader.Next())->body.size(), kLongestPiece);
  EXPECT_EQ((*reader.Next())->body, "x");
  EXPECT_FALSE(reader.Next()->has_value());
}

TEST(ShellFrames, WhatIsNoneIsRefusedBeforeItIsInMemory) {
  for (const std::string& bytes :
       {std::string("\0\0\0\0\0", 5), std::string("\0\0\0\0\x0c", 5), std::string("GET / HTTP/1.1"),
        std::string("\x01\0\x01\0\x07", 5), std::string("\x01\0\x10\0\x01", 5)}) {
    FrameReader reader;
    reader.Add(bytes);
    const auto frame = reader.Next();
    ASSERT_FALSE(frame.ok()) << bytes;
    EXPECT_EQ(frame.error().code, Code::kInvalidArgument);
  }
}

std::string BodyOf(const Fields& fields) {
  std::string body;
  for (const auto& [name, value] : fields) AppendField(body, name, value);
  return body;
}

TEST(ShellFrames, FieldsMayBeAnyBytes) {
  const Fields fields = {{"a", ""}, {"", "\xff\n"}, {"a", std::string_view("\0", 1)}};
  const std::string body = BodyOf(fields);
  const auto parsed = ParseFields(body);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, fields);
  EXPECT_FALSE(ParseFields("\x01").ok());
  EXPECT_FALSE(ParseFields(std::string("\x02\0\0\0a", 5)).ok());
}

ShellRequest FullRequest() {
  // No designators: a new member of the target must be added here, and to the fields.
  const ports::HostTarget target{
      "10.0.0.1",   2222, "u",  "/k", "7/0",    {{"ssh-ed25519", "AAAA"}, {"ssh-rsa", "B"}},
      false,        true, "no", true, "u@jump", "nc %h %p",
      "t1v-n-0-w-0"};
  return {.target = target,
          .command = "echo \xff\n",
          .limit = std::chrono::seconds{3},
          .silence = std::chrono::milliseconds{0},
          .linger = std::chrono::milliseconds{7},
          .agent = "/run/agent",
          .confirm = true};
}

TEST(ShellMessages, ARequestArrivesWhole) {
  const auto parsed = ParseRequest(Encode(FullRequest()));
  ASSERT_TRUE(parsed.ok()) << parsed.error().ToString();
  EXPECT_EQ(*parsed, FullRequest());
  const ShellRequest least{.target = {.address = "h"}, .command = "true"};
  EXPECT_EQ(*ParseRequest(Encode(least)), least);
}

TEST(ShellMessages, AnotherVersionIsNotUnderstood) {
  for (const Fields& fields :
       {Fields{{"version", "1"}, {"address", "h"}}, Fields{{"address", "h"}}, Fields{}}) {
    const auto parsed = ParseRequest(BodyOf(fields));
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().code, Code::kUnimplemented);
  }
}

TEST(ShellMessages, ARequestThatMakesNoSenseIsRefused) {
  const auto refuses = [](const std::function<void(ShellRequest&)>& spoil) {
    ShellRequest request = FullRequest();
    spoil(request);
    return !ParseRequest(Encode(request)).ok();
  };
  EXPECT_FALSE(refuses([](ShellRequest&) {}));
  EXPECT_FALSE(refuses([](ShellRequest& one) { one.target.unvouched = "two\nlines"; }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.address.clear(); }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.port = 0; }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.port = 65536; }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.user = "u\nroot"; }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.address.push_back('\0'); }));
  EXPECT_TRUE(refuses([](ShellRequest& one) { one.target.vouched_keys["a\nb"] = "k"; }));
  Fields odd = {{"version", "2"}, {"address", "h"}, {"port", "22"}};
  EXPECT_TRUE(ParseRequest(BodyOf(odd)).ok());
  odd.emplace_back("limit", "-1");
  EXPECT_FALSE(ParseRequest(BodyOf(odd)).ok());
}

TEST(ShellMessages, AnErrorArrivesWhole) {
  base::Error error{.code = Code::kUnavailable,
                    .message = "no answer from \xff",
                    .reason = base::Reason::kHostTimeout,
                    .hint = "wait",
                    .retry_after = std::chrono::seconds{4},
                    .context = {"inner", "outer"}};
  EXPECT_EQ(ParseError(Encode(error)), error);
  EXPECT_EQ(ParseError(Encode(base::NotFound("it"))), base::NotFound("it"));
  EXPECT_EQ(ParseError("?").code, Code::kInternal);
  EXPECT_EQ(ParseError("").code, Code::kInternal);
  error.message = std::string(3'000'000, 'x');
  error.context = std::vector<std::string>(1000, std::string(20'000, 'y'));
  EXPECT_LE(Encode(error).size(), kLongestBody);
}

}  // namespace
}  // namespace jobman::controller
