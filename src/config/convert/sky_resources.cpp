// Of a task of SkyPilot, the section resources.
#include <array>
#include <optional>

#include "config/convert/sky_parts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"

namespace jobman::config::convert {
namespace {

constexpr const char* kMachine = "the hosts of a slice are the machines of its type";
constexpr const char* kNoPriority = "jobs here have no priority";
constexpr const char* kOnePlace = "keep one type and one place: a job has one of each";

class ResourceConverter {
 public:
  explicit ResourceConverter(SkyTask& task) : task_(task) {}

  void Convert(const Value& resources) {
    for (const Value& key : resources.children) {
      if (!key.is_null()) ConvertKey(key);
    }
    if (!region_.empty() && !task_.draft.Has("tpu.zone")) {
      task_.reports.PassOver(region_pos_, "resources: the region " + region_,
                             "a job has a zone: --set tpu.zone=..., or write it into the task");
    }
  }

 private:
  using Read = void (ResourceConverter::*)(const Value&);
  struct Converted {
    std::string_view key;
    Read read;
  };
  /// A key that becomes none.
  struct Other {
    std::string_view key;
    bool refused;
    std::string_view why;
  };

  static std::string Name(const Value& key) { return "resources." + key.key; }

  void ConvertKey(const Value& key) {
    static constexpr std::array kConverted = {
        Converted{"accelerators", &ResourceConverter::Accelerators},
        Converted{"accelerator_args", &ResourceConverter::Arguments},
        Converted{"infra", &ResourceConverter::Infra},
        Converted{"cloud", &ResourceConverter::Cloud},
        Converted{"region", &ResourceConverter::Region},
        Converted{"zone", &ResourceConverter::Zone},
        Converted{"use_spot", &ResourceConverter::Spot},
        Converted{"labels", &ResourceConverter::Labels},
        Converted{"autostop", &ResourceConverter::Autostop},
        Converted{"job_recovery", &ResourceConverter::Recovery},
        Converted{"spot_recovery", &ResourceConverter::Recovery},
    };
    for (const Converted& one : kConverted) {
      if (one.key == key.key) return (this->*one.read)(key);
    }
    ReportOther(key);
  }

  void ReportOther(const Value& key) {
    static constexpr std::array kOthers = {
        Other{"cpus", false, kMachine},
        Other{"memory", false, kMachine},
        Other{"disk_size", false, kMachine},
        Other{"disk_tier", false, kMachine},
        Other{"local_disk", false, kMachine},
        Other{"network_tier", false, kMachine},
        Other{"priority", false, kNoPriority},
        Other{"priority_class", false, kNoPriority},
        Other{"ports", false, "jobman forward JOB PORT brings a port of a host to this machine"},
        Other{"instance_type", true, "leave it out: it is for TPU nodes, which are no more"},
        Other{"image_id", true,
              "leave it out; docker.image of a job file, with job.env_type: docker, runs the "
              "command in a container, and tpu.version chooses the image of the hosts"},
        Other{"any_of", true, kOnePlace},
        Other{"ordered", true, kOnePlace},
        Other{"volumes", true, "leave it out: tpu.data_disks is not supported yet"},
        Other{"hooks", true, "leave it out: hooks of a job file are in its section on"},
        Other{"max_hourly_cost", true, "leave it out: there is no key for it"},
    };
    for (const Other& other : kOthers) {
      if (other.key != key.key) continue;
      if (!other.refused) return task_.reports.PassOver(key.key_pos, Name(key), other.why);
      return task_.reports.Refuse(key.key_pos, Name(key) + " has no meaning here",
                                  std::string(other.why));
    }
    task_.reports.Refuse(key.key_pos, Name(key) + " is not a key that jobman knows",
                         "leave it out; the guide from-elsewhere.md lists what is converted");
  }

  /// tpu-v4-8, tpu-v4-8:1, {tpu-v4-8: 1}, or a list of one.
  void Accelerators(const Value& key) {
    if (key.is_scalar()) {
      const std::size_t colon = key.text.find(':');
      const bool counted = colon != std::string::npos;
      return Type(key.pos, key.text.substr(0, colon), counted ? key.text.substr(colon + 1) : "1");
    }
    if (key.children.size() != 1)
      return task_.reports.Refuse(key.pos, Name(key) + " names several types", kOnePlace);
    const Value& only = key.children.front();
    if (key.is_list()) return Accelerators(only);
    Type(only.key_pos, only.key, only.is_null() ? "1" : only.text);
  }

  void Type(Position at, const std::string& type, std::string_view count) {
    const std::string lower = base::ToLower(base::Trim(type));
    constexpr std::string_view kPrefix = "tpu-";
    if (!lower.starts_with(kPrefix)) {
      return task_.reports.Refuse(at, "\"" + type + "\" is no TPU", "for example: tpu-v4-8");
    }
    if (lower.ends_with("slice") || lower.ends_with("device")) {
      return task_.reports.Refuse(at, "\"" + type + "\" is a type of Kubernetes",
                                  "name the type of a TPU VM, for example: tpu-v5litepod-8");
    }
    if (base::Trim(count) != "1") {
      return task_.reports.Refuse(
          at, type + ": a job has one slice of its type",
          "name a larger type, or use --set tpu.num_slices=N: a multislice");
    }
    task_.draft.Set("tpu.accelerator", lower.substr(kPrefix.size()));
  }

