#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/config/foreign.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// The environment of Load(): all its inputs besides files. A test can replace it.
struct Defaults {
  /// An environment variable; nothing when it is unset or empty.
  std::function<std::optional<std::string>(const std::string&)> env = {};
  base::Path home = {};          ///< replaces "~"
  base::Path working_dir = {};   ///< base of relative paths in --set
  base::Path state_dir = {};     ///< where jobman keeps its own SSH key
  std::string login = {};        ///< local login name
  base::TimePoint now = {};      ///< a deadline that is not later has passed
  base::Path user_file = {};     ///< the user's defaults for every job file; empty: none
  bool user_file_named = false;  ///< by JOBMAN_CONFIG: then it must exist
  /// The project of a machine of Google's, asked for when nothing names one; may be empty.
  std::function<std::optional<std::string>()> machine_project = {};
};

/// The defaults of this process. The user's file is $JOBMAN_CONFIG, else
/// $XDG_CONFIG_HOME/jobman/config.yaml, else ~/.config/jobman/config.yaml.
Defaults SystemDefaults(const base::Path& state_dir);

/// What to load, with the changes from the command line.
struct LoadRequest {
  base::Path file = {};
  std::optional<std::string> text = {};      ///< used instead of reading `file`
  std::optional<Foreign> from = {};          ///< converted to a job file, and used instead of both
  std::vector<std::string> sets = {};        ///< --set: "tpu.zone=us-central2-b", in order
  std::vector<std::string> set_files = {};   ///< --set-file: "command.cmd=run.sh", after `sets`
  std::vector<std::string> arrays = {};      ///< --array: "0-9", or "lr=0.1,0.01"
  std::optional<std::string> name = {};      ///< --name
  std::optional<std::string> endpoint = {};  ///< --endpoint
  int element = 0;             ///< which of the file's jobs, from 0: see LoadResult::elements
  bool check_secrets = false;  ///< whether every secret must have a value now, as for create
  /// Whether a project that nothing names is only a warning: for commands that send nothing.
  bool may_lack_project = false;
  bool needs_no_project = false;  ///< nor even that: for commands that ask for no slice
  Defaults defaults = {};
};

/// A problem and its place.
struct Problem {
  std::string file = {};  ///< as the user named it; "--set", "--name", "--endpoint"
  int line = 0;           ///< from 1; 0 for the file as a whole, or a flag
  int column = 0;         ///< from 1, in characters; 0 without a line
  std::string message = {};
  std::string excerpt = {};  ///< of the line, around the column; safe for a terminal
  int caret = 0;             ///< characters of it before the column
  std::string hint = {};     ///< the nearest known word, or what to do; may be empty
  base::Reason reason = base::Reason::kNone;
};

/// Where the value of a key came from.
struct Origin {
  std::string path = {};   ///< "tpu.zone", "setup[0].run"
  std::string where = {};  ///< "job.yaml:3", "--set", "GOOGLE_CLOUD_PROJECT", "default"
};

/// Where a job file names a bucket first.
struct BucketMention {
  std::string key = {};  ///< as the file has it: "job.queue.prefix[0].run"
  Problem at = {};       ///< its place, without a message
};

/// A job file that is valid as far as can be known without asking the cloud.
struct Loaded {
  core::JobSpec spec = {};
  std::string source = {};           ///< the text of the job file, as it was read or converted
  std::vector<Origin> origins = {};  ///< of every value in core::SpecToJson(spec), in its order
  /// Places of tpu.accelerator, tpu.zone, tpu.version and tpu.reservation, or of the keys that
  /// determine them, as problems without a message: for checks that ask the cloud.
  std::map<std::string, Problem> places = {};
  /// Those of core::BucketsOf(spec), by name: for the same checks.
  std::map<std::string, BucketMention> buckets = {};
  std::vector<Problem> warnings = {};  ///< what may not be what was meant
};

/// Either `loaded`, or at least one problem.
struct LoadResult {
  std::optional<Loaded> loaded = {};
  int elements = 1;                    ///< how many jobs the file makes: `array`, `matrix`
  std::vector<Problem> problems = {};  ///< sorted by place
};

/// Reads the file, merges the user's defaults, applies the flags, interpolates, checks everything
/// and fills in defaults. Reads the files that the job file names (startup script, SSH key); writes
/// nothing, uses no network. Never throws; input is bounded in size, nesting and expansion.
LoadResult Load(const LoadRequest& request);

/// Renders "job.yaml:3:5: unknown key \"tpu.zoen\"", the source line, a caret and the hint, with a
/// newline at the end.
std::string RenderProblem(const Problem& problem);
/// The same with the word "warning".
std::string RenderWarning(Problem warning);

/// All problems as one error, rendered in `message`. The reason is kNotSupported if every problem
/// has it.
base::Error ToError(const std::vector<Problem>& problems);

/// The resolved job as a job file, which loads to the same job. With `origins`, a comment on each
/// line tells where its value came from.
std::string ResolvedYaml(const Loaded& loaded, bool origins);

}  // namespace jobman::config
