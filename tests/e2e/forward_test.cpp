// jobman forward over what happens to hosts: restarts, packets that are lost, requeues,
// preemptions, and the end of the job; and in the background, where forwards are listed, stopped,
// and killed.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <filesystem>
#include <functional>
#include <future>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/listener.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string ReadToEnd(int socket) {
  std::string text;
  std::array<char, 65536> buffer = {};
  for (ssize_t count = 0; (count = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  return text;
}

void SendWhole(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// The server of the hosts, which share this machine's loopback address: sends everything back.
std::string SendBackWhole(int socket) {
  std::string text = ReadToEnd(socket);
  SendWhole(socket, text);
  return text;
}

/// Sends `text` to a port of this machine and returns what comes back until the connection ends.
std::string Exchange(int port, const std::string& text) {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = Place::kPatience, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), name, sizeof address) != 0) return "(no connection)";
  SendWhole(socket.get(), text);
  ::shutdown(socket.get(), SHUT_WR);
  return ReadToEnd(socket.get());
}

/// More than any buffer on the way holds, and no two parts are alike.
std::string ManyBytes() {
  std::string text;
  for (int i = 0; text.size() < (std::size_t{2} << 20); ++i) text += std::to_string(i) + " ";
  return text;
}

class Forward : public testing::Test {
 protected:
  Forward() { place_.StartSim({"--delays", "0"}); }
  ~Forward() override { place_.Jobman({"forward", "stop", "all"}); }

  /// A job of two hosts that is done and keeps its slice.
  void KeepASlice() {
    ASSERT_EQ(place_.Jobman({"run", place_.JobFile("pair", 2, "true")}).code, 0);
  }
  /// The local port of a new forward in the background to the server; 0, and a failure, without.
  int ForwardInBackground(const std::string& job, const std::string& host = "0") {
    const Ran ran =
        place_.Jobman({"--json", "forward", job, "-w", host, ServerPort(), "--background"});
    EXPECT_EQ(ran.code, 0) << ran.All();
    const auto json = base::ParseJson(ran.out);
    if (!json.ok()) return 0;
    const base::Json& ports = base::GetMember(*json, "forwards");
    return ports.is_array() && !ports.empty() ? PortOf(ports[0]) : 0;
  }
  static int PortOf(const base::Json& forward) {
    const std::string local = base::GetString(forward, "local");
    return static_cast<int>(base::ParseNumber(local.substr(local.rfind(':') + 1)).value_or(0));
  }
  std::string ServerPort() const { return "0:" + std::to_string(server_.port()); }
  base::Json List() {
    const auto json = base::ParseJson(place_.Jobman({"--json", "forward", "list"}).out);
    return json.ok() ? *json : base::Json::object();
  }
  std::string ForwardLog() {
    const base::Json list = List();
    const base::Json& forwards = base::GetMember(list, "forwards");
    if (!forwards.is_array() || forwards.empty()) return "(no forward)";
    return base::ReadFile(base::GetString(forwards[0], "log")).value_or("(no log)");
  }
  /// The forward is tried while the host is away, which then comes back.
  std::string ExchangeMeanwhile(int port, const std::string& text, const std::string& action) {
    auto answer = std::async(std::launch::async, [port, &text] { return Exchange(port, text); });
    EXPECT_TRUE(place_.Until("the forward to say that it waits", [&] {
      return base::Contains(ForwardLog(), "connections wait for it");
    }));
    EXPECT_EQ(place_.Sim({"host", "pair-000001-a1/1", action}).code, 0);
    return answer.get();
  }
  int AttemptOf(const std::string& job) {
    return static_cast<int>(base::GetInt(place_.Show(job), "attempt"));
  }

  Listener server_{SendBackWhole};
  Place place_;
};

