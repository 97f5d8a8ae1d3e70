#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <map>
#include <string>

#include "jobman/config/load.hpp"

namespace jobman::config::testing {

using Environment = std::map<std::string, std::string>;

/// Defaults that are independent of this machine.
inline Defaults TestDefaults(Environment env = {}) {
  return {.env =
              [env = std::move(env)](const std::string& name) {
                const auto found = env.find(name);
                return found == env.end() ? std::nullopt : std::optional(found->second);
              },
          .home = "/home/nobody-here",
          .working_dir = "/work-dir",
          .state_dir = "/state-dir",
          .login = "alice"};
}

inline LoadRequest RequestOf(std::string text, Environment env = {}) {
  return {.file = "job.yaml", .text = std::move(text), .defaults = TestDefaults(std::move(env))};
}

inline std::string Rendered(const LoadResult& result) {
  std::string text;
  for (const Problem& problem : result.problems) text += RenderProblem(problem);
  return text;
}

/// All problems of a text, as the user sees them; "" when it loads.
inline std::string ProblemsOf(std::string text, Environment env = {}) {
  return Rendered(Load(RequestOf(std::move(text), std::move(env))));
}

/// The spec of a text that must load.
inline Loaded MustLoad(const LoadRequest& request) {
  LoadResult result = Load(request);
  EXPECT_EQ(Rendered(result), "");
  return result.loaded ? std::move(*result.loaded) : Loaded{};
}

/// A small complete job; `more` is appended.
inline std::string SmallJob(const std::string& more = {}) {
  return "tpu: {accelerator: v4-32, zone: us-central2-b, project: p}\ncommand: {cmd: hostname}\n" +
         more;
}

/// A small complete job with these members in tpu.
inline std::string JobWithTpu(const std::string& members) {
  return "command: {cmd: hostname}\ntpu:\n  accelerator: v4-32\n  zone: us-central2-b\n"
         "  project: p\n" +
         members;
}

/// A temporary folder.
class ScratchDir {
 public:
  ScratchDir() {
    std::string name = (std::filesystem::temp_directory_path() / "jobman-config-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  const base::Path& path() const { return path_; }
  base::Path Write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    EXPECT_TRUE(base::EnsureDir((path_ / name).parent_path()).ok());
    EXPECT_TRUE(base::WriteFileAtomic(path_ / name, text, mode).ok());
    ::chmod((path_ / name).c_str(), mode);  // whatever the umask is
    return path_ / name;
  }

 private:
  base::Path path_ = {};
};

}  // namespace jobman::config::testing
