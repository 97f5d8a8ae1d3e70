#include "jobman/client/forward.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

TEST(ForwardedPorts, AreOneNumberOrTwo) {
  EXPECT_EQ(ParseForwardedPort("6006")->local, 6006);
  EXPECT_EQ(ParseForwardedPort("6006")->remote, 6006);
  EXPECT_EQ(ParseForwardedPort("8080:6006")->local, 8080);
  EXPECT_EQ(ParseForwardedPort("0:6006")->local, 0);
  for (const char* bad : {"", "0", "http", "65536", "-1", "1:", ":1", "8080:0", "1:2:3"})
    EXPECT_EQ(ParseForwardedPort(bad).error().code, base::Code::kInvalidArgument) << bad;
}

class ForwardingTest : public test::ClientWorld {
 protected:
  ForwardingTest() { shell_ = &hosts_; }
  core::JobId JobWithHost() {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    return Put(test::WithHosts(std::move(job), 1)).id;
  }
  test::LocalShell hosts_{home_.path() / "hosts"};
};

TEST_F(ForwardingTest, APortInUseIsNamedWithACure) {
  const core::JobId job = JobWithHost();
  Forwarding first(Context(), job, 0, {});
  const auto got = first.Listen({{.local = 0, .remote = 6006}});
  ASSERT_TRUE(got.ok()) << got.error().ToString();
  const int port = got->front().local;
  EXPECT_GT(port, 0);
  Forwarding second(Context(), job, 0, {});
  const auto refused = second.Listen({{.local = port, .remote = 6006}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr("is in use"));
  EXPECT_THAT(refused.error().hint, HasSubstr("0:6006"));
}

/// Refuses the first connections, and greets on later ones.
class LateShell final : public ports::HostShell {
 public:
  LateShell(std::shared_ptr<int> refusals, std::shared_ptr<std::vector<std::string>> reached)
      : refusals_(std::move(refusals)), reached_(std::move(reached)) {}
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand, ports::ByteSink,
                                    ports::ByteSink) override {
    co_return 0;
  }
  base::Task<base::Status> Relay(ports::SharedTarget target, int port,
                                 std::shared_ptr<base::UniqueFd> local) override {
    base::Error refused{.code = base::Code::kUnavailable,
                        .message = "connection refused",
                        .reason = base::Reason::kHostRefused};
    if ((*refusals_)-- > 0) co_return refused;
    reached_->push_back(target->address + " " + std::to_string(port));
    const base::UniqueFd taken = std::move(*local);
    if (::send(taken.get(), "hello", 5, MSG_NOSIGNAL) != 5) co_return base::Internal("not sent");
    co_return base::Ok();
  }
  void Drop(const ports::HostTarget& target) override {
    reached_->push_back("left " + target.address);
  }

 private:
  std::shared_ptr<int> refusals_;
  std::shared_ptr<std::vector<std::string>> reached_;
};

/// A client of a port of this machine: all that it is told.
base::Task<std::string> Ask(int port) {
  using asio::ip::tcp;
  tcp::socket socket(co_await asio::this_coro::executor);
  const tcp::endpoint there(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port));
  std::error_code failed;
  co_await socket.async_connect(there, asio::redirect_error(asio::use_awaitable, failed));
  std::string text;
  co_await asio::async_read(socket, asio::dynamic_buffer(text),
                            asio::redirect_error(asio::use_awaitable, failed));
  co_return text;
}

class LateHosts : public ForwardingTest {
 protected:
  client::Context ContextOfLate() {
    client::Context context = Context();
    context.open_own_shell = [this](asio::any_io_executor, ports::HostKeyStore&) {
      return std::make_unique<LateShell>(refusals_, reached_);
    };
    return context;
  }
  base::Task<void> AskOnce(int port) {
    std::string text = co_await Ask(port);
    answer_ = std::move(text);
    asked_ = true;
  }
  void SetHosts(core::JobId id, std::optional<std::string> address) {
    core::Job job = *store_.Get(id);
    job.slice.reset();
    job.state = core::Waiting{};
    if (address) {
      job = test::WithHosts(std::move(job), 1);
      job.slice->nodes[0].uid = "7002";
      job.slice->hosts[0].internal = *address;
      job.state = core::Running{};
    }
    Change(std::move(job));
  }
  void EndJob(core::JobId id) {
    core::Job job = *store_.Get(id);
    job.slice.reset();
    job.state = core::Done{.outcome = core::Outcome::kDeleted};
    Change(std::move(job));
  }
  std::shared_ptr<int> refusals_ = std::make_shared<int>(0);
  std::shared_ptr<std::vector<std::string>> reached_ = std::make_shared<std::vector<std::string>>();
  std::vector<std::string> said_ = {};
  std::string answer_ = {};
  bool asked_ = false;
};