TEST_F(Forward, AConnectionWaitsForAHostThatStartsAgain) {
  KeepASlice();
  const int port = ForwardInBackground("1", "1");
  const std::string text = ManyBytes();
  ASSERT_EQ(Exchange(port, text), text);
  ASSERT_EQ(place_.Sim({"host", "pair-000001-a1/1", "kill"}).code, 0);
  EXPECT_EQ(ExchangeMeanwhile(port, text, "boot"), text) << ForwardLog();
  EXPECT_EQ(Exchange(port, text), text);
}

TEST_F(Forward, AConnectionWaitsForAHostThatHangs) {
  KeepASlice();
  const int port = ForwardInBackground("1", "1");
  const std::string text = ManyBytes();
  ASSERT_EQ(place_.Sim({"host", "pair-000001-a1/1", "cut"}).code, 0);
  ASSERT_EQ(place_.Sim({"host", "pair-000001-a1/1", "hangup"}).code, 0);
  EXPECT_EQ(ExchangeMeanwhile(port, text, "mend"), text) << ForwardLog();
}

class ForwardOfARun : public Forward {
 protected:
  /// Other machines, addresses and host keys: the same port here reaches them.
  void GoesOnAfter(const std::function<void()>& what) {
    place_.StartController({"--poll", "1"});
    const std::string file = place_.JobFile("moves", 1, "sleep 600", "retries: {backoff: 500ms}\n");
    ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
    ASSERT_TRUE(place_.Reaches("moves", "RUNNING"));
    const int port = ForwardInBackground("moves");
    const std::string text = ManyBytes();
    ASSERT_EQ(Exchange(port, text), text);
    what();
    // It may meet the end of the old machine, but gets nothing wrong.
    const std::string early = Exchange(port, text);
    EXPECT_EQ(text.substr(0, early.size()), early);
    ASSERT_TRUE(place_.Until("the next attempt", [&] { return AttemptOf("moves") == 2; }));
    ASSERT_TRUE(place_.Reaches("moves", "RUNNING"));
    EXPECT_EQ(Exchange(port, text), text) << ForwardLog();
    ASSERT_TRUE(place_.Until("the forward to say where it goes", [&] {
      return base::Contains(ForwardLog(), "host 0 of job 000001 is there, at ");
    }));
    EXPECT_EQ(place_.Jobman({"delete", "moves", "--wait"}).code, 0);
    ASSERT_TRUE(place_.Until("the forward to end with its job", [&] {
      const base::Json list = List();
      ended_ = base::GetMember(list, "ended").dump();
      return base::GetMember(list, "forwards").empty();
    }));
    EXPECT_THAT(ended_, HasSubstr("job 000001 is deleted"));
    EXPECT_EQ(Exchange(port, text), "(no connection)");
  }
  std::string ended_ = {};
};

TEST_F(ForwardOfARun, GoesOnAfterARequeue) {
  GoesOnAfter([this] { EXPECT_EQ(place_.Jobman({"requeue", "moves"}).code, 0); });
}

TEST_F(ForwardOfARun, GoesOnAfterAPreemption) {
  GoesOnAfter([this] { EXPECT_EQ(place_.Sim({"preempt", "moves-*"}).code, 0); });
}

/// The slice stays, its address does not.
TEST_F(ForwardOfARun, GoesOnAfterMaintenance) {
  GoesOnAfter([this] {
    EXPECT_EQ(place_.Sim({"maintain", "moves-000001-a1", "--for", "1s"}).code, 0);
  });
}

TEST_F(Forward, InTheForegroundEndsWithItsJob) {
  KeepASlice();
  const pid_t forward = place_.Start({"forward", "1", ServerPort()});
  ASSERT_TRUE(place_.Until("it to listen", [&] {
    return base::Contains(base::ReadFile(place_.home() / "controller.log").value_or(""),
                          "until Ctrl-C");
  }));
  ASSERT_EQ(place_.Jobman({"delete", "1", "--wait"}).code, 0);
  EXPECT_EQ(place_.EndOf(forward), 0);
  EXPECT_THAT(base::ReadFile(place_.home() / "controller.log").value_or(""),
              HasSubstr("job 000001 is deleted: nothing is left to forward"));
  const Ran again = place_.Jobman({"forward", "1", ServerPort()});
  EXPECT_EQ(again.code, 2) << again.All();
  EXPECT_THAT(again.err, HasSubstr("is over and has no hosts any more"));
}

