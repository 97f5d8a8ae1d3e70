#include "config/convert/sky.hpp"

#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "config/convert/script.hpp"
#include "config/convert/sky_parts.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config::convert {
namespace {

constexpr const char* kAddresses = "\"$(echo \"$JOBMAN_HOSTS\" | tr , '\\n')\"";
constexpr const char* kChipsOfHosts = "a host has the chips of its type; JAX counts them";

/// SKYPILOT_TASK_ID is the same after a recovery, and so is the id of a job.
constexpr std::array kSkyVariables = {
    TheirVariable{"SKYPILOT_NODE_RANK", "\"$JOBMAN_HOST_INDEX\""},
    TheirVariable{"SKYPILOT_NODE_IPS", kAddresses},
    TheirVariable{"SKYPILOT_NUM_NODES", "\"$JOBMAN_NUM_HOSTS\""},
    TheirVariable{"SKYPILOT_SETUP_NODE_RANK", "\"$JOBMAN_HOST_INDEX\""},
    TheirVariable{"SKYPILOT_SETUP_NODE_IPS", kAddresses},
    TheirVariable{"SKYPILOT_TASK_ID", "\"$JOBMAN_JOB_ID\""},
    TheirVariable{"SKYPILOT_NUM_GPUS_PER_NODE", "", kChipsOfHosts},
    TheirVariable{"SKYPILOT_SETUP_NUM_GPUS_PER_NODE", "", kChipsOfHosts},
    TheirVariable{"SKYPILOT_CLUSTER_INFO", "",
                  "JOBMAN_TPU_NAME and JOBMAN_ZONE say where the job runs"},
};

/// Keys of a task that become none.
struct RefusedKey {
  std::string_view key;
  std::string_view cure;
};
constexpr const char* kNoService = "leave it out: jobs here end, and are no services";
constexpr std::array kRefusedKeys = {
    RefusedKey{"service", kNoService},
    RefusedKey{"pool", kNoService},
    RefusedKey{"volumes", "leave it out: tpu.data_disks is not supported yet"},
    RefusedKey{"config", "leave it out: it configures SkyPilot"},
    RefusedKey{"experimental", "leave it out: it configures SkyPilot"},
    RefusedKey{"event_callback", "leave it out: hooks of a job file are in its section on"},
    RefusedKey{"inputs", "leave it out: it is for SkyPilot's choice of a cloud"},
    RefusedKey{"outputs", "leave it out: it is for SkyPilot's choice of a cloud"},
    RefusedKey{"file_mounts_mapping", "leave it out: SkyPilot writes it itself"},
};

class SkyConverter {
 public:
  SkyConverter(Draft& draft, Diagnostics& out)
      : draft_(draft),
        out_(out),
        reports_(draft, out),
        task_{.draft = draft, .reports = reports_} {}

  void Convert(const Value& root, const std::string& name) {
    if (!name.empty()) draft_.Set("job.name", name);
    if (const Value* const envs = root.Find("envs")) Envs(*envs);  // others refer to them
    for (const Value& key : root.children) {
      if (!key.is_null() && key.key != "envs") ConvertKey(key);
    }
    if (!draft_.Has("tpu.pricing"))
      draft_.Set("tpu.pricing", "ondemand", "what SkyPilot takes without use_spot");
    CheckSetup();
    reports_.Finish();
  }

 private:
  using Read = void (SkyConverter::*)(const Value&);
  struct Converted {
    std::string_view key;
    Read read;
  };

  void ConvertKey(const Value& key) {
    static constexpr std::array kConverted = {
        Converted{"name", &SkyConverter::Name},
        Converted{"workdir", &SkyConverter::Workdir},
        Converted{"num_nodes", &SkyConverter::Nodes},
        Converted{"resources", &SkyConverter::Slice},
        Converted{"file_mounts", &SkyConverter::Mounts},
        Converted{"secrets", &SkyConverter::Secrets},
        Converted{"setup", &SkyConverter::Setup},
        Converted{"run", &SkyConverter::Run},
    };
    for (const Converted& one : kConverted) {
      if (one.key == key.key) return (this->*one.read)(key);
    }
    for (const RefusedKey& one : kRefusedKeys) {
      if (one.key == key.key)
        return reports_.Refuse(key.key_pos, key.key + " has no meaning here",
                               std::string(one.cure));
    }
    ReportUnknown(key);
  }

  void ReportUnknown(const Value& key) {
    std::vector<std::string> known = {"envs",        "name",    "workdir", "num_nodes", "resources",
                                      "file_mounts", "secrets", "setup",   "run"};
    const auto near = base::Nearest(key.key, known);
    reports_.Refuse(key.key_pos, "\"" + key.key + "\" is not a key of a task that jobman knows",
                    near ? "did you mean " + *near + "?"
                         : "leave it out; the guide from-elsewhere.md lists what is converted");
  }

  void Name(const Value& key) {
    if (task_.IsText(key, "name")) draft_.Set("job.name", key.text);
  }

  /// A folder, or a repository: {url: ..., ref: ...}.
  void Workdir(const Value& key) {
    if (key.is_map()) {
      Repository(key);
    } else if (task_.IsText(key, "workdir")) {
      draft_.Set("code.dir", task_.Filled(key.text));
    }
    draft_.Set("code.path", kSkyFolder, "where SkyPilot puts it");
  }

