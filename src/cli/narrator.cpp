#include "cli/narrator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/job_choice.hpp"
#include "cli/job_label.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kTenth = std::chrono::milliseconds{100};
constexpr base::Duration kSecond = std::chrono::seconds{1};
/// Shorter waits need no live line on a terminal.
constexpr base::Duration kPatience = std::chrono::seconds{2};
/// Elsewhere there is a line each time this has passed.
constexpr base::Duration kLineEvery = std::chrono::minutes{1};
/// Hosts that wrote something this long ago say themselves that the job runs.
constexpr base::Duration kHostsSpeak = std::chrono::seconds{10};
/// Of so many jobs the live line says what each does.
constexpr std::size_t kMostNamed = 3;
/// Where what is told begins, after the time.
constexpr int kNewsColumn = 8;
/// Where a line that names its job goes on.
constexpr int kBelowLabel = 10;

/// Whether nothing is to be said yet: most commands start within a second.
bool IsJustStarting(const core::Job& job) {
  const auto& hosts = job.stage ? job.stage->hosts : std::vector<core::HostRun>{};
  return core::IsStarting(job) &&
         std::none_of(hosts.begin(), hosts.end(), [](const auto& run) { return run.error; });
}

/// The state is that of before a wish which nobody has taken up yet. A new job is itself the wish.
bool IsOutdated(const core::Job& job) {
  return job.wish_new && !std::holds_alternative<core::Queued>(job.state);
}

std::string OrWhy(const std::string& next_step, core::JobId id) {
  return next_step.empty() ? "jobman why " + core::FormatJobId(id) : next_step;
}

std::string PadTo(int width, const std::string& text) {
  const int blanks = std::max(0, width - ui::DisplayWidth(text));
  return text + std::string(static_cast<std::size_t>(blanks), ' ');
}

/// The sentence of a job that waits in the queue, and for how long it has waited already.
std::string NewsOf(const core::Job& job, base::TimePoint now) {
  const std::string tries = core::TriesText(job.search, now);
  const bool queued = std::holds_alternative<core::Waiting>(job.state);
  return queued && !tries.empty() ? job.why + "; " + tries : job.why;
}

}  // namespace

Narrator::Narrator(App& app, bool several)
    : app_(app), several_(several), began_(app.Now()), news_at_(began_) {}

Narrator::Narrator(App& app, const std::vector<core::Job>& jobs) : Narrator(app, jobs.size() > 1) {
  for (const core::Job& job : jobs)
    label_width_ = std::max(label_width_, ui::DisplayWidth(LabelOf(job)));
}

Narrator::~Narrator() {
  Hide();
}

void Narrator::Settled(core::JobId job) {
  said_.try_emplace(job);  // it counts, though nothing was said of it
  busy_.erase(job);
}

std::string Narrator::LabelOf(const core::Job& job) const {
  return NumberAndShortName(job, app_.terminal().facts().utf8);
}

void Narrator::Hide() {
  shown_at_ = {};
  app_.terminal().SetStatus({});
}

void Narrator::Heard(std::string_view bytes) {
  if (bytes.empty()) return;
  heard_at_ = app_.Now();
  hears_ = true;
  line_open_ = bytes.back() != '\n';
  Hide();
}

void Narrator::Known(const core::Job& job) {
  said_[job.id] = job.why;
}

void Narrator::Tell(const core::Job& job) {
  std::string& said = said_[job.id];
  const bool news =
      job.id.value != 0 && job.why != said && !IsOutdated(job) && !IsJustStarting(job);
  if (!news) return Watch(job);
  Hide();
  said = job.why;
  news_at_ = app_.Now();
  const auto since = base::Duration{(news_at_ - began_) / kTenth * kTenth};
  const std::string_view status = core::StatusWord(job);
  const ui::Style style = app_.terminal().err_style();
  std::string head = fmt::format("{:>6}  ", base::FormatDuration(since));
  if (several_) head += PadTo(label_width_, LabelOf(job)) + "  ";
  const std::string word = fmt::format("{:<12}", status);
  const int column = ui::DisplayWidth(head + word) + 2;
  // Names leave little room.
  const std::string text = WrapText(ui::Clean(NewsOf(job, news_at_), true), column,
                                    several_ ? kBelowLabel : column, style.width);
  if (app_.mode() != OutputMode::kQuiet) {
    app_.terminal().Err(head + ui::Paint(views::ToneOfState(status), word, style) + "  " + text);
  }
  Watch(job);
}

/// The hosts' output is shown and says more than a live line.
bool Narrator::IsHeard(const core::Job& job) const {
  // Of several jobs whole lines are printed.
  if (line_open_ && !several_) return true;
  return hears_ && (several_ || job.stage) && app_.Now() - heard_at_ < kHostsSpeak;
}

