#include "tests/support/cli_world.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "jobman/base/file_times.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/modified.hpp"
#include "tests/support/string_sink.hpp"

namespace jobman::test {
namespace {

class WatchedPorts final : public MemoryPorts {
 public:
  WatchedPorts(MemoryStore& store, const std::function<void(MemoryStore&)>& before_erase)
      : MemoryPorts(store), before_erase_(before_erase) {}
  Task<Status> Erase(ports::JobVersion job) override {
    if (before_erase_) before_erase_(store_);
    return MemoryPorts::Erase(job);
  }

 private:
  const std::function<void(MemoryStore&)>& before_erase_;
};

}  // namespace

CliWorld::CliWorld() {
  std::string folder = (std::filesystem::temp_directory_path() / "jobman-cli-XXXXXX").string();
  EXPECT_NE(::mkdtemp(folder.data()), nullptr);
  home_ = folder;
}

CliWorld::~CliWorld() {
  std::error_code ignored;
  std::filesystem::remove_all(home_, ignored);
}

CliWorld::Ended CliWorld::Run(std::vector<std::string> args) {
  StringSink out;
  StringSink err;
  MemoryStore store;
  WatchedPorts ports(store, before_erase);
  bool filled = false;
  const auto ask = [&](const std::string& question) -> base::Result<bool> {
    if (on_ask) return on_ask(store, question);
    return base::InvalidArgument("there is nobody to ask", "pass --yes");
  };
  const cli::Environment environment{
      .out = out,
      .err = err,
      .around = around,
      .clock = clock,
      .open_store = [&](const base::StatePaths&, client::StoreUse) -> base::Result<ports::Stores> {
        if (fill && !std::exchange(filled, true)) fill(store);
        return ports::StoresOf(ports);
      },
      .open_cloud = open_cloud,
      .open_shell = open_shell,
      .look_at_site = look_at_site,
      .probes = probes,
      .pause = [&](base::Duration) { return on_pause && on_pause(store); },
      .ask = ask};
  args.insert(args.begin(), {"--home", home_.string()});
  const int exit_code = cli::Run(args, environment);
  return {.exit_code = exit_code, .out = out.Take(), .err = err.Take()};
}

std::string CliWorld::Transcript(const std::vector<std::string>& args) {
  const Ended ended = Run(args);
  std::string text = "$ jobman " + base::ShellJoin(args) + "\n" + ended.out;
  if (!ended.err.empty()) text += "[stderr]\n" + ended.err;
  if (ended.exit_code != 0) text += "[exit " + std::to_string(ended.exit_code) + "]\n";
  return base::ReplaceAll(text, home_.string(), "HOME");
}

void CliWorld::WriteLog(std::int64_t job, int attempt, const std::string& stage, int host,
                        const std::string& text, std::optional<base::TimePoint> came) {
  const auto path = paths().LogPath(job, attempt, stage, host);
  std::filesystem::create_directories(path.parent_path());
  const std::int64_t size = base::FileSize(path).value_or(0);
  if (came) base::FileTimesWriter(path).Record(size, *came, std::ssize(text));
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
  if (came) SetModified(path, *came);
}

}  // namespace jobman::test
