#include "cli/views/submitted.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "cli/wrapping.hpp"
#include "jobman/core/task_json.hpp"

namespace jobman::cli::views {
namespace {

/// Of an array that is larger, one line tells of all.
constexpr std::size_t kMostShown = 3;

const std::string& IdOfTask(const client::Submitted& one) {
  return one.task.definition.id;
}

std::string LinesOfTasks(const std::vector<client::Submitted>& tasks) {
  if (tasks.size() > kMostShown) {
    return fmt::format("submitted {} tasks, {} to {}; of the first: {}\n", tasks.size(),
                       IdOfTask(tasks.front()), IdOfTask(tasks.back()), tasks.front().waits_for);
  }
  std::string text;
  for (const client::Submitted& one : tasks)
    text += fmt::format("submitted task {}: {}\n", IdOfTask(one), one.waits_for);
  return text;
}

}  // namespace

std::string RenderText(const SubmittedTasks& view, const ui::Style& style) {
  std::string text = LinesOfTasks(view.tasks);
  std::set<std::pair<std::string, std::string>> lacking;
  for (const client::Submitted& one : view.tasks) {
    const core::TaskDefinition& task = one.task.definition;
    if (!one.has_worker) lacking.emplace(task.accelerator, task.zone);
  }
  for (const auto& place : lacking)
    text += fmt::format("to start a worker: jobman worker start -a {} -z {}\n", place.first,
                        place.second);
  return WrapMessage(text, style.width);
}

std::string RenderQuiet(const SubmittedTasks& view) {
  std::string text;
  for (const client::Submitted& one : view.tasks) text += IdOfTask(one) + "\n";
  return text;
}

base::OrderedJson ToJson(const SubmittedTasks& view) {
  base::OrderedJson tasks = base::OrderedJson::array();
  for (const client::Submitted& one : view.tasks) {
    base::OrderedJson task;
    task["id"] = IdOfTask(one);
    const base::Json record = core::TaskToJson(one.task);
    for (const auto& item : record.items()) {
      if (item.key() != "id") task[item.key()] = item.value();
    }
    task["waits_for"] = one.waits_for;
    tasks.push_back(std::move(task));
  }
  base::OrderedJson json;
  json["tasks"] = std::move(tasks);
  return json;
}

}  // namespace jobman::cli::views
