#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.hpp"
#include "jobman/client/wait_for_jobs.hpp"

namespace jobman::cli {

/// Tells a waiting user what happens to jobs: each change once, with the time since the wait began.
/// Between two changes a live line says what they wait for and for how long: on a terminal in
/// place, elsewhere once a minute. Writes to stderr; nothing with --quiet.
class Narrator {
 public:
  /// With several jobs, each line names its job.
  Narrator(App& app, bool several);
  /// The same, with what is said of several jobs below each other.
  Narrator(App& app, const std::vector<core::Job>& jobs);
  ~Narrator();
  Narrator(const Narrator&) = delete;
  Narrator& operator=(const Narrator&) = delete;

  /// What the job does is no news: its changes are told from here on.
  void Known(const core::Job& job);
  /// At each look at a job.
  void Tell(const core::Job& job);
  /// The same without the changes: only the live line.
  void Watch(const core::Job& job);
  /// This job is not waited for any more.
  void Settled(core::JobId job);
  /// What a host wrote is shown: it says itself that the job runs.
  void Heard(std::string_view bytes);
  /// Takes the live line away, for a question.
  void Hide();

 private:
  struct Busy {
    std::string status = {};
    std::string text = {};  ///< "000042 train RUNNING 3m20s"
  };
  bool IsHeard(const core::Job& job) const;
  std::string LabelOf(const core::Job& job) const;
  std::string BusyText() const;
  std::string LiveText(const core::Job& job) const;
  std::string NextStep(const core::Job& job) const;
  void ShowStatus(const core::Job& job);
  void ShowLive(const core::Job& job);

  App& app_;
  bool several_;
  int label_width_ = 0;
  base::TimePoint began_;
  std::map<core::JobId, std::string> said_ = {};
  std::string said_next_ = {};  ///< with one job: the next step that the live line has no room for
  std::map<core::JobId, Busy> busy_ = {};  ///< with several jobs: what each does
  base::TimePoint news_at_;                ///< the last line that was printed
  base::TimePoint shown_at_ = {};          ///< the live line on a terminal
  base::TimePoint heard_at_ = {};
  bool hears_ = false;
  bool line_open_ = false;  ///< a host wrote a part of a line
};

/// Shows how the wait for a job has ended.
using OnEnd = std::function<void(const core::Job& job)>;

/// client::WaitForJobs(), which tells each change on stderr; the last one of a job is left to
/// `on_end`, if there is one.
base::Result<std::vector<core::Job>> TellAndWait(App& app, const client::Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 client::WaitFor wait, const OnEnd& on_end = {});
/// Waits until the jobs are at rest, see client::AtRest().
base::Result<std::vector<core::Job>> WaitUntilAtRest(App& app, const client::Context& context,
                                                     const std::vector<core::JobId>& ids,
                                                     const OnEnd& on_end = {});

}  // namespace jobman::cli
