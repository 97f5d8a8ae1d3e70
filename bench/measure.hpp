#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"

/// Measures whole processes from outside: wall time, CPU and memory.
namespace jobman::bench {

using Words = std::vector<std::string>;

/// What a process and the children it waited for used.
struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;   ///< user and system
  double peak_mb = 0;  ///< resident, of the largest process; never less than this program's own
};

/// The costs of repeated runs of one thing.
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

/// Runs a program (found on PATH) to its end, with its output in the file `output`.
/// std::runtime_error with that output if the exit code is not 0.
Cost Run(const Words& argv, const base::Path& output);
/// What a running process has of the system, each at its most so far.
struct Extent {
  double resident_mb = 0;
  int threads = 0;
  int files = 0;  ///< open descriptors
  void Widen(const Extent& other);
};
/// As it is now. All zero if the process has ended.
Extent ExtentOf(pid_t pid);
/// Run() of a program that may well fail: which of many hosts answered is in its output. If
/// `extent` is given, the process is looked at while it runs, many times a second.
Cost RunAnyhow(const Words& argv, const base::Path& output, Extent* extent = nullptr);
/// Starts a program in the background; its output is appended to `output`.
pid_t Start(const Words& argv, const base::Path& output);
/// Ends a program that Start() started, and waits for it.
void Stop(pid_t pid);
/// Whether this program exists and exits with code 0.
bool Works(const Words& argv);
/// Waits until `is_so` is true; std::runtime_error that names `what` after `limit`.
void Await(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::seconds limit = std::chrono::minutes{1});

/// Argument `index` of the program if it is a positive number, else `otherwise`.
int Argument(int argc, char** argv, int index, int otherwise);
/// The main() of a bench: runs `body` and prints what it throws on stderr. Returns the exit code.
int Main(const char* program, const std::function<void()>& body);

/// CPU time of a running process so far: all its threads, without its children.
double CpuMsOf(pid_t pid);
/// CPU time of a process and all its descendants, those included that ended and were waited for.
/// For these the kernel counts in hundredths of a second for each parent, rounded down.
double TreeCpuMs(pid_t root);
/// The peak resident memory of a running process. std::runtime_error if it has ended: nothing would
/// be met by a process that is not there.
double PeakMbOf(pid_t pid);
/// Has PeakMbOf() begin anew, at what the process has now.
void ForgetPeak(pid_t pid);
/// "(at most MOST: met)" or "(at most MOST: MISSED)"; the unit may be empty.
std::string AtMost(double value, double most, const char* unit);

}  // namespace jobman::bench
