#include "cli/commands.hpp"

#include <array>

namespace jobman::cli {

std::span<const Command> Commands() {
  static constexpr std::array kCommands = {
      // Jobs.
      Command{"create", AddCreate},
      Command{"run", AddRun},
      Command{"list", AddList},
      Command{"show", AddShow},
      Command{"why", AddWhy},
      Command{"history", AddHistory},
      Command{"logs", AddLogs},
      Command{"wait", AddWait},
      Command{"cost", AddCost},
      // Tasks, and the workers that run them.
      Command{"queue", AddQueue},
      Command{"task", AddTask},
      Command{"worker", AddWorker},
      Command{"status", AddStatus},
      // Changing what jobs do.
      Command{"cancel", AddCancel},
      Command{"resume", AddResume},
      Command{"reboot", AddReboot},
      Command{"requeue", AddRequeue},
      Command{"maintain", AddMaintain},
      Command{"edit", AddEdit},
      Command{"delete", AddDelete},
      Command{"clean", AddClean},
      Command{"gc", AddGc},
      // Their hosts.
      Command{"exec", AddExec},
      Command{"top", AddTop},
      Command{"ssh", AddSsh},
      Command{"ssh-config", AddSshConfig},
      Command{"cp", AddCp},
      Command{"sync", AddSync},
      Command{"forward", AddForward},
      Command{"keys", AddKeys},
      // Job files.
      Command{"init", AddInit},
      Command{"import", AddImport},
      Command{"config", AddConfig},
      Command{"zones", AddZones},
      // The project.
      Command{"quota", AddQuota},
      Command{"storage", AddStorage},
      Command{"billing", AddBilling},
      // The program itself.
      Command{"doctor", AddDoctor},
      Command{"controller", AddController},
      Command{"tick", AddTick},
      Command{"store", AddStore},
      Command{"completion", AddCompletion},
      Command{"help", AddHelp},
      Command{"version", AddVersion},
  };
  return kCommands;
}

}  // namespace jobman::cli
