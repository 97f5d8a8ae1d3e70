// The commands that write one wish: cancel (stop), resume, reboot, requeue, delete.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/wishes.hpp"

namespace jobman::cli {
namespace {

CLI::App* AddWish(CLI::App& root, Invocation& chosen, const std::string& name,
                  const std::string& help, const std::shared_ptr<WishOrder>& order) {
  CLI::App* command = root.add_subcommand(name, help);
  command->add_option("JOB", order->jobs, "Numbers or names")->required();
  const bool ends = order->wish == core::Wish::kCancel || order->wish == core::Wish::kDelete;
  command->add_flag("--wait", order->wait,
                    ends ? "Return when it is done"
                         : "Return when the jobs are over, with their command's exit code");
  command->callback(
      [order, &chosen] { chosen.run = [order](App& app) { return MakeWish(app, *order); }; });
  return command;
}

std::shared_ptr<WishOrder> Order(core::Wish wish, std::string said) {
  auto order = std::make_shared<WishOrder>();
  order->wish = wish;
  order->said = std::move(said);
  return order;
}

}  // namespace

void AddCancel(CLI::App& root, Invocation& chosen) {
  AddWish(root, chosen, "cancel",
          "Stop the remote processes (TERM, grace, KILL); the slice is kept",
          Order(core::Wish::kCancel, "cancelling"))
      ->alias("stop");
}

void AddResume(CLI::App& root, Invocation& chosen) {
  AddWish(root, chosen, "resume", "Start again what stopped, on its slice if that is still held",
          Order(core::Wish::kRun, "resuming"));
}

void AddReboot(CLI::App& root, Invocation& chosen) {
  const auto order = Order(core::Wish::kReboot, "stopping and starting again");
  AddWish(root, chosen, "reboot", "Stop, then run again on the same slice", order)
      ->add_flag("--force", order->redo_setup, "Run the setup steps again too");
}

void AddRequeue(CLI::App& root, Invocation& chosen) {
  AddWish(root, chosen, "requeue", "Stop, give the slice up, and run again on a new one",
          Order(core::Wish::kRequeue, "requeueing"));
}

void AddDelete(CLI::App& root, Invocation& chosen) {
  AddWish(root, chosen, "delete", "Stop, and delete every cloud resource; records and logs stay",
          Order(core::Wish::kDelete, "deleting"));
}

}  // namespace jobman::cli
