#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// The environment of Load(): all that it sees besides the files that it names. A test can replace
/// it.
struct Defaults {
  /// An environment variable; nothing when it is unset or empty.
  std::function<std::optional<std::string>(const std::string&)> env = {};
  base::Path home = {};          ///< stands for "~"
  base::Path working_dir = {};   ///< what relative paths in --set are relative to
  base::Path state_dir = {};     ///< where jobman keeps its own SSH key
  std::string login = {};        ///< local login name
  base::Path user_file = {};     ///< the user's defaults for every job file; empty: none
  bool user_file_named = false;  ///< by JOBMAN_CONFIG: then it must exist
};

/// The defaults of this process. The user's file is $JOBMAN_CONFIG, else
/// $XDG_CONFIG_HOME/jobman/config.yaml, else ~/.config/jobman/config.yaml.
Defaults SystemDefaults(const base::Path& state_dir);

/// What to load, and what the command line changes in it.
struct LoadRequest {
  base::Path file = {};
  std::optional<std::string> text = {};      ///< used instead of reading `file`
  std::vector<std::string> sets = {};        ///< --set: "tpu.zone=us-central2-b", in order
  std::optional<std::string> name = {};      ///< --name
  std::optional<std::string> endpoint = {};  ///< --endpoint
  bool check_secrets = false;  ///< whether every secret must have a value now, as for create
  Defaults defaults = {};
};

/// One thing that is wrong, and where.
struct Problem {
  std::string file = {};  ///< as the user named it; "--set", "--name", "--endpoint"
  int line = 0;           ///< from 1; 0 for the file as a whole, or a flag
  int column = 0;         ///< from 1, in characters; 0 without a place
  std::string message = {};
  std::string source_line = {};
  std::string hint = {};  ///< the nearest known word, or the cure; may be empty
  base::Reason reason = base::Reason::kNone;
};

/// Where the value of a key came from.
struct Origin {
  std::string path = {};   ///< "tpu.zone", "setup[0].run"
  std::string where = {};  ///< "job.yaml:3", "--set", "GOOGLE_CLOUD_PROJECT", "default"
};

/// A job file that is valid as far as it can be known without asking the cloud.
struct Loaded {
  core::JobSpec spec = {};
  std::string source = {};           ///< the text of the job file, as it was read
  std::vector<Origin> origins = {};  ///< of every value in core::SpecToJson(spec), in its order
  /// Places of tpu.accelerator, tpu.zone, tpu.version and tpu.valid_until, or of what they follow
  /// from: problems without a message, for checks that need to ask the cloud.
  std::map<std::string, Problem> places = {};
};

/// Either `loaded`, or at least one problem.
struct LoadResult {
  std::optional<Loaded> loaded = {};
  std::vector<Problem> problems = {};  ///< all of them, by place
};

/// Reads the file and the user's defaults under it, applies the flags, interpolates, checks
/// everything and fills in what is absent. Reads the files that the job file names (startup
/// script, SSH key); writes nothing, uses no network. Never throws; input is bounded in size,
/// nesting and expansion.
LoadResult Load(const LoadRequest& request);

/// "job.yaml:3:5: unknown key \"tpu.zoen\"", the source line, a caret, the hint. Ends with a
/// newline.
std::string RenderProblem(const Problem& problem);

/// All problems as one error, rendered in `message`. The reason is
/// kNotSupported when every problem has it.
base::Error ToError(const std::vector<Problem>& problems);

/// The resolved job as a job file, which loads to the same job. With `origins`, each line ends with
/// a comment that says where its value came from.
std::string ResolvedYaml(const Loaded& loaded, bool origins);

}  // namespace jobman::config
