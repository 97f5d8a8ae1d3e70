#include "jobman/client/input_feed.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/hash.hpp"
#include "jobman/base/waiters.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kInputPiece = std::size_t{64} << 10;
constexpr std::size_t kInputPieces = 16;
constexpr base::Duration kStallCheck = std::chrono::milliseconds{200};

class Reader;

/// A piece of the input; an empty one is its end.
struct InputPiece {
  std::string bytes = {};
  std::int64_t begin = 0;
  std::optional<base::Sha256> before = {};  ///< of all before it, while somebody may need it
  std::int64_t end() const { return begin + std::ssize(bytes); }
};

base::Error Differs() {
  return {.code = base::Code::kFailedPrecondition,
          .message = "what it has of an earlier copy is not the beginning of this one",
          .hint = "copy again"};
}

base::Error Untouched(base::Duration patience, const std::string& hint) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = "its input was not taken for " + base::FormatDuration(patience) +
                     " while other hosts waited for more, so the command was ended",
          .hint = hint};
}

}  // namespace

struct InputFeed::State {
  State(int from, base::Duration most, InputWords how)
      : fd(from), patience(most), words(std::move(how)) {}

  int fd;
  base::Duration patience;
  InputWords words;
  std::deque<InputPiece> pieces = {};                 ///< the last one is empty at the end
  std::size_t first = 0;                              ///< number of the first of them
  std::optional<base::Sha256> hash = base::Sha256();  ///< of all, while somebody may need it
  std::vector<Reader*> readers = {};
  base::Waiters room = {};
  std::optional<base::Error> failed = {};
  bool ended = false;
  std::int64_t bytes = 0;
  std::function<void(std::int64_t)> on_read = {};

  std::size_t end() const { return first + pieces.size(); }
  bool full() const { return pieces.size() >= kInputPieces; }
  void Add(std::string more);
  void Fail(base::Error error);
  void WakeReaders() const;
  /// Drops what all have had.
  void Trim();
  /// Fails those who hold others back for too long.
  void FailTheStalled();
};

namespace {

class Reader final : public ResumingInput {
 public:
  /// Without `facts` for a command that has nothing of its input.
  Reader(std::shared_ptr<InputFeed::State> feed, std::shared_ptr<InputResume> facts)
      : feed_(std::move(feed)), facts_(std::move(facts)), decided_(!facts_) {
    feed_->readers.push_back(this);
  }
  ~Reader() override { Leave(); }
  void SkipTo(std::int64_t offset) override {
    skip_ = offset;
    decided_ = offset == 0;
    moved_ = Clock::now();
    if (facts_) facts_->offset = offset;
    Pass();
    feed_->Trim();
  }
  void Verify(std::string sha256) override { expected_ = std::move(sha256); }
  /// Leaves the pieces behind that the command has.
  void Pass() {
    while (skip_ > 0 && next_ < feed_->end()) {
      const InputPiece& piece = feed_->pieces[next_ - feed_->first];
      if (piece.bytes.empty() || piece.end() >= skip_) return;
      ++next_;
      moved_ = Clock::now();
    }
  }
  Result<std::optional<std::string>> NextInput() override {
    if (failed_) return *failed_;
    Pass();
    waits_ = next_ == feed_->end();
    if (waits_) {
      if (feed_->failed) return *feed_->failed;
      return std::optional<std::string>();
    }
    const InputPiece& piece = feed_->pieces[next_ - feed_->first];
    std::string bytes = piece.bytes;
    const bool last = bytes.empty();
    if (skip_ > 0) {
      if (!IsSame(piece)) {
        facts_->differs = true;
        Fail(Differs());
        return *failed_;
      }
      bytes.erase(0, static_cast<std::size_t>(skip_ - piece.begin));
      skip_ = 0;
      decided_ = true;
    }
    ++next_;
    moved_ = Clock::now();
    if (facts_) facts_->given += std::ssize(bytes);
    feed_->Trim();
    if (bytes.empty() && !last) return NextInput();  // it had this piece to its end
    return std::optional<std::string>(std::move(bytes));
  }
  Result<bool> MayRead() override {
    if (failed_) return *failed_;
    return true;
  }

  std::size_t next() const { return next_; }
  bool waits() const { return waits_; }
  /// Whether what the command has may still have to be compared.
  bool compares() const { return !decided_; }
  Clock::time_point moved() const { return moved_; }
  void Fail(base::Error error) {
    failed_ = std::move(error);
    Leave();
    Wake();
  }

 private:
  /// It holds nobody back any more.
  void Leave() {
    std::erase(feed_->readers, this);
    feed_->Trim();
  }

  /// Whether the command has what the input is up to where it goes on, in this piece.
  bool IsSame(const InputPiece& piece) const {
    if (!piece.before || skip_ > piece.end()) return false;
    base::Sha256 hash(*piece.before);
    hash.Add(
        std::string_view(piece.bytes).substr(0, static_cast<std::size_t>(skip_ - piece.begin)));
    return hash.Hex() == expected_;
  }