  void Arguments(const Value& key) {
    for (const Value& argument : key.children) {
      if (argument.is_null() || !task_.IsText(argument, Name(key) + "." + argument.key)) continue;
      if (argument.key == "runtime_version") {
        task_.draft.Set("tpu.version", argument.text);
      } else if (argument.key == "tpu_name") {
        task_.draft.Set("tpu.name", argument.text);
      } else if (argument.key == "gcp_queued_resource") {
        task_.draft.Set("tpu.allocation_mode",
                        IsTrueText(argument.text) ? "queued-resources" : "tpu-vm");
      } else if (argument.key != "tpu_vm") {
        task_.reports.Refuse(argument.key_pos,
                             Name(key) + "." + argument.key + " is not a key that jobman knows",
                             "leave it out");
      } else if (!IsTrueText(argument.text)) {
        task_.reports.Refuse(argument.pos, Name(key) + ".tpu_vm: false asks for a TPU node",
                             "leave it out: jobs run on TPU VMs");
      }
    }
  }

  /// gcp, gcp/REGION, gcp/REGION/ZONE; "*" is any.
  void Infra(const Value& key) {
    if (!task_.IsText(key, Name(key))) return;
    const std::vector<std::string> parts = base::Split(key.text, '/');
    CheckCloud(key.pos, parts[0]);
    if (parts.size() > 1 && parts[1] != "*") SetRegion(key.pos, parts[1]);
    if (parts.size() > 2 && parts[2] != "*") task_.draft.Set("tpu.zone", parts[2]);
  }

  void CheckCloud(Position at, const std::string& cloud) {
    const std::string lower = base::ToLower(base::Trim(cloud));
    if (lower == "gcp" || lower == "*") return;
    task_.reports.Refuse(at, "jobs run on Google Cloud, not on \"" + cloud + "\"",
                         "write gcp, or leave it out");
  }

  void Cloud(const Value& key) {
    if (task_.IsText(key, Name(key))) CheckCloud(key.pos, key.text);
  }
  void Region(const Value& key) {
    if (task_.IsText(key, Name(key))) SetRegion(key.pos, key.text);
  }
  void Zone(const Value& key) {
    if (task_.IsText(key, Name(key))) task_.draft.Set("tpu.zone", key.text);
  }
  void SetRegion(Position at, const std::string& region) {
    region_ = region;
    region_pos_ = at;
  }

  void Spot(const Value& key) {
    if (!IsBoolText(key))
      return task_.reports.Wrong(key.pos, Name(key) + ": expected true or false");
    task_.draft.Set("tpu.pricing", IsTrueText(key.text) ? "spot" : "ondemand");
  }

  void Labels(const Value& key) {
    for (const Value& label : key.children) {
      if (task_.IsText(label, Name(key) + "." + label.key))
        task_.draft.SetMember("tpu.labels", label.key, label.text);
    }
  }

  /// false, minutes, a duration, or a map.
  void Autostop(const Value& key) {
    if (key.is_scalar()) return StopAfter(key);
    for (const Value& part : key.children) {
      if (part.key == "idle_minutes" && part.is_scalar()) {
        StopAfter(part);
      } else if (part.key == "hook" || part.key == "hook_timeout") {
        task_.reports.Refuse(part.key_pos, Name(key) + "." + part.key + " has no meaning here",
                             "leave it out: hooks of a job file are in its section on");
      } else if (part.key != "down" && part.key != "wait_for") {
        task_.reports.Refuse(part.key_pos,
                             Name(key) + "." + part.key + " is not a key that jobman knows",
                             "leave it out");
      }
    }
  }

  void StopAfter(const Value& value) {
    const bool never =
        (IsBoolText(value) && !IsTrueText(value.text)) || value.text.starts_with('-');
    if (never) return;
    const auto minutes = base::ParseNumber(value.text);
    if (minutes && *minutes == 0) return task_.draft.Set("job.when_done", "delete");
    if (!minutes && !base::ParseDuration(value.text).ok()) {
      return task_.reports.Wrong(
          value.pos, "resources.autostop: \"" + value.text + "\" is no time that is known here",
          "write minutes, for example: autostop: 10");
    }
    KeepFor(minutes ? value.text + "m" : value.text);
  }

  void KeepFor(const std::string& time) {
    task_.draft.Set("job.when_done.keep", time,
                    "autostop; an idle slice is deleted, as slices cannot be stopped");
  }

  void Recovery(const Value& key) {
    if (key.is_scalar()) return Strategy(key, Name(key));
    for (const Value& part : key.children) {
      if (part.is_null()) continue;
      if (part.key == "strategy") {
        Strategy(part, Name(key) + ".strategy");
      } else if (part.key == "max_restarts_on_errors" && base::ParseNumber(part.text)) {
        task_.draft.Set("retries.failure", *base::ParseNumber(part.text));
      } else {
        task_.reports.Refuse(part.key_pos, Name(key) + "." + part.key + " has no meaning here",
                             "leave it out; retries of a job file says how often to retry");
      }
    }
  }

  void Strategy(const Value& value, const std::string& name) {
    const std::string lower = base::ToLower(value.text);
    if (lower == "failover" || lower == "eager_next_region") {
      task_.reports.PassOver(value.pos, name, "every job recovers, in its own zone");
    } else {
      task_.reports.Refuse(value.pos, name + ": " + value.text + " has no meaning here",
                           "leave it out; --set retries.preemption=0 ends a job with its slice");
    }
  }

  SkyTask& task_;
  std::string region_ = {};
  Position region_pos_ = {};
};

}  // namespace

void ConvertSkyResources(const Value& resources, SkyTask& task) {
  if (!resources.is_map()) {
    return task.reports.Wrong(resources.pos, "resources: expected a map of keys, found " +
                                                 std::string(KindText(resources)));
  }
  ResourceConverter(task).Convert(resources);
}

}  // namespace jobman::config::convert