void Narrator::Watch(const core::Job& job) {
  if (job.id.value == 0 || app_.mode() == OutputMode::kQuiet) return;
  said_.try_emplace(job.id);  // it counts, though nothing was said of it
  if (core::IsFinal(job.state)) {
    busy_.erase(job.id);
  } else {
    const std::string status(core::StatusWord(job));
    busy_[job.id] = {
        .status = status,
        .text = fmt::format("{} {} {}", LabelOf(job), status, views::Ago(job.since, app_.Now()))};
  }
  if (busy_.empty() || IsHeard(job)) return Hide();
  ShowLive(job);
}

/// What each of the jobs does; of more than a line has room for, how many are in each state.
std::string Narrator::BusyText() const {
  std::vector<std::string> words;
  if (busy_.size() <= kMostNamed) {
    for (const auto& [id, busy] : busy_) words.push_back(busy.text);
    return base::Join(words, ", ");
  }
  std::map<std::string, int> counts;
  for (const auto& [id, busy] : busy_) ++counts[busy.status];
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [status, count] : sorted) words.push_back(fmt::format("{} {}", count, status));
  return base::Join(words, ", ");
}

std::string Narrator::LiveText(const core::Job& job) const {
  if (several_)
    return fmt::format("{} of {} jobs to go: {}", busy_.size(), said_.size(), BusyText());
  const core::Explanation why = core::Explain(job, app_.Now());
  const auto past = base::Duration{(app_.Now() - job.since) / kSecond * kSecond};
  return fmt::format("{} for {}: waits for {}", why.status,
                     base::FormatDuration(std::max(past, base::Duration{0})), why.waits_for);
}

/// With one job: what the user can do. Empty: nothing but to look.
std::string Narrator::NextStep(const core::Job& job) const {
  return several_ ? std::string() : core::Explain(job, app_.Now()).next_step;
}

/// The live line on a terminal. A next step that would be cut is said once, above it.
void Narrator::ShowStatus(const core::Job& job) {
  // Instead of how long each job is in its state: how long this command waits.
  if (busy_.size() > kMostNamed)
    return app_.terminal().SetStatus(LiveText(job) + ", " + views::Ago(began_, app_.Now()));
  const std::string text = LiveText(job);
  const std::string next = NextStep(job);
  const std::string more = several_ ? std::string() : "; next: " + OrWhy(next, job.id);
  const bool fits = ui::DisplayWidth(text + more) <= app_.terminal().status_width();
  app_.terminal().SetStatus(fits ? text + more : text);
  if (fits || next.empty() || next == said_next_) return;
  said_next_ = next;
  const std::string blanks(kNewsColumn, ' ');
  app_.terminal().Err(blanks + WrapText("next: " + ui::Clean(next, true), kNewsColumn, kNewsColumn,
                                        app_.terminal().err_style().width));
}

void Narrator::ShowLive(const core::Job& job) {
  const base::TimePoint now = app_.Now();
  if (app_.terminal().facts().err_tty) {
    const bool due = now - news_at_ >= kPatience && now - shown_at_ >= kSecond;
    if (!due) return;
    shown_at_ = now;
    return ShowStatus(job);
  }
  const bool speaks = hears_ && job.stage && !core::IsStarting(job);
  if (speaks || now - news_at_ < kLineEvery) return;
  const std::string past = base::FormatDuration((now - began_) / kSecond * kSecond);
  news_at_ = now;
  const std::string more = several_ ? std::string() : "; next: " + OrWhy(NextStep(job), job.id);
  app_.Say(fmt::format("{:>6}  {}", past, ui::Clean(LiveText(job) + more, true)));
}

base::Result<std::vector<core::Job>> TellAndWait(App& app, const client::Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 client::WaitFor wait, const OnEnd& on_end) {
  JM_ASSIGN_OR_RETURN(const auto jobs, ReadJobs(context, ids));
  Narrator narrator(app, jobs);
  wait.settled = [&, settled = std::move(wait.settled)](const core::Job& job) {
    auto done = settled(job);
    const bool over = done.ok() && *done;
    if (!over || !on_end) narrator.Tell(job);
    if (over) narrator.Settled(job.id);
    if (over && on_end) on_end(job);
    return done;
  };
  return client::WaitForJobs(context, ids, wait);
}

base::Result<std::vector<core::Job>> WaitUntilAtRest(App& app, const client::Context& context,
                                                     const std::vector<core::JobId>& ids,
                                                     const OnEnd& on_end) {
  client::WaitFor wait;
  wait.settled = [](const core::Job& job) -> base::Result<bool> { return client::AtRest(job); };
  return TellAndWait(app, context, ids, std::move(wait), on_end);
}

}  // namespace jobman::cli
