#include "jobman/config/worker_file.hpp"

#include "config/convert/draft.hpp"
#include "jobman/base/json.hpp"

namespace jobman::config {

std::string WorkerFileText(const WorkerOptions& options) {
  convert::Draft draft;
  draft.Remark("Made by worker start. What each key means: jobman config explain KEY");
  const auto set = [&draft](const char* key, const std::string& value) {
    if (!value.empty()) draft.Set(key, value);
  };
  set("job.name", options.name);
  // Without the key, a worker gets a number.
  draft.Set("job.worker_num",
            options.numbered ? base::OrderedJson("auto") : base::OrderedJson(nullptr));
  draft.Set("job.queue.enabled", true);
  set("job.queue.config", options.queue_file);
  set("job.queue.idle", options.idle);
  if (options.startup) {
    draft.Append(
        "job.queue.prefix",
        {{"name", "startup"}, {"run", *options.startup}, {"workers", "all"}, {"required", true}});
  }
  set("tpu.accelerator", options.accelerator);
  set("tpu.zone", options.zone);
  set("tpu.pricing", options.pricing);
  set("tpu.allocation_mode", options.allocation_mode);
  return draft.Text();
}

}  // namespace jobman::config
