#include "cli/narrator.hpp"

#include <fmt/format.h>

#include "jobman/ui/text.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kTenth = std::chrono::milliseconds{100};

}  // namespace

Narrator::Narrator(App& app, bool several) : app_(app), several_(several), began_(app.Now()) {}

void Narrator::Tell(const core::Job& job) {
  std::string& said = said_[job.id];
  if (job.id.value == 0 || job.why == said) return;
  said = job.why;
  const auto since = base::Duration{(app_.Now() - began_) / kTenth * kTenth};
  const std::string head =
      fmt::format("{:>6}  {}{:<12}  ", base::FormatDuration(since),
                  several_ ? core::FormatJobId(job.id) + "  " : "", core::StateName(job.state));
  app_.Say(head + ui::Wrap(job.why, ui::DisplayWidth(head), app_.terminal().err_style().width));
}

base::Result<std::vector<core::Job>> TellAndWait(App& app, const client::Context& context,
                                                 const std::vector<core::JobId>& ids,
                                                 client::WaitFor wait) {
  Narrator narrator(app, ids.size() > 1);
  wait.on_look = [&narrator](const core::Job& job) { narrator.Tell(job); };
  return client::WaitForJobs(context, ids, wait);
}

base::Status WaitUntilAtRest(App& app, const client::Context& context,
                             const std::vector<core::JobId>& ids) {
  client::WaitFor wait;
  wait.settled = [](const core::Job& job) -> base::Result<bool> { return client::AtRest(job); };
  JM_TRY(TellAndWait(app, context, ids, std::move(wait)));
  return base::Ok();
}

}  // namespace jobman::cli