/// The script of a test: each step is taken when what it waits for has been said.
base::Task<void> Then(std::function<bool()> so_far, std::function<void()> next) {
  while (!so_far()) co_await base::Sleep(std::chrono::milliseconds{5});
  next();
}

TEST_F(LateHosts, AConnectionWaitsForThemAndTheEndOfTheJobEndsAll) {
  const core::JobId job = JobWithHost();
  SetHosts(job, std::nullopt);
  *refusals_ = 1;
  Forwarding forwarding(ContextOfLate(), job, 0,
                        [this](const std::string& line) { said_.push_back(line); });
  const auto ports = forwarding.Listen({{.local = 0, .remote = 6006}});
  ASSERT_TRUE(ports.ok());
  ASSERT_TRUE(forwarding.Check().ok());  // it waits for hosts
  base::Spawn(loop_.get_executor(), AskOnce(ports->front().local));
  base::Spawn(loop_.get_executor(),
              Then([this] { return !said_.empty(); }, [this, job] { SetHosts(job, "h9"); }));
  base::Spawn(loop_.get_executor(), Then([this] { return asked_; }, [this, job] { EndJob(job); }));
  const auto over = forwarding.Run();
  EXPECT_EQ(over, "job 000001 is deleted");
  EXPECT_EQ(answer_, "hello");
  EXPECT_THAT(*reached_, testing::ElementsAre("h9 6006"));
  ASSERT_EQ(said_.size(), 3U) << testing::PrintToString(said_);
  EXPECT_THAT(said_[0], HasSubstr("job 000001 has no hosts now (WAITING)"));
  EXPECT_THAT(said_, testing::Contains(HasSubstr("host 0 of job 000001 is there, at h9:")));
  EXPECT_THAT(said_, testing::Contains(HasSubstr("connection refused; connections wait for it")));
}

TEST_F(LateHosts, ConnectionsToFormerMachinesAreDropped) {
  const core::JobId job = JobWithHost();
  Forwarding forwarding(ContextOfLate(), job, 0,
                        [this](const std::string& line) { said_.push_back(line); });
  const auto ports = forwarding.Listen({{.local = 0, .remote = 6006}});
  ASSERT_TRUE(ports.ok());
  base::Spawn(loop_.get_executor(), AskOnce(ports->front().local));
  base::Spawn(loop_.get_executor(),
              Then([this] { return asked_; }, [this, job] { SetHosts(job, "h9"); }));
  base::Spawn(loop_.get_executor(),
              Then([this] { return !said_.empty(); }, [this, job] { EndJob(job); }));
  EXPECT_EQ(forwarding.Run(), "job 000001 is deleted");
  EXPECT_THAT(*reached_, testing::ElementsAre("h0 6006", "left h0"));
  EXPECT_THAT(said_, testing::ElementsAre(HasSubstr("is there, at h9:")));
}

/// The connections that are checked are those that serve, whatever becomes of a controller.
TEST_F(ForwardingTest, TheCheckIsOfItsOwnConnection) {
  const core::JobId job = JobWithHost();
  test::LocalShell through_controller(home_.path() / "unplugged");
  through_controller.Unplug("h0");
  client::Context context = Context();
  context.open_shell = test::Lend(through_controller);
  const base::Status checked = Forwarding(context, job, 0, {}).Check();
  EXPECT_TRUE(checked.ok()) << checked.error().ToString();
}

TEST_F(ForwardingTest, AHostThatCannotBeReachedIsKnownAtOnce) {
  const core::JobId job = JobWithHost();
  EXPECT_TRUE(Forwarding(Context(), job, 0, {}).Check().ok());
  EXPECT_EQ(Forwarding(Context(), job, 1, {}).Check().error().code, base::Code::kNotFound);
  hosts_.Unplug("h0");
  EXPECT_EQ(Forwarding(Context(), job, 0, {}).Check().error().reason, base::Reason::kHostRefused);
}

}  // namespace
}  // namespace jobman::client