TEST_F(Forward, InTheBackgroundIsListedAndStopped) {
  KeepASlice();
  const int one = ForwardInBackground("pair");
  const int other = ForwardInBackground("pair", "1");
  ASSERT_NE(one, other);
  const Ran listed = place_.Jobman({"forward", "list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("127.0.0.1:" + std::to_string(one) + "  000001  pair"),
                                HasSubstr("127.0.0.1:" + std::to_string(other))));
  const Ran stopped = place_.Jobman({"forward", "stop", std::to_string(one)});
  EXPECT_EQ(stopped.code, 0) << stopped.All();
  EXPECT_EQ(stopped.out, "stopped: 127.0.0.1:" + std::to_string(one) +
                             " -> host 0 of job 000001, port " + std::to_string(server_.port()) +
                             "\n");
  EXPECT_EQ(Exchange(one, "x"), "(no connection)");
  EXPECT_EQ(Exchange(other, "x"), "x");
  EXPECT_EQ(place_.Jobman({"forward", "stop", std::to_string(one)}).code, 3);
  EXPECT_EQ(place_.Jobman({"-q", "forward", "stop", "pair"}).out,
            "127.0.0.1:" + std::to_string(other) + "\n");
  EXPECT_EQ(place_.Jobman({"forward", "stop", "all"}).code, 0);
  const Ran none = place_.Jobman({"forward", "list"});
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("nothing is forwarded in the background"));
}

TEST_F(Forward, InTheBackgroundThatIsKilledIsCleanedUp) {
  KeepASlice();
  const int port = ForwardInBackground("1");
  const base::Json before = List();
  const auto process =
      static_cast<pid_t>(base::GetInt(base::GetMember(before, "forwards")[0], "process"));
  ASSERT_GT(process, 1);
  ASSERT_EQ(kill(process, SIGKILL), 0);
  std::string said;
  ASSERT_TRUE(place_.Until("it to be listed no more", [&] {
    const Ran ran = place_.Jobman({"forward", "list"});
    said += ran.err;
    return ran.out.empty();
  }));
  EXPECT_THAT(said, HasSubstr("no longer forwarded: 127.0.0.1:" + std::to_string(port) +
                              " (job 000001), as its process has ended"));
  EXPECT_TRUE(std::filesystem::is_empty(place_.home() / "forwards"));
  const Ran again =
      place_.Jobman({"forward", "1", "--background", fmt::format("{}:{}", port, server_.port())});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_EQ(Exchange(port, "again"), "again");
}

TEST_F(Forward, InTheBackgroundFailsWithItsCause) {
  KeepASlice();
  const int port = ForwardInBackground("1");
  const std::string word = fmt::format("{}:{}", port, server_.port());
  for (const char* way : {"--background", "--verbose"}) {
    const Ran taken = place_.Jobman({"forward", "1", word, way});
    EXPECT_EQ(taken.code, 2) << taken.All();
    EXPECT_THAT(taken.err, AllOf(HasSubstr(fmt::format("port {} of this machine is in use", port)),
                                 HasSubstr(fmt::format("jobman forward stop 127.0.0.1:{}", port))));
  }
  const Ran nobody = place_.Jobman({"forward", "1", "-w", "7", "0:80", "--background"});
  EXPECT_EQ(nobody.code, 3) << nobody.All();
  EXPECT_THAT(nobody.err, HasSubstr("job 000001 has hosts 0-1, not 7"));
  EXPECT_EQ(base::GetMember(List(), "forwards").size(), 1U);
  const Ran named = place_.Jobman({"forward", "list", "6006"});
  EXPECT_EQ(named.code, 2);
  EXPECT_THAT(named.err, AllOf(HasSubstr("by its number"), Not(HasSubstr("one too many"))));
}

}  // namespace
}  // namespace jobman::test
