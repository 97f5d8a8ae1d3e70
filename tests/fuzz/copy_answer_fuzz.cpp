// What a host may answer to `cp`: how much of the copy it has, and what its stderr says to jobman.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/copy_look.hpp"
#include "client/copy_parts.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

/// Keeps what an answer asks of the input.
class HeardInput final : public client::ResumingInput {
 public:
  void SkipTo(std::int64_t offset) override { skips.push_back(offset); }
  void Verify(std::string sha256) override { hashes.push_back(std::move(sha256)); }
  base::Result<std::optional<std::string>> NextInput() override {
    return std::optional<std::string>();
  }
  base::Result<bool> MayRead() override { return true; }

  std::vector<std::int64_t> skips = {};
  std::vector<std::string> hashes = {};
};

struct Look {
  std::vector<std::int64_t> skips = {};
  std::vector<std::string> hashes = {};
  bool complete = false;
  friend bool operator==(const Look&, const Look&) = default;
};

template <class Listener>
void Give(Listener& listener, std::string_view text, std::size_t piece) {
  for (std::size_t at = 0; at < text.size(); at += piece)
    fuzz::Expect(listener.Hear(text.substr(at, piece)).ok(), "no text is an error");
}

Look Looked(const std::string& text, std::size_t piece) {
  const auto input = std::make_shared<HeardInput>();
  client::LookAnswer answer(input);
  Give(answer, text, piece);
  return {input->skips, input->hashes, answer.complete()};
}

void TryLook(const std::string& text) {
  const Look look = Looked(text, std::max<std::size_t>(text.size(), 1));
  fuzz::Expect(look == Looked(text, 1) && look == Looked(text, 5), "pieces do not matter");
  fuzz::Expect(look.skips.size() <= 1 && look.hashes.size() <= 1, "the input is told once");
  fuzz::Expect(look.hashes.size() <= look.skips.size(), "a hash is of an offset");
  for (const std::int64_t at : look.skips) fuzz::Expect(at >= 0, "an offset is none before 0");
  for (const std::string& hash : look.hashes)
    fuzz::Expect(hash.size() < 200, "what is kept has a limit");
  if (!Looked(text + "\n", 3).skips.empty()) return;
  const Look after = Looked(text + "\nat 4096\nis 1f\n", 3);
  fuzz::Expect(after == Look{{4096}, {"1f"}, true}, "an answer is found after any noise");
}

/// What people are shown, and the size.
std::pair<std::string, std::int64_t> Heard(const std::string& text, std::size_t piece) {
  std::string people;
  client::PackNews news([&people](std::string_view bytes) {
    people += bytes;
    return base::Ok();
  });
  Give(news, text, piece);
  return {people, news.size()};
}

void TryNews(const std::string& text) {
  const auto heard = Heard(text, std::max<std::size_t>(text.size(), 1));
  fuzz::Expect(heard == Heard(text, 1) && heard == Heard(text, 7), "pieces do not matter");
  fuzz::Expect(heard.first.size() <= text.size(), "nothing is added");
  fuzz::Expect(heard.second >= 0 && heard.second <= std::int64_t{1} << 50, "sums stay numbers");
  fuzz::Expect(("\n" + heard.first).find("\njobman-cp ") == std::string::npos,
               "people are shown no line of jobman's");
  const auto after = Heard(text + "\njobman-cp size 1234\n", 3);
  fuzz::Expect(after.second == 1234, "the last size counts");
}

void TryEnds(const std::string& text) {
  std::string ends;
  for (int times = 0; times < 3; ++times) client::KeepEnds(ends, text);
  fuzz::Expect(ends.size() <= 8192, "only the ends are kept");
  fuzz::Expect(client::FirstLine(ends).find('\n') == std::string::npos, "a line is a line");
  fuzz::Expect(!client::CopyError(ends, 2).message.empty(), "an error says something");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  TryLook(text);
  TryNews(text);
  TryEnds(text);
  return 0;
}
