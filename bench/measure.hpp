#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"

/// Whole processes from outside: what they take, in wall time, CPU and memory.
namespace jobman::bench {

using Words = std::vector<std::string>;

/// What a process took, with the children that it waited for.
struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;   ///< user and system
  double peak_mb = 0;  ///< resident, of the largest process; never less than this program's own
};

/// Costs of the same thing, done again and again.
class Samples {
 public:
  void Add(const Cost& cost) { costs_.push_back(cost); }
  bool empty() const { return costs_.empty(); }
  double Wall(double quantile) const;
  double Cpu(double quantile) const;
  double Peak() const;

 private:
  double Quantile(double quantile, double Cost::*member) const;
  std::vector<Cost> costs_ = {};
};

constexpr double kMedian = 0.5;

double Quantile(std::vector<double> values, double quantile);

/// Runs a program (found on PATH) to its end, its output in the file `output`. Anything but exit
/// code 0 is a malfunction: std::runtime_error with what the program said.
Cost Run(const Words& argv, const base::Path& output);
/// Starts one in the background, its output at the end of `output`.
pid_t Start(const Words& argv, const base::Path& output);
/// Ends one that was started, and waits for it.
void Stop(pid_t pid);
/// Whether there is such a program, and it ends well.
bool Works(const Words& argv);
/// Waits until it is so; std::runtime_error that names `what` when it takes longer than a minute.
void Await(const std::string& what, const std::function<bool()>& is_so);

/// The positive number that the program was given as its argument `index`, else `otherwise`.
int Argument(int argc, char** argv, int index, int otherwise);
/// What main() of a bench does: runs `body`, says its malfunction on stderr; the exit code.
int Main(const char* program, const std::function<void()>& body);

/// CPU that a running process took so far, all its threads, not its children.
double CpuMsOf(pid_t pid);
/// The same of a process and everything below it, also of what has ended there and was waited for.
/// What ended is told by the kernel in hundredths of a second for each parent, rounded down.
double TreeCpuMs(pid_t root);
/// The most memory that a running process ever had resident.
double PeakMbOf(pid_t pid);

}  // namespace jobman::bench