  void Repository(const Value& map) {
    for (const Value& part : map.children) {
      if (part.is_null() || !task_.IsText(part, "workdir." + part.key)) continue;
      if (part.key == "url") {
        draft_.Set("code.git", task_.Filled(part.text));
      } else if (part.key == "ref") {
        draft_.Set("code.ref", task_.Filled(part.text));
      } else {
        reports_.Refuse(part.key_pos, "workdir." + part.key + " is not a key that jobman knows",
                        "leave it out");
      }
    }
  }

  void Nodes(const Value& key) {
    if (!task_.IsText(key, "num_nodes") || base::Trim(key.text) == "1") return;
    reports_.Refuse(key.pos, "num_nodes: a job has one slice, and runs on all of its hosts",
                    "leave it out, and name a larger type; --set tpu.num_slices=N makes a "
                    "multislice, --array 0-9 several jobs");
  }

  void Slice(const Value& key) { ConvertSkyResources(key, task_); }
  void Mounts(const Value& key) { ConvertSkyMounts(key, task_); }

  void Envs(const Value& map) {
    if (map.is_null()) return;
    if (!map.is_map()) return reports_.Wrong(map.pos, "envs: expected a map of variables");
    for (const Value& env : map.children) {
      if (env.is_null()) {
        draft_.SetMemberExpression("job.environment", env.key, "${oc.env:" + env.key + "}");
        draft_.Comment("job.environment." + env.key,
                       "it has no value in the task: that of your environment");
      } else if (task_.IsText(env, "envs." + env.key)) {
        const std::string text = PythonText(env);
        task_.envs[env.key] = text;
        draft_.SetMember("job.environment", env.key, text);
      }
    }
  }

  /// SkyPilot is Python, where a boolean as a text has a capital.
  static std::string PythonText(const Value& env) {
    if (!IsBoolText(env)) return env.text;
    return IsTrueText(env.text) ? "True" : "False";
  }

  void Secrets(const Value& map) {
    if (!map.is_map()) return reports_.Wrong(map.pos, "secrets: expected a map of variables");
    for (const Value& secret : map.children) {
      const std::string name = "secrets." + secret.key;
      if (secret.is_null() || (secret.is_scalar() && secret.text.empty())) {
        draft_.Append("command.secrets", secret.key);
        secrets_.push_back(secret.key);
      } else {
        reports_.Refuse(
            secret.pos, name + " has a value in the file, which others may read",
            "leave the value out, and export " + secret.key + " before you create the job");
      }
    }
  }

  void Setup(const Value& key) {
    if (!task_.IsText(key, "setup") || base::Trim(key.text).empty()) return;
    draft_.Append("setup", {{"name", "setup"}, {"run", ScriptOf(key)}, {"strict", false}});
    draft_.Comment("setup.0.strict", "SkyPilot goes on after a line that fails");
    setup_ = key;
  }

  void Run(const Value& key) {
    if (!task_.IsText(key, "run") || base::Trim(key.text).empty()) return;
    draft_.Set("command.cmd", ScriptOf(key));
  }

  std::string ScriptOf(const Value& key) {
    return WithTheirVariables({.text = key.text, .pos = key.pos}, "SKYPILOT_", kSkyVariables, {},
                              out_, reports_);
  }

  /// Steps of setup get no secrets.
  void CheckSetup() {
    if (!setup_) return;
    for (const std::string& secret : secrets_) {
      if (NamesIn(setup_->text, secret).empty()) continue;
      reports_.Refuse(out_.Locate(setup_->pos, secret),
                      "setup uses the secret " + secret + ", which only the command gets",
                      "move what needs it to run");
    }
  }

  Draft& draft_;
  Diagnostics& out_;
  Reports reports_;
  SkyTask task_;
  std::vector<std::string> secrets_ = {};
  std::optional<Value> setup_ = {};
};

bool IsNameByteOfEnv(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::string SkyTask::Filled(const std::string& text) const {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const bool braced = text.compare(at, 2, "${") == 0;
    const std::size_t begin = at + (braced ? 2 : 1);
    std::size_t end = begin;
    while (text[at] == '$' && end < text.size() && IsNameByteOfEnv(text[end])) ++end;
    const auto found = envs.find(text.substr(begin, end - begin));
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    if (text[at] == '$' && closed && found != envs.end()) {
      filled += found->second;
      at = end + (braced ? 1 : 0);
    } else {
      filled += text[at++];
    }
  }
  return filled;
}

bool SkyTask::IsText(const Value& value, const std::string& what) {
  if (value.is_scalar()) return true;
  reports.Wrong(value.pos, what + ": expected text, found " + std::string(KindText(value)));
  return false;
}

void ConvertSky(std::string_view text, int source, const std::string& name, Draft& draft,
                Diagnostics& out) {
  const auto root = ReadYaml(text, source, 0, out);
  if (!out.ok()) return;
  if (!root || !root->is_map()) {
    return out.Report({.source = source}, "this is no task of SkyPilot",
                      "a task is a map with keys such as resources, setup and run");
  }
  SkyConverter converter(draft, out);
  converter.Convert(*root, name);
}

}  // namespace jobman::config::convert
