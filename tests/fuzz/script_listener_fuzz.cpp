// What a host may print while jobman follows a run: only what comes after the mark is the log, and
// only once the script has said that the run exists.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "jobman/controller/script_listener.hpp"
#include "tests/fuzz/expect.hpp"

using namespace jobman;

namespace {

constexpr const char* kExists = "jobman: running\n";

/// Follows a run at a time that stands still; no text of some kilobytes is an error then.
class Following {
 public:
  void Out(std::string_view text, std::size_t piece) {
    for (std::size_t at = 0; at < text.size(); at += piece)
      fuzz::Expect(listener_.TakeOut(text.substr(at, piece), sink_).ok(), "no text is an error");
  }
  /// Whether any piece brought a report.
  bool Err(std::string_view text, std::size_t piece) {
    bool any = false;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const auto report = listener_.TakeErr(text.substr(at, piece), sink_);
      fuzz::Expect(report.ok(), "no text is an error");
      any = any || *report;
    }
    return any;
  }
  const std::string& log() const { return log_; }

 private:
  std::string log_ = {};
  ports::ByteSink sink_ = [this](std::string_view bytes) {
    log_ += bytes;
    return base::Ok();
  };
  controller::ScriptListener listener_{"h0", remote::FollowCall("r", 0),
                                       [] { return base::TimePoint{}; }};
};

void TryOut(const std::string& text, std::size_t piece) {
  const std::size_t mark = text.find(controller::kLogBegins);
  const std::string log =
      mark == std::string::npos ? "" : text.substr(mark + controller::kLogBegins.size());
  Following known;
  known.Err(kExists, piece);
  known.Out(text, piece);
  fuzz::Expect(known.log() == log, "the log is what comes after the mark");
  Following unknown;
  unknown.Out(text, piece);
  fuzz::Expect(unknown.log().empty(), "nothing is a log before the run exists");
  unknown.Err(kExists, piece);
  fuzz::Expect(unknown.log() == log, "what waited is not lost");
}

void TryErr(const std::string& text, std::size_t piece) {
  Following run;
  run.Out(std::string(controller::kLogBegins) + "one\n", piece);
  const bool any = run.Err(text, piece);
  // The limit of an unfinished line aside, which is longer than what is given here.
  if (text.size() >= 16'384) return;
  fuzz::Expect(any == remote::HoldsReport(text), "a report is heard in pieces, too");
  if (remote::SaysRunExists(text)) fuzz::Expect(run.log() == "one\n", "so is that the run exists");
  if (!any) fuzz::Expect(run.log().empty(), "noise is no report");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::Text(data, size);
  for (const std::size_t piece : {std::max<std::size_t>(size, 1), std::size_t{3}}) {
    TryOut(text, piece);
    TryErr(text, piece);
  }
  return 0;
}
