#include "config/gcloud_flags.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/reader.hpp"
#include "config/utf8.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// What Compute Engine takes as a metadata value.
constexpr std::size_t kLongestValue = std::size_t{256} << 10;

enum class Shape {
  kText,
  kList,
  kMap,
  kFixed,    ///< takes no value
  kFiles,    ///< a map of names to files
  kModel,    ///< a provisioning model
  kNothing,  ///< says how gcloud itself behaves
  kSetting,  ///< the same, with a value
};

struct FlagRow {
  std::string_view flag;
  std::string_view key;  ///< within tpu
  Shape shape;
  std::string_view fixed = {};  ///< the value of a flag that takes none
};

constexpr std::array kFlags = {
    FlagRow{"--accelerator-type", "accelerator", Shape::kText},
    FlagRow{"--type", "accelerator", Shape::kText},
    FlagRow{"--topology", "topology", Shape::kText},
    FlagRow{"--runtime-version", "version", Shape::kText},
    FlagRow{"--version", "version", Shape::kText},
    FlagRow{"--zone", "zone", Shape::kText},
    FlagRow{"--project", "project", Shape::kText},
    FlagRow{"--network", "network", Shape::kText},
    FlagRow{"--subnetwork", "subnetwork", Shape::kText},
    FlagRow{"--service-account", "service_account", Shape::kText},
    FlagRow{"--reservation", "reservation", Shape::kText},
    FlagRow{"--valid-until-duration", "valid_until", Shape::kText},
    FlagRow{"--valid-until-time", "valid_until", Shape::kText},
    FlagRow{"--max-run-duration", "max_run_duration", Shape::kText},
    FlagRow{"--provisioning-model", "pricing", Shape::kModel},
    FlagRow{"--node-count", "num_slices", Shape::kText},
    FlagRow{"--tags", "tags", Shape::kList},
    FlagRow{"--labels", "labels", Shape::kMap},
    FlagRow{"--metadata", "metadata", Shape::kMap},
    FlagRow{"--metadata-from-file", "metadata", Shape::kFiles},
    FlagRow{"--internal-ips", "external_ips", Shape::kFixed, "false"},
    FlagRow{"--spot", "pricing", Shape::kFixed, "spot"},
    FlagRow{"--preemptible", "pricing", Shape::kFixed, "preemptible"},
    FlagRow{"--reserved", "pricing", Shape::kFixed, "reserved"},
    // Tiers of queued resources: the one is what spot was called, the other the default.
    FlagRow{"--best-effort", "pricing", Shape::kFixed, "preemptible"},
    FlagRow{"--guaranteed", "pricing", Shape::kFixed, "ondemand"},
    FlagRow{"--async", "", Shape::kNothing},
    FlagRow{"--quiet", "", Shape::kNothing},
    FlagRow{"-q", "", Shape::kNothing},
    FlagRow{"--format", "", Shape::kSetting},
    FlagRow{"--verbosity", "", Shape::kSetting},
    FlagRow{"--log-http", "", Shape::kNothing},
    FlagRow{"--no-log-http", "", Shape::kNothing},
    FlagRow{"--user-output-enabled", "", Shape::kNothing},
    FlagRow{"--no-user-output-enabled", "", Shape::kNothing},
};

/// A flag without a key of the same meaning, and what to do instead.
struct RefusedFlag {
  std::string_view flag;
  std::string_view cure;
};

constexpr std::string_view kWholeReservation =
    "write the whole name: tpu.reservation: projects/PROJECT/locations/ZONE/reservations/NAME";
constexpr std::string_view kOwnNames =
    "leave it out: slices and their nodes are named after tpu.name";
constexpr std::string_view kCreateLater =
    "leave it out, and create the job when it is time: there is no key for it";
constexpr std::string_view kNoKey = "leave it out: there is no key for it";
constexpr std::string_view kOwnToken =
    "name credentials in cloud.credentials_file, cloud.token_file or cloud.token_command";

