#include "jobman/client/input_feed.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "jobman/base/hash.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends[0]);
    Close();
  }
  void Write(std::string_view text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  int read() const { return ends[0]; }
  std::array<int, 2> ends = {};
};

class InputFeedTest : public testing::Test {
 protected:
  /// Runs the loop until the condition holds; false after a minute.
  bool TurnUntil(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!is_so()) {  // asked no more once it is: the end of an input comes once
      if (std::chrono::steady_clock::now() > end) return false;
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds{50});
    }
    return true;
  }
  /// Adds what has come; true at the end.
  static bool Take(ports::Pace& reader, std::string* text) {
    while (true) {
      auto piece = reader.NextInput();
      if (!piece.ok() || !*piece) return !piece.ok();
      if ((*piece)->empty()) return true;
      *text += **piece;
    }
  }
  asio::io_context loop_;
  test::TempDir dir_;
};

TEST_F(InputFeedTest, EveryReaderGetsWhatArrivesAndItsEnd) {
  Pipe pipe;
  InputFeed feed(loop_.get_executor(), pipe.read());
  const auto one = feed.Join();
  const auto other = feed.Join();
  std::string first;
  std::string second;
  feed.Start();
  pipe.Write("a line\n");
  ASSERT_TRUE(TurnUntil([&] { return Take(*one, &first) || first == "a line\n"; }));
  EXPECT_FALSE(Take(*other, &second)) << "more may come";
  EXPECT_EQ(second, "a line\n");
  pipe.Write("more");
  pipe.Close();
  EXPECT_TRUE(TurnUntil([&] { return Take(*one, &first); }));
  EXPECT_TRUE(TurnUntil([&] { return Take(*other, &second); }));
  EXPECT_EQ(first, "a line\nmore");
  EXPECT_EQ(second, first);
}

