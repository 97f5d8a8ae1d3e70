#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/exec_output.hpp"
#include "jobman/client/exec_order.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}  // namespace CLI

/// What the parts of the command `exec` share.
namespace jobman::cli {

struct ExecOptions {
  std::string job = {};
  client::HostChoice hosts = {};
  client::ExecOrder order = {};
  bool fold = false;
  std::string out = {};  ///< a folder; empty: none
  bool force = false;    ///< what an earlier command wrote there may go
  int patience = 0;      ///< seconds
  int timeout = 0;       ///< seconds; 0: none
  bool rerun_failed = false;
  bool detach = false;
  std::string name = {};    ///< of the detached run; empty: by the time
  std::string follow = {};  ///< the name of one
  std::string stop = {};    ///< likewise
  bool runs = false;
  bool tty = false;
};

/// With --fold and --json the output is shown at the end: until then it is on disk.
base::Result<OutputPlace> PlaceOf(App& app, const client::Context& context,
                                  const ExecOptions& options,
                                  const std::vector<ssh::FanOutHost>& hosts);
/// Prints how the hosts ended; the exit code.
base::Result<int> ShowExecEnd(App& app, core::JobId id, const ssh::FanOutResult& result,
                              const ExecOutput& output, const OutputPlace& place);
/// --patience alone.
ssh::FanOutOptions PatienceOf(const ExecOptions& options);

/// Adds the options of detached runs.
void AddDetached(CLI::App& command, const std::shared_ptr<ExecOptions>& options);
/// Whether one of them was given: --detach, --follow, --runs, --stop.
bool IsOfDetached(const ExecOptions& options);
/// kInvalidArgument if options do not fit together.
base::Status CheckDetached(const ExecOptions& options);
/// What that option asks for.
base::Result<int> RunDetached(App& app, const client::Context& context, const ExecOptions& options,
                              const core::Job& job, std::vector<ssh::FanOutHost> hosts);
/// --tty. Returns only with an error.
base::Result<int> RunOnTerminal(App& app, const client::Context& context,
                                const ExecOptions& options, const core::Job& job,
                                std::vector<ssh::FanOutHost> hosts);

}  // namespace jobman::cli
