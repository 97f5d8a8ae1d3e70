#include "tests/e2e/api_cable.hpp"

#include <fcntl.h>

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <functional>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::test {
namespace {

using asio::ip::tcp;
constexpr auto kNoThrow = asio::experimental::as_tuple(asio::use_awaitable);

/// A connection of a client, and its counterpart to the API.
struct Wire {
  explicit Wire(asio::io_context& loop) : client(loop), api(loop) {}
  void Cut() {
    // Shut down first: a child process that was started during the accept may hold a copy.
    std::error_code ignored;
    for (tcp::socket* end : {&client, &api}) {
      end->shutdown(tcp::socket::shutdown_both, ignored);
      end->close(ignored);
    }
  }
  tcp::socket client;
  tcp::socket api;
  bool cut_at_answer = false;
};

tcp::endpoint Loopback(int port) {
  return {asio::ip::address_v4::loopback(), static_cast<asio::ip::port_type>(port)};
}

/// Child processes must not hold the port.
void KeepPrivate(int descriptor) {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

}  // namespace

class ApiCable::Impl {
 public:
  explicit Impl(int api_port)
      : work_(loop_.get_executor()), api_(Loopback(api_port)), port_holder_(loop_, tcp::v4()) {
    // Bound but not listening, to keep the port while the cable is out.
    KeepPrivate(port_holder_.native_handle());
    port_holder_.set_option(tcp::socket::reuse_address(true));
    port_holder_.bind(Loopback(0));
    PlugIn();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Impl() {
    OnLoop([this] { PullOut(); });
    loop_.stop();
    thread_.join();
  }

  /// Runs it on the loop's thread, and waits for the end.
  void OnLoop(const std::function<void()>& what) {
    std::promise<void> done;
    asio::post(loop_, [&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }

  int port() const { return port_holder_.local_endpoint().port(); }
  void PlugIn() {
    if (acceptor_) return;
    acceptor_ = std::make_shared<tcp::acceptor>(loop_, Loopback(port()));
    KeepPrivate(acceptor_->native_handle());
    base::Spawn(loop_.get_executor(), Accept(this, acceptor_));
  }
  /// `kept` alone stays connected.
  void PullOut(const Wire* kept = nullptr) {
    if (acceptor_) acceptor_->close();
    acceptor_.reset();
    for (const auto& wire : wires_)
      if (wire.get() != kept) wire->Cut();
    std::erase_if(wires_, [&](const auto& wire) { return wire.get() != kept; });
  }
  void HoldUp(std::string words) { slow_words_ = std::move(words); }
  bool Holds() const { return held_up_.has_value(); }
  void LetGo() {
    if (held_up_) held_up_->cancel();
  }
  void PullOutAtRequest(std::string words, bool arrives) {
    fatal_words_ = std::move(words);
    fatal_request_arrives_ = arrives;
  }

 private:
  static base::Task<void> Accept(Impl* self, std::shared_ptr<tcp::acceptor> acceptor) {
    for (;;) {
      auto wire = std::make_shared<Wire>(self->loop_);
      const auto accepted = co_await acceptor->async_accept(wire->client, kNoThrow);
      if (std::get<0>(accepted)) co_return;
      const auto connected = co_await wire->api.async_connect(self->api_, kNoThrow);
      if (std::get<0>(connected) || !acceptor->is_open()) continue;
      self->wires_.push_back(wire);
      base::Spawn(self->loop_.get_executor(), Carry(self, wire, true));
      base::Spawn(self->loop_.get_executor(), Carry(self, wire, false));
    }
  }

  static base::Task<void> Carry(Impl* self, std::shared_ptr<Wire> wire, bool requests) {
    tcp::socket& from = requests ? wire->client : wire->api;
    tcp::socket& to = requests ? wire->api : wire->client;
    std::array<char, std::size_t{16} * 1024> buffer;
    for (;;) {
      const auto got = co_await from.async_read_some(asio::buffer(buffer), kNoThrow);
      if (std::get<0>(got)) break;
      const std::string_view bytes(buffer.data(), std::get<1>(got));
      if (requests && self->IsSlow(bytes)) {
        std::string request(bytes);
        co_await self->UntilLetGo();
        co_await DeliverLate(self, wire, std::move(request));
        break;
      }
      if (!self->MayPass(*wire, requests, bytes)) break;
      const auto sent = co_await asio::async_write(to, asio::buffer(bytes), kNoThrow);
      if (std::get<0>(sent)) break;
    }
    wire->Cut();
  }

  bool IsSlow(std::string_view bytes) {
    const bool slow = !slow_words_.empty() && bytes.starts_with(slow_words_);
    if (slow) slow_words_.clear();
    return slow;
  }
  base::Task<void> UntilLetGo() {
    held_up_.emplace(loop_, asio::steady_timer::time_point::max());
    co_await held_up_->async_wait(kNoThrow);
    held_up_.reset();
  }

  /// Over a new connection: the old one may have been closed meanwhile.
  static base::Task<void> DeliverLate(Impl* self, std::shared_ptr<Wire> wire, std::string request) {
    std::error_code ignored;
    std::string rest(wire->client.available(ignored), '\0');
    asio::read(wire->client, asio::buffer(rest), ignored);
    request += rest;
    tcp::socket api(self->loop_);
    const auto connected = co_await api.async_connect(self->api_, kNoThrow);
    if (std::get<0>(connected)) co_return;
    const auto sent = co_await asio::async_write(api, asio::buffer(request), kNoThrow);
    if (std::get<0>(sent)) co_return;
    std::array<char, 1024> answer;
    const auto answered = co_await api.async_read_some(asio::buffer(answer), kNoThrow);
    static_cast<void>(answered);
  }

  /// Pulls the cable out when its trigger has come. If the fatal request arrives, no answer to
  /// another request may tell what it did.
  bool MayPass(Wire& wire, bool requests, std::string_view bytes) {
    const bool fatal = requests && !fatal_words_.empty() && bytes.starts_with(fatal_words_);
    if (fatal) fatal_words_.clear();
    if (fatal && fatal_request_arrives_) {
      wire.cut_at_answer = true;
      PullOut(&wire);
    }
    const bool pass = !(fatal && !fatal_request_arrives_) && (requests || !wire.cut_at_answer);
    if (!pass) PullOut();
    return pass;
  }

  asio::io_context loop_ = {};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::endpoint api_;
  tcp::socket port_holder_;
  std::shared_ptr<tcp::acceptor> acceptor_ = {};
  std::vector<std::shared_ptr<Wire>> wires_ = {};
  std::string fatal_words_ = {};
  std::string slow_words_ = {};
  std::optional<asio::steady_timer> held_up_ = {};
  bool fatal_request_arrives_ = false;
  std::thread thread_ = {};
};

ApiCable::ApiCable(int api_port) : impl_(std::make_unique<Impl>(api_port)) {}
ApiCable::~ApiCable() = default;

std::string ApiCable::endpoint() const {
  return "http://127.0.0.1:" + std::to_string(impl_->port());
}
void ApiCable::PullOut() {
  impl_->OnLoop([this] { impl_->PullOut(); });
}
void ApiCable::PlugIn() {
  impl_->OnLoop([this] { impl_->PlugIn(); });
}
void ApiCable::PullOutAt(std::string words) {
  impl_->OnLoop([&] { impl_->PullOutAtRequest(std::move(words), false); });
}
void ApiCable::PullOutAfter(std::string words) {
  impl_->OnLoop([&] { impl_->PullOutAtRequest(std::move(words), true); });
}
void ApiCable::HoldUp(std::string words) {
  impl_->OnLoop([&] { impl_->HoldUp(std::move(words)); });
}
bool ApiCable::Holds() {
  bool holds = false;
  impl_->OnLoop([&] { holds = impl_->Holds(); });
  return holds;
}
void ApiCable::LetGo() {
  impl_->OnLoop([&] { impl_->LetGo(); });
}

}  // namespace jobman::test
