#pragma once

/// Further parts of logs_bench: what it costs to follow a run, here and on its host.
namespace jobman::bench {

/// `jobman logs -f` reads the logs of so many hosts for so many seconds, while each grows by ten
/// lines a second. Prints CPU and memory; std::runtime_error if a line is missing, or is not as it
/// was written.
void FollowGrowingLogs(int hosts, int seconds);

/// A controller follows a command on so many light hosts, each of which prints ten lines a second.
/// Prints its CPU and memory; std::runtime_error if a byte is lost or changed.
void CollectGrowingLogs(int hosts, int seconds);

/// What the host script costs a host in so many seconds of a run, beside the loop that sleeps,
/// which it falls back to where `tail` cannot wait.
void WeighHostScript(int seconds);

}  // namespace jobman::bench
