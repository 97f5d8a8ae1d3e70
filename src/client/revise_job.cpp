#include "jobman/client/revise_job.hpp"

#include <fmt/format.h>

#include <utility>

#include "client/kept_project.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/code.hpp"
#include "jobman/client/set_wishes.hpp"
#include "jobman/core/late_names.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::client {
namespace {

using base::OrderedJson;

/// A controller writes often while a job starts.
constexpr int kMostTries = 10;

/// "tpu.accelerator, tpu.version"
std::string KeysThatDiffer(const core::JobSpec& from, const core::JobSpec& to) {
  std::vector<std::string> keys;
  const OrderedJson before = core::SpecToJson(from);
  const OrderedJson after = core::SpecToJson(to);
  for (const char* const section : {"tpu", "cloud"}) {
    const OrderedJson old_values = before.value(section, OrderedJson::object());
    const OrderedJson new_values = after.value(section, OrderedJson::object());
    for (const auto& entry : new_values.items()) {
      const bool same = old_values.value(entry.key(), OrderedJson()) == entry.value();
      if (!same) keys.push_back(std::string(section) + "." + entry.key());
    }
  }
  return base::Join(keys, ", ");
}

/// `options`: see RevisionOrder.
base::Status CheckSlice(const core::Job& job, const core::JobSpec& spec,
                        const std::optional<core::Wish>& wish, const std::string& options) {
  if (!job.slice || wish == core::Wish::kRequeue) return base::Ok();
  if (core::AskForTheSameSlice(job.spec, spec)) return base::Ok();
  const std::string id = core::FormatJobId(job.id);
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = fmt::format("job {} has slice {}, which cannot change in {}", id,
                             job.slice->ref.name, KeysThatDiffer(job.spec, spec)),
      .hint = fmt::format("jobman requeue {} {} gives the slice up and requests another, which may "
                          "take long",
                          id, options.empty() ? "with the same options" : options)};
}

/// Names, by which slices, logs and labels are found. A job that was created without a number, or
/// under another name (--name), has no number of this file.
void KeepNames(const core::Job& job, core::JobSpec& spec) {
  const std::string stem = spec.name + "_";
  const std::string number =
      job.spec.name.starts_with(stem) ? job.spec.name.substr(stem.size()) : std::string();
  spec.name = job.spec.name;
  spec.tpu.name = job.spec.tpu.name;
  if (std::exchange(spec.worker_num, {}).empty()) return;
  core::BindNumber(spec, number);
}

/// `create` may have turned OS Login off (Preflight); the job file does not say so.
void KeepOsLogin(const core::Job& job, core::JobSpec& spec) {
  const auto& present = job.spec.tpu.metadata;
  const auto off = present.find(kEnableOsLogin);
  if (off != present.end() && off->second == "FALSE") spec.tpu.metadata.insert(*off);
}

/// The snapshot that the job has, if the file asks for the same code.
void KeepSnapshot(const core::Job& job, core::JobSpec& spec) {
  const core::CodeSpec& present = job.revised ? job.revised->code : job.spec.code;
  core::CodeSpec wanted = spec.code;
  wanted.snapshot = present.snapshot;
  if (wanted == present) spec.code = present;
}

}  // namespace

bool NeedsAnotherSlice(const core::Job& job, core::JobSpec spec) {
  KeepNames(job, spec);
  KeepOsLogin(job, spec);
  return job.slice && !core::AskForTheSameSlice(job.spec, spec);
}

base::Task<base::Result<Revised>> ReviseJob(Context context, RevisionOrder order) {
  ports::JobStore& jobs = *context.stores.jobs;
  JM_CO_ASSIGN_OR_RETURN(core::Job job, co_await jobs.Get(order.job));
  KeepNames(job, order.loaded.spec);
  KeepOsLogin(job, order.loaded.spec);
  order.loaded.spec.code.snapshot = {};
  if (!order.take_code) KeepSnapshot(job, order.loaded.spec);
  JM_CO_TRY(CheckSlice(job, order.loaded.spec, order.wish, order.options));
  const bool keeps_slice = job.slice && core::AskForTheSameSlice(job.spec, order.loaded.spec) &&
                           order.wish != core::Wish::kRequeue;
  const auto preflight = keeps_slice ? Preflight::kHeldSlice : Preflight::kAll;
  const core::JobSpec present = job.spec;  // `job` may be read again
  JM_CO_ASSIGN_OR_RETURN(CheckedFile checked, co_await CheckFile(context, std::move(order.loaded),
                                                                 nullptr, preflight, &present));
  const core::JobSpec& spec = checked.loaded.spec;
  if (checked.code) {
    JM_CO_TRY(KeepCode(*checked.code, context.paths, order.job.value));
  }
  for (int tries = 1;; ++tries) {
    ports::JobVersion version{.id = job.id, .version = job.version};
    ports::Revision revision{.spec = spec, .source = checked.loaded.source};
    const auto stored =
        co_await jobs.Revise(version, std::move(revision), order.wish, context.Now());
    if (stored.ok()) break;
    const bool again = stored.error().reason == base::Reason::kStale && tries < kMostTries;
    if (!again) co_return stored.error();
    JM_CO_ASSIGN_OR_RETURN(job, co_await jobs.Get(order.job));
    JM_CO_TRY(CheckSlice(job, spec, order.wish, order.options));
  }
  controller::Nudge nudge;
  auto secrets = SecretValues(spec);
  if (!secrets.empty()) nudge.secrets[job.id.value] = std::move(secrets);
  JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  Revised revised{.job = std::move(job), .notes = std::move(checked.notes)};
  co_return revised;
}

}  // namespace jobman::client