  std::shared_ptr<InputFeed::State> feed_;
  std::shared_ptr<InputResume> facts_;
  bool decided_;               ///< where the command goes on
  std::int64_t skip_ = 0;      ///< where it goes on, until it does
  std::string expected_ = {};  ///< the hash of what it has
  std::size_t next_ = 0;
  bool waits_ = false;  ///< it has had everything and asked for more
  Clock::time_point moved_ = Clock::now();
  std::optional<base::Error> failed_ = {};
};

/// Waits until a descriptor can be read without setting O_NONBLOCK, which other processes would
/// see: a descriptor of epoll's own is watched in its place.
class Readable {
 public:
  Readable(asio::any_io_executor executor, int fd) : fd_(fd), watch_(executor) {
    base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event = {.events = EPOLLIN, .data = {}};
    // Regular files are refused: they can always be read.
    if (!epoll || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) return;
    std::error_code failed;
    watch_.assign(epoll.get(), failed);
    if (!failed) epoll.Release();
  }
  Task<void> Wait() {
    co_await base::Yield();
    while (watch_.is_open() && !IsReady()) {
      co_await watch_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
      co_await base::EndIfCancelled();
    }
  }

 private:
  /// Another process may have taken what there was.
  bool IsReady() const {
    pollfd one = {.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) != 0;
  }
  int fd_;
  asio::posix::stream_descriptor watch_;
};

/// Empty at the end; nothing if another process took what there was.
Result<std::optional<std::string>> ReadPiece(int fd, const std::string& name) {
  std::string piece(kInputPiece, '\0');
  ssize_t count = -1;
  do {
    count = ::read(fd, piece.data(), piece.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) return std::optional<std::string>();
  if (count < 0 && errno != EBADF) return base::FromErrno(errno, "reading " + name);
  piece.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return std::optional<std::string>(std::move(piece));
}

Task<void> ReadAll(std::shared_ptr<InputFeed::State> feed, asio::any_io_executor executor) {
  Readable readable(executor, feed->fd);
  while (!feed->readers.empty()) {
    while (feed->full()) {
      co_await feed->room.Wait(Clock::now() + kStallCheck);
      feed->FailTheStalled();
    }
    co_await readable.Wait();
    auto piece = ReadPiece(feed->fd, feed->words.name);
    if (!piece.ok()) {
      feed->Fail(std::move(piece).error());
      co_return;
    }
    if (!*piece) continue;
    feed->Add(std::move(**piece));
    if (feed->ended) co_return;
  }
}

}  // namespace

void InputFeed::State::Add(std::string more) {
  ended = more.empty();
  if (std::none_of(readers.begin(), readers.end(),
                   [](const Reader* reader) { return reader->compares(); }))
    hash.reset();
  pieces.push_back({.bytes = std::move(more), .begin = bytes, .before = hash});
  const std::string& added = pieces.back().bytes;
  if (hash) hash->Add(added);
  bytes += std::ssize(added);
  if (on_read) on_read(bytes);
  for (Reader* reader : readers) reader->Pass();
  Trim();
  WakeReaders();
}

void InputFeed::State::Fail(base::Error error) {
  failed = std::move(error);
  WakeReaders();
}

void InputFeed::State::WakeReaders() const {
  for (const Reader* reader : readers) reader->Wake();
}

void InputFeed::State::Trim() {
  if (pieces.empty()) return;
  std::size_t slowest = end();
  for (const Reader* reader : readers) slowest = std::min(slowest, reader->next());
  if (slowest == first) return;
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(slowest - first));
  first = slowest;
  room.WakeAll();
}

void InputFeed::State::FailTheStalled() {
  if (!full()) return;
  const bool somebody_waits = std::any_of(readers.begin(), readers.end(),
                                          [](const Reader* reader) { return reader->waits(); });
  if (!somebody_waits) return;
  for (Reader* reader : std::vector<Reader*>(readers)) {
    if (reader->next() == first && Clock::now() - reader->moved() >= patience)
      reader->Fail(Untouched(patience, words.hint));
  }
}

InputFeed::InputFeed(asio::any_io_executor executor, int fd, base::Duration patience,
                     InputWords words)
    : executor_(std::move(executor)),
      state_(std::make_shared<State>(fd, patience, std::move(words))) {}

InputFeed::~InputFeed() = default;

std::shared_ptr<ports::Pace> InputFeed::Join() {
  return std::make_shared<Reader>(state_, nullptr);
}

std::shared_ptr<ResumingInput> InputFeed::JoinResuming(std::shared_ptr<InputResume> facts) {
  return std::make_shared<Reader>(state_, std::move(facts));
}

bool InputFeed::ended() const {
  return state_->ended;
}

void InputFeed::Start(std::function<void(std::int64_t)> on_read) {
  state_->on_read = std::move(on_read);
  base::Spawn(executor_, scope_, ReadAll(state_, executor_));
}

}  // namespace jobman::client
