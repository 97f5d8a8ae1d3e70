#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/awaited_hosts.hpp"
#include "jobman/base/spill.hpp"
#include "jobman/client/out_files.hpp"
#include "jobman/ssh/fan_out.hpp"
#include "jobman/ui/folding.hpp"
#include "jobman/ui/odd_output.hpp"
#include "jobman/ui/prefixed_output.hpp"

namespace jobman::cli {

/// Where the output of hosts goes: to one of these, else it is printed as it comes.
struct OutputPlace {
  std::shared_ptr<base::Spill> kept = {};  ///< to be folded, or put into JSON
  std::shared_ptr<client::OutFiles> files = {};
};

/// Takes what the hosts of `exec` write, and says which of them are awaited. On the loop's thread;
/// must outlive the fan-out.
class ExecOutput {
 public:
  /// Of `chosen` hosts among the `host_count` of the job.
  ExecOutput(App& app, OutputPlace place, int host_count, std::size_t chosen);

  void Connect(ssh::FanOutHost& host);
  /// One line of the terminal, rewritten: 1,024 hosts take their time, and one may be dead.
  /// `ended`: one more host has; of many, not each is worth a new line.
  void WaitFor(const ssh::BusyHosts& busy, bool ended);
  void Finish();
  /// What was kept, by host.
  std::map<int, ui::HostText> Texts() const;
  /// What is odd about a host's output, if anything is, in some words for its row.
  std::string OddOf(int host, bool failed) const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Odd {
    ui::OddOutput out = {};
    ui::OddOutput err = {};
  };

  base::Status Take(int host, bool err, std::string_view bytes);
  base::Status Print(int host, bool err, std::string_view bytes);
  base::Status StillRead() const;

  App& app_;
  OutputPlace place_;
  std::map<int, ui::TextFacts> facts_ = {};
  std::map<int, Odd> odd_ = {};
  AwaitedHosts awaited_;
  Time next_line_ = {};
  bool raw_;              ///< one host and --quiet: byte for byte
  bool written_ = false;  ///< a host's output was printed
  ui::PrefixedOutput out_;
  ui::PrefixedOutput err_;
};

}  // namespace jobman::cli
