#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "cli/app.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// What the command line asks for; set by parsing.
struct Invocation {
  /// Runs the command. Returns the exit code; the caller prints an Error and maps it to an exit
  /// code.
  std::function<base::Result<int>(App&)> run = {};
};

/// A command: a function that adds its subcommand to `root`. The subcommand's callback sets
/// `chosen.run`.
struct Command {
  std::string_view name = {};
  void (*add)(CLI::App& root, Invocation& chosen) = nullptr;
};

/// Every command, in the order of the help text.
std::span<const Command> Commands();

// commands/<name>.cpp; commands that only set a wish share commands/wish.cpp.
void AddBilling(CLI::App& root, Invocation& chosen);
void AddCancel(CLI::App& root, Invocation& chosen);
void AddClean(CLI::App& root, Invocation& chosen);
void AddCompletion(CLI::App& root, Invocation& chosen);
void AddConfig(CLI::App& root, Invocation& chosen);
void AddController(CLI::App& root, Invocation& chosen);
void AddCost(CLI::App& root, Invocation& chosen);
void AddCreate(CLI::App& root, Invocation& chosen);
void AddDelete(CLI::App& root, Invocation& chosen);
void AddDoctor(CLI::App& root, Invocation& chosen);
void AddEdit(CLI::App& root, Invocation& chosen);
void AddCp(CLI::App& root, Invocation& chosen);
void AddExec(CLI::App& root, Invocation& chosen);
void AddForward(CLI::App& root, Invocation& chosen);
void AddMaintain(CLI::App& root, Invocation& chosen);
void AddGc(CLI::App& root, Invocation& chosen);
void AddHelp(CLI::App& root, Invocation& chosen);
void AddHistory(CLI::App& root, Invocation& chosen);
void AddImport(CLI::App& root, Invocation& chosen);
void AddInit(CLI::App& root, Invocation& chosen);
void AddKeys(CLI::App& root, Invocation& chosen);
void AddList(CLI::App& root, Invocation& chosen);
void AddLogs(CLI::App& root, Invocation& chosen);
void AddQueue(CLI::App& root, Invocation& chosen);
void AddQuota(CLI::App& root, Invocation& chosen);
void AddReboot(CLI::App& root, Invocation& chosen);
void AddRequeue(CLI::App& root, Invocation& chosen);
void AddResume(CLI::App& root, Invocation& chosen);
void AddRun(CLI::App& root, Invocation& chosen);
/// Subcommands of `controller`.
void AddService(CLI::App& controller, Invocation& chosen);
void AddShow(CLI::App& root, Invocation& chosen);
void AddSsh(CLI::App& root, Invocation& chosen);
void AddSshConfig(CLI::App& root, Invocation& chosen);
void AddStatus(CLI::App& root, Invocation& chosen);
void AddStorage(CLI::App& root, Invocation& chosen);
void AddStore(CLI::App& root, Invocation& chosen);
void AddSync(CLI::App& root, Invocation& chosen);
void AddTask(CLI::App& root, Invocation& chosen);
/// A subcommand of `task`.
void AddTaskSubmit(CLI::App& task, Invocation& chosen);
void AddTick(CLI::App& root, Invocation& chosen);
void AddTop(CLI::App& root, Invocation& chosen);
void AddVersion(CLI::App& root, Invocation& chosen);
void AddWait(CLI::App& root, Invocation& chosen);
void AddWhy(CLI::App& root, Invocation& chosen);
void AddWorker(CLI::App& root, Invocation& chosen);
void AddZones(CLI::App& root, Invocation& chosen);

}  // namespace jobman::cli