constexpr std::array kRefusedFlags = {
    RefusedFlag{"--scopes",
                "leave it out: the hosts get the scope cloud-platform, and the roles of "
                "tpu.service_account say what they may do"},
    RefusedFlag{"--data-disk",
                "leave it out: tpu.data_disks is not supported yet; gcsfuse mounts buckets, nfs a "
                "folder"},
    RefusedFlag{"--boot-disk", kNoKey},
    RefusedFlag{"--boot-disk-kms-key", kNoKey},
    RefusedFlag{"--node-id", kOwnNames},
    RefusedFlag{"--node-prefix", kOwnNames},
    RefusedFlag{"--description", "leave it out, or write it as one of tpu.metadata"},
    RefusedFlag{"--range", "leave it out, or name a subnetwork: tpu.subnetwork"},
    RefusedFlag{"--reservation-host-project", kWholeReservation},
    RefusedFlag{"--reservation-host-folder", kWholeReservation},
    RefusedFlag{"--reservation-host-organization", kWholeReservation},
    RefusedFlag{"--valid-after-duration", kCreateLater},
    RefusedFlag{"--valid-after-time", kCreateLater},
    RefusedFlag{"--autocheckpoint-enabled",
                "leave it out; command.on_notice says what the command is told before its hosts "
                "are taken away"},
    RefusedFlag{"--shielded-secure-boot", kNoKey},
    RefusedFlag{"--workload-type", kNoKey},
    RefusedFlag{"--account", kOwnToken},
    RefusedFlag{"--impersonate-service-account", "write cloud.impersonate_service_account"},
    RefusedFlag{"--access-token-file", kOwnToken},
    RefusedFlag{"--billing-project", "write tpu.project"},
    RefusedFlag{"--configuration", "set CLOUDSDK_ACTIVE_CONFIG_NAME, or write tpu.project"},
    RefusedFlag{"--flags-file", "write its flags here"},
};

/// gcloud takes a provisioning model in either case; only one is called otherwise here.
std::string PricingOfModel(const std::string& model) {
  const std::string word = base::ReplaceAll(base::ToLower(model), "_", "-");
  return word == "standard" ? "ondemand" : word;
}

