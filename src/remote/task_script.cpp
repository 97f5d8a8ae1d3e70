#include "jobman/remote/task_script.hpp"

#include "jobman/base/shell.hpp"
#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {
namespace {

/// In a subshell: its variables, traps and limits are none of the task's.
std::string Prepare(const TaskPlan& plan) {
  std::string text = "jb_code=0\n(\n";
  text += SetupText("common");
  text += SetupText("environment");
  if (!plan.env.empty()) text += SetupText("conda");
  text += SetupText("task");
  text += ShellCall("jb_task", {plan.run_key, plan.workdir, plan.url, plan.branch, plan.env});
  return text + ") || jb_code=$?\n";
}

/// From a file of its own, so that a shell which reports an error counts the lines as the queue
/// file does.
std::string RunScript(const std::string& run) {
  const std::string file = "\"$JOBMAN_RUN_DIR/script\"";
  return "(umask 077 && printf '%s\\n' " + base::ShellQuote(run) + " >" + file + ") && chmod 700 " +
         file +
         " || {\n  echo 'jobman: cannot write the script of the task: is the disk full?'\n"
         "  exit 78\n}\n" +
         (run.starts_with("#!") ? "exec " : ". ") + file + "\n";
}

}  // namespace

std::string TaskScript(const TaskPlan& plan) {
  std::string text = Prepare(plan);
  text += "jb_workdir=" + base::ShellQuote(plan.workdir) + "\n";
  text += SetupText("task-enter");
  return text + RunScript(plan.run);
}

}  // namespace jobman::remote
