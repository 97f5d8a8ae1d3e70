#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>

#include "cli/adapters.hpp"
#include "cli/interrupt.hpp"
#include "cli/run.hpp"

namespace {

using jobman::cli::Environment;

// Reports a defect: what is known, and where there may be more.
int EndInternal(jobman::ui::Sink& err, const std::string& what) {
  std::string text = "jobman: internal error: " + what + "\n  please report it";
  if (const auto home = jobman::client::FindHome(""); home.ok()) {
    const jobman::base::StatePaths paths{.home = *home};
    text += "; the controller's log is " + paths.ControllerLog().string();
  }
  static_cast<void>(err.Write(jobman::ui::CleanLines(text) + "\n"));
  return jobman::cli::kInternal;
}

/// A terminal is for people: a command that reads it would wait for them, on every host. If it is
/// closed, the next file to be opened must not get its number.
int PassedInput() {
  if (::fcntl(STDIN_FILENO, F_GETFD) < 0) {
    static_cast<void>(::open("/dev/null", O_RDONLY));
    return -1;
  }
  return ::isatty(STDIN_FILENO) == 1 ? -1 : STDIN_FILENO;
}

}  // namespace

int main(int argc, char** argv) {
  // In the tarball the process would be named after the loader, see base::SelfExe().
  prctl(PR_SET_NAME, "jobman");
  // write() reports a reader that went away as an errno, see ui::Terminal.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow (ulimit -f): an errno, too
  jobman::ui::FdSink out(1);
  jobman::ui::FdSink err(2);
  const int input = PassedInput();
  try {
    const jobman::base::SystemClock clock;
    const Environment environment{.out = out,
                                  .err = err,
                                  .around = jobman::ui::LookAround(),
                                  .clock = clock,
                                  .open_store = jobman::cli::OpenStore,
                                  .open_cloud = jobman::cli::OpenCloud,
                                  .open_buckets = jobman::cli::OpenBuckets,
                                  .open_shell = jobman::cli::OpenShell,
                                  .start_controller = jobman::cli::StartController,
                                  .look_at_site = jobman::cli::LookAtSite,
                                  .probes = jobman::cli::MakeProbes(),
                                  .pause = jobman::cli::PauseUnlessInterrupted,
                                  .look_again = jobman::ui::LookAround,
                                  .input = input};
    return jobman::cli::Run({argv + 1, argv + argc}, environment);
  } catch (const std::exception& defect) {
    return EndInternal(err, defect.what());
  } catch (...) {
    return EndInternal(err, "an exception of unknown type");
  }
}
