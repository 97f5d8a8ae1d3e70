#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/logs_follow.hpp"
#include "bench/place.hpp"
#include "jobman/remote/host_script.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::bench {
namespace {

/// A host: a home folder with the script, and maybe a `tail` that cannot wait.
class Host {
 public:
  Host(const Place& place, const std::string& name, bool waits)
      : home_(place.home() / name),
        script_(place.Write("host.sh", std::string(remote::HostScript()))) {
    std::filesystem::create_directories(home_ / "bin");
    if (waits) return;
    const base::Path tail = home_ / "bin/tail";
    std::ofstream(tail)
        << "#!/bin/sh\ncase $1 in --pid=*) exit 1 ;; esac\nexec /usr/bin/tail \"$@\"\n";
    std::filesystem::permissions(tail, std::filesystem::perms::owner_all);
  }

  /// The CPU of the call that follows the run, and of all that it starts. The run itself is none of
  /// its children.
  double CpuMsOfRun(const std::string& command) {
    const std::string id = fmt::format("r{}", ++runs_);
    const auto call = remote::RunCall({.run_id = id, .script = command}, 0);
    if (!call.ok()) throw std::runtime_error(call.error().ToString());
    std::ofstream(home_ / "order") << call->input;
    const std::string line =
        "HOME=$1 PATH=$1/bin:$PATH GCE_METADATA_HOST= JOBMAN_CHIP_DEVICES= "
        "JOBMAN_CHIP_LOCK=/nonexistent sh $2 run " +
        id + " 0 <$1/order";
    return Run({"sh", "-c", line, "sh", home_.string(), script_}, home_ / "output").cpu_ms;
  }

 private:
  base::Path home_;
  std::string script_;
  int runs_ = 0;
};

}  // namespace

void WeighHostScript(int seconds) {
  const Place place({"--delays", "0"});
  Host waiting(place, "waiting", true);
  Host sleeping(place, "sleeping", false);
  const std::string silent = fmt::format("sleep {}", seconds);
  const std::string steady = fmt::format(
      "i=0; while [ $i -lt {} ]; do echo step $i; i=$((i + 1)); sleep 0.1; done", 10 * seconds);
  ui::Table table({{.header = "CPU OF THE HOST SCRIPT, ms/min"},
                   {.header = "WAITING", .right = true},
                   {.header = "SLEEPING", .right = true},
                   {.header = "RATIO", .right = true}});
  // Without what it takes to start a run and to end.
  const double start = waiting.CpuMsOfRun("true");
  for (const auto& [what, command] : {std::pair{"a silent run", silent},
                                      std::pair{"a run that writes ten lines a second", steady}}) {
    const double wait = (waiting.CpuMsOfRun(command) - start) * 60 / seconds;
    const double sleep = (sleeping.CpuMsOfRun(command) - start) * 60 / seconds;
    table.AddRow({what, fmt::format("{:.0f}", wait), fmt::format("{:.0f}", sleep),
                  fmt::format("{:.2f}", wait / sleep)});
  }
  fmt::print("{}", table.Render({}));
}

}  // namespace jobman::bench