const FlagRow* FindFlag(std::string_view name) {
  for (const FlagRow& row : kFlags) {
    if (row.flag == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> KnownFlags() {
  std::vector<std::string> names;
  for (const FlagRow& row : kFlags) names.emplace_back(row.flag);
  return names;
}

/// What to do about a flag that has no row.
std::string CureOfFlag(const std::string& flag) {
  for (const RefusedFlag& refused : kRefusedFlags) {
    if (refused.flag == flag) return std::string(refused.cure);
  }
  const auto near = base::Nearest(flag, KnownFlags());
  return near ? "did you mean " + *near + "?"
              : "remove it; jobman config explain tpu lists the keys";
}

/// All flags in one text become items of a list, as a shell would divide them.
void DivideText(Value& flags, Diagnostics& out) {
  if (!flags.is_scalar()) return;
  if (flags.text.find_first_of("\"'\\") != std::string::npos) {
    out.Report(flags.pos, "tpu.flags: one text with quotes is not read",
               "write a list: flags: [--network=default, --spot]");
    flags.kind = Value::Kind::kBroken;
    return;
  }
  std::vector<Value> words;
  std::string text = std::exchange(flags.text, {});
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  for (const std::string& word : base::Split(text, ' ')) {
    if (word.empty()) continue;
    words.push_back(Scalar(word, flags.pos));
    words.back().implied = true;
  }
  flags.kind = words.empty() ? Value::Kind::kNull : Value::Kind::kList;
  flags.children = std::move(words);
}

/// A flag as gcloud sees it.
struct Flag {
  std::string name = {};
  std::optional<std::string> value = {};
  Position pos = {};
};

/// Items are "--name=value", "--name value", or a name and then its value.
std::vector<Flag> SplitFlags(const Value& list) {
  std::vector<Flag> flags;
  for (const Value& item : list.children) {
    if (!item.is_scalar()) continue;
    const std::string text(base::Trim(item.text));
    if (!text.starts_with("-") && !flags.empty() && !flags.back().value) {
      flags.back().value = text;
      continue;
    }
    const std::size_t cut = text.find_first_of("= ");
    Flag flag{.name = text.substr(0, cut), .pos = item.pos};
    if (cut != std::string::npos) flag.value = std::string(base::Trim(text.substr(cut + 1)));
    flags.push_back(std::move(flag));
  }
  return flags;
}

/// The items of a value: "a,b", or with a separator of its own, "^:^a:b".
/// Source: `gcloud topic escaping`.
std::vector<std::string> PartsOf(const std::string& value) {
  const std::size_t end = value.starts_with('^') ? value.find('^', 1) : std::string::npos;
  if (end == std::string::npos || end == 1) return base::Split(value, ',');
  constexpr char kCut = '\x1f';
  const std::string separator = value.substr(1, end - 1);
  return base::Split(base::ReplaceAll(value.substr(end + 1), separator, std::string(1, kCut)),
                     kCut);
}

class FlagTranslator {
 public:
  /// `where` precedes every message.
  FlagTranslator(Value& tpu, std::string where, const Defaults& defaults, Diagnostics& out)
      : tpu_(tpu), where_(std::move(where)), defaults_(defaults), out_(out) {}

  void Translate(const Flag& flag) {
    const FlagRow* row = FindFlag(flag.name);
    if (row == nullptr) {
      return Refuse(flag, "gcloud's " + flag.name + " is not supported", CureOfFlag(flag.name),
                    base::Reason::kNotSupported);
    }
    if (row->shape == Shape::kNothing || row->shape == Shape::kSetting) return;
    if (row->shape == Shape::kFixed && flag.value)
      return Refuse(flag, flag.name + " takes no value");
    if (row->shape != Shape::kFixed && !flag.value)
      return Refuse(flag, flag.name + " needs a value");
    switch (row->shape) {
      case Shape::kText:
        return PutScalar(flag, *row, *flag.value);
      case Shape::kFixed:
        return PutScalar(flag, *row, std::string(row->fixed));
      case Shape::kList:
        return PutList(flag, *row);
      case Shape::kMap:
        return PutMap(flag, *row);
      case Shape::kFiles:
        return PutFiles(flag, *row);
      case Shape::kModel:
        return PutScalar(flag, *row, PricingOfModel(*flag.value));
      case Shape::kNothing:
      case Shape::kSetting:
        return;
    }
  }

 private:
  void Refuse(const Flag& flag, const std::string& why, std::string hint = {},
              base::Reason reason = base::Reason::kNone) {
    out_.Report(flag.pos, where_ + why, std::move(hint), reason);
  }

  void RefuseBoth(const Flag& flag, const std::string& other) {
    Refuse(flag, flag.name + " contradicts tpu." + other, "keep one of them");
  }

  void PutScalar(const Flag& flag, const FlagRow& row, const std::string& text) {
    Value& place = Place(row.key, flag, Value::Kind::kScalar);
    if (place.is_null() || IsGuaranteed(row, place)) {
      Fill(place, text, flag);
    } else if (GivesWay(row, place) && text != place.text) {
      out_.Warn(flag.pos, where_ + flag.name + " takes the place of tpu.pricing: ondemand",
                "keep one of them");
      Fill(place, text, flag);
    } else if (place.is_scalar() && place.text != text && !Includes(row, place)) {
      RefuseBoth(flag, std::string(row.key) + ": " + place.text);
    }
    priced_ = priced_ || row.key == "pricing";
  }

  /// On demand is what gcloud's create does without a flag, so a file of Python jobman may have
  /// both. What --set says stays, and so does what another of these flags says.
  bool GivesWay(const FlagRow& row, const Value& place) const {
    const int source = place.pos.source;
    const bool in_file = source >= 0 && !out_.source(source).is_flag;
    return row.key == "pricing" && place.is_scalar() && place.text == "ondemand" && in_file &&
           !priced_;
  }
  /// --guaranteed came first, and the reservation says what that means.
  bool IsGuaranteed(const FlagRow& row, const Value& place) const {
    return row.flag == "--reserved" && priced_ && place.is_scalar() && place.text == "ondemand";
  }
  /// What is reserved is guaranteed, and what is spot has the lowest tier.
  static bool Includes(const FlagRow& row, const Value& place) {
    return (row.flag == "--guaranteed" && place.text == "reserved") ||
           (row.flag == "--best-effort" && place.text == "spot");
  }

  void PutList(const Flag& flag, const FlagRow& row) {
    Value& list = Place(row.key, flag, Value::Kind::kList);
    if (!list.is_list()) return;
    for (const std::string& part : PartsOf(*flag.value)) {
      list.children.push_back(Scalar(std::string(base::Trim(part)), flag.pos));
    }
  }

  void PutMap(const Flag& flag, const FlagRow& row) {
    for (const auto& [key, text] : PairsOf(flag, "key=value")) PutMember(flag, row, key, text);
  }

  using Pair = std::pair<std::string, std::string>;

  /// "a=b,c=d"; reports what is not of this form.
  std::vector<Pair> PairsOf(const Flag& flag, const std::string& form) {
    std::vector<Pair> pairs;
    for (const std::string& part : PartsOf(*flag.value)) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) {
        Refuse(flag, flag.name + ": \"" + part + "\" is not " + form);
        continue;
      }
      pairs.emplace_back(base::Trim(std::string_view(part).substr(0, equals)),
                         part.substr(equals + 1));
    }
    return pairs;
  }

  void PutMember(const Flag& flag, const FlagRow& row, const std::string& key,
                 const std::string& text) {
    Value& map = Place(row.key, flag, Value::Kind::kMap);
    if (!map.is_map()) return;
    if (const Value* const own = map.Find(key)) {
      if (own->text != text) RefuseBoth(flag, std::string(row.key) + "." + key);
      return;
    }
    map.children.push_back(Value{.key = key, .key_pos = flag.pos});
    Fill(map.children.back(), text, flag);
  }

  void PutFiles(const Flag& flag, const FlagRow& row) {
    for (const auto& [key, name] : PairsOf(flag, "key=FILE")) {
      const std::string file = Found(std::string(base::Trim(name)), flag.pos);
      const auto text = base::ReadRegularFile(file, kLongestValue);
      if (!text.ok()) {
        Refuse(flag, flag.name + ": " + text.error().message, "name a file of this machine");
      } else if (!IsUtf8Text(*text)) {
        Refuse(flag, flag.name + ": " + file + " is not UTF-8 text", "name a text file");
      } else if (key == "startup-script") {
        PutScript(flag, file);
      } else {
        PutMember(flag, row, key, *text);
      }
    }
  }

  void PutScript(const Flag& flag, const std::string& file) {
    Value& place = Place("startup_script", flag, Value::Kind::kScalar);
    const bool empty = place.is_null() || (place.is_scalar() && base::Trim(place.text).empty());
    if (empty) return Fill(place, file, flag);
    if (!place.is_scalar() || Found(place.text, place.pos) == file) return;
    RefuseBoth(flag, "startup_script");
  }

  /// The path of a file that was named at this place.
  std::string Found(const std::string& name, Position at) const {
    return ResolvePath(defaults_, at.source < 0 ? base::Path{} : out_.source(at.source).folder,
                       name);
  }

  static void Fill(Value& place, const std::string& text, const Flag& flag) {
    Value value = Scalar(text, flag.pos);
    value.key = std::move(place.key);
    value.key_pos = flag.pos;
    place = std::move(value);
  }

  /// The value of tpu.<key>; created as null, or as an empty list or map, when it is absent.
  Value& Place(std::string_view key, const Flag& flag, Value::Kind kind) {
    Value* place = tpu_.Find(key);
    if (place == nullptr) {
      tpu_.children.push_back(Value{.key = std::string(key), .key_pos = flag.pos});
      place = &tpu_.children.back();
    }
    if (place->is_null() && kind != Value::Kind::kScalar) {
      place->kind = kind;
      place->pos = flag.pos;
    }
    return *place;
  }

  Value& tpu_;
  std::string where_;
  const Defaults& defaults_;
  Diagnostics& out_;
  bool priced_ = false;  ///< by one of the flags
};

}  // namespace

bool FlagTakesValue(std::string_view name) {
  const FlagRow* const row = FindFlag(name);
  return row != nullptr && row->shape != Shape::kFixed && row->shape != Shape::kNothing;
}

bool IsKnownFlag(std::string_view name) {
  return FindFlag(name) != nullptr;
}

void TranslateFlagsInto(Value& tpu, const Value& list, const Defaults& defaults, Diagnostics& out) {
  FlagTranslator translator(tpu, "", defaults, out);
  for (const Flag& flag : SplitFlags(list)) translator.Translate(flag);
}

void TranslateFlags(Value& root, const Defaults& defaults, Diagnostics& out) {
  Value* const tpu = root.Find("tpu");
  Value* const flags = tpu == nullptr || !tpu->is_map() ? nullptr : tpu->Find("flags");
  if (flags == nullptr) return;
  DivideText(*flags, out);
  if (!flags->is_list()) return;
  FlagTranslator translator(*tpu, "tpu.flags: ", defaults, out);
  for (const Flag& flag : SplitFlags(*flags)) translator.Translate(flag);
}

}  // namespace jobman::config
