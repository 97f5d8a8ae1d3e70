#include "cli/list_footer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/job_order.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/config/prices.hpp"

namespace jobman::cli {
namespace {

/// Slices that cost although nothing runs.
struct Held {
  std::vector<std::string> jobs = {};  ///< their numbers
  std::optional<double> dollars = 0;   ///< an hour, at list price; nothing: not known
};

/// Adds a job that is over. A list is for looking at: the prices of so many are looked up.
void AddHeld(Held& held, const client::Context& context, const core::PriceList& prices,
             core::JobId id) {
  constexpr std::size_t kMostLooks = 50;
  std::optional<double> price;
  if (held.jobs.size() < kMostLooks) {
    const auto record = context.Await(context.stores.jobs->Get(id));
    if (record.ok() && record->slice && record->slice->ref.existing) return;
    if (record.ok()) price = core::HourlyPrice(prices, record->spec.tpu);
  }
  held.jobs.push_back(std::to_string(id.value));
  held.dollars = held.dollars && price ? std::optional(*held.dollars + *price) : std::nullopt;
}

/// "5 slices held by jobs that are over, 18.43 USD/h: jobman delete 1 2 3 4 5"
std::string HeldText(const Held& held) {
  constexpr std::size_t kMostNumbers = 10;
  const auto count = std::ssize(held.jobs);
  return fmt::format("{} held by {} over{}: jobman delete {}", base::Plural(count, "slice"),
                     count == 1 ? "a job that is" : "jobs that are",
                     held.dollars ? fmt::format(", {:.2f} USD/h", *held.dollars) : "",
                     held.jobs.size() <= kMostNumbers ? base::Join(held.jobs, " ") : "NUMBER...");
}

/// Slices that cost; empty: none.
std::string TextOfHeld(const client::Context& context, const std::vector<ports::JobSummary>& jobs) {
  const auto holds = [](const ports::JobSummary& job) {
    return HasEnded(job) && job.familiar == "IDLE";
  };
  if (std::none_of(jobs.begin(), jobs.end(), holds)) return {};
  Held held;
  // Commands that are about prices say what is wrong with a list; here the price is left out.
  const auto prices = config::LoadPrices();
  const core::PriceList none;
  for (const ports::JobSummary& job : jobs) {
    if (holds(job)) AddHeld(held, context, prices.ok() ? *prices : none, job.id);
  }
  return held.jobs.empty() ? std::string() : HeldText(held);
}

std::string TextOfNoController(const client::Context& context) {
  const base::Status can_work = client::ControllerCanWork(context.paths);
  if (can_work.ok()) return "no controller is running, so nothing happens: jobman controller start";
  return can_work.error().message + ", so nothing happens: " + can_work.error().hint;
}

/// Whether one of them waits for a controller to do something.
bool AnyUnderWay(const std::vector<ports::JobSummary>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [](const ports::JobSummary& job) { return !HasEnded(job); });
}

}  // namespace

base::Result<std::vector<std::string>> ListFooter(const client::Context& context,
                                                  const std::vector<ports::JobSummary>& jobs,
                                                  int width) {
  std::vector<std::string> texts = {TextOfHeld(context, jobs)};
  JM_ASSIGN_OR_RETURN(const auto controller,
                      context.Await(client::LiveController(context.stores.leases, context.Now())));
  if (!controller && AnyUnderWay(jobs)) texts.push_back(TextOfNoController(context));
  std::vector<std::string> lines;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    for (std::string& line : base::Split(WrapText(text, 0, 0, width), '\n'))
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace jobman::cli