/// A command that has some of its input is given the rest, and reading goes no further than there
/// until it is known to be the same.
TEST_F(InputFeedTest, AReaderGoesOnFromWhatItsCommandHas) {
  const std::string text(300'000, 'x');
  for (const std::int64_t had : {0, 7, 65'536, 100'000, 300'000}) {
    const base::Path file = dir_.path() / "text";
    std::ofstream(file) << text;
    const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    InputFeed feed(loop_.get_executor(), fd.get());
    const auto whole = feed.Join();
    const auto facts = std::make_shared<InputResume>();
    const auto rest = feed.JoinResuming(facts);
    feed.Start();
    rest->SkipTo(had);
    rest->Verify(base::Sha256Hex(text.substr(0, static_cast<std::size_t>(had))));
    std::string all;
    std::string some;
    bool all_ended = false;
    bool some_ended = false;
    ASSERT_TRUE(TurnUntil([&] {
      if (!all_ended) all_ended = Take(*whole, &all);
      if (!some_ended) some_ended = Take(*rest, &some);
      return all_ended && some_ended;
    })) << had;
    EXPECT_EQ(all, text);
    EXPECT_EQ(some, text.substr(static_cast<std::size_t>(had))) << had;
    EXPECT_FALSE(facts->differs) << had;
    EXPECT_EQ(facts->offset, had);
    EXPECT_EQ(facts->given, 300'000 - had);
  }
}

TEST_F(InputFeedTest, AReaderWhoseCommandHasSomethingElseFailsAndTheOthersGoOn) {
  const std::string text(200'000, 'x');
  for (const std::int64_t had : {10, 200'001}) {
    const base::Path file = dir_.path() / "text";
    std::ofstream(file) << text;
    const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    InputFeed feed(loop_.get_executor(), fd.get());
    const auto whole = feed.Join();
    const auto facts = std::make_shared<InputResume>();
    const auto other = feed.JoinResuming(facts);
    feed.Start();
    other->SkipTo(had);
    other->Verify(base::Sha256Hex("something else"));
    std::string all;
    std::string some;
    bool ended = false;
    ASSERT_TRUE(TurnUntil([&] {
      if (!ended) ended = Take(*whole, &all);
      return Take(*other, &some) && ended;
    })) << had;
    EXPECT_EQ(all, text);
    EXPECT_EQ(some, "");
    EXPECT_TRUE(facts->differs);
    EXPECT_FALSE(other->NextInput().ok());
  }
}

TEST_F(InputFeedTest, AReaderIsWokenWhenInputArrives) {
  Pipe pipe;
  InputFeed feed(loop_.get_executor(), pipe.read());
  const auto reader = feed.Join();
  int woken = 0;
  reader->OnWake([&] { ++woken; });
  feed.Start();
  EXPECT_FALSE(reader->NextInput()->has_value());
  pipe.Write("x");
  EXPECT_TRUE(TurnUntil([&] { return woken > 0; }));
  EXPECT_EQ(**reader->NextInput(), "x");
}

TEST_F(InputFeedTest, ReadsNoFasterThanTheSlowestTakes) {
  const auto path = dir_.path() / "large";
  std::ofstream(path) << std::string(std::size_t{8} << 20, 'x');
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  InputFeed feed(loop_.get_executor(), file.get());
  const auto fast = feed.Join();
  auto slow = feed.Join();
  std::string taken;
  feed.Start();
  const auto read_so_far = [&] { return ::lseek(file.get(), 0, SEEK_CUR); };
  ASSERT_TRUE(TurnUntil([&] {
    Take(*fast, &taken);
    return taken.size() == std::size_t{1} << 20;
  }));
  loop_.restart();
  loop_.run_for(std::chrono::milliseconds{300});
  EXPECT_EQ(read_so_far(), 1 << 20) << "the slow one has had nothing yet";
  slow.reset();  // its command has ended
  EXPECT_TRUE(TurnUntil([&] { return Take(*fast, &taken); }));
  EXPECT_EQ(taken.size(), std::size_t{8} << 20);
}

TEST_F(InputFeedTest, OneThatTakesNothingFailsAndTheOthersGoOn) {
  const auto path = dir_.path() / "large";
  std::ofstream(path) << std::string(std::size_t{3} << 20, 'x');
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  InputFeed feed(loop_.get_executor(), file.get(), std::chrono::milliseconds{50});
  const auto good = feed.Join();
  const auto stuck = feed.Join();
  int woken = 0;
  stuck->OnWake([&] { ++woken; });
  std::string taken;
  feed.Start();
  EXPECT_TRUE(stuck->MayRead().ok());
  EXPECT_TRUE(TurnUntil([&] { return Take(*good, &taken); }));
  EXPECT_EQ(taken.size(), std::size_t{3} << 20);
  const auto may = stuck->MayRead();
  ASSERT_FALSE(may.ok());
  EXPECT_EQ(may.error().code, base::Code::kDeadlineExceeded);
  EXPECT_THAT(may.error().message, HasSubstr("its input was not taken for"));
  EXPECT_GT(woken, 0) << "its command is told";
}

TEST_F(InputFeedTest, AloneOneMayTakeItsTime) {
  const auto path = dir_.path() / "large";
  std::ofstream(path) << std::string(std::size_t{3} << 20, 'x');
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  InputFeed feed(loop_.get_executor(), file.get(), std::chrono::milliseconds{1});
  const auto only = feed.Join();
  feed.Start();
  loop_.run_for(std::chrono::milliseconds{500});
  EXPECT_TRUE(only->MayRead().ok());
}

TEST_F(InputFeedTest, TheFlagsOfTheDescriptorStay) {
  Pipe pipe;
  InputFeed feed(loop_.get_executor(), pipe.read());
  const auto reader = feed.Join();
  std::string text;
  feed.Start();
  pipe.Write("x");
  ASSERT_TRUE(TurnUntil([&] { return Take(*reader, &text) || text == "x"; }));
  EXPECT_EQ(::fcntl(pipe.read(), F_GETFL) & O_NONBLOCK, 0) << "a shell may read it after us";
}

TEST_F(InputFeedTest, AFolderIsAnErrorAndNoDescriptorIsEmpty) {
  const base::UniqueFd folder(::open(dir_.path().c_str(), O_RDONLY | O_CLOEXEC));
  InputFeed feed(loop_.get_executor(), folder.get());
  const auto reader = feed.Join();
  feed.Start();
  ASSERT_TRUE(TurnUntil([&] { return !reader->NextInput().ok(); }));
  EXPECT_THAT(reader->NextInput().error().ToString(), HasSubstr("reading standard input"));

  InputFeed none(loop_.get_executor(), -1);
  const auto empty = none.Join();
  none.Start();
  std::string text;
  EXPECT_TRUE(TurnUntil([&] { return Take(*empty, &text); }));
  EXPECT_TRUE(empty->NextInput().ok());
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace jobman::client
