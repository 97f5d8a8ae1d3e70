#include "config/gcloud_flags.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

enum class Shape { kText, kList, kMap, kFixed };

struct FlagRow {
  std::string_view flag;
  std::string_view key;  ///< within tpu
  Shape shape;
  std::string_view fixed = {};  ///< the value of a flag that takes none
};

constexpr std::array kFlags = {
    FlagRow{"--accelerator-type", "accelerator", Shape::kText},
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
    FlagRow{"--tags", "tags", Shape::kList},
    FlagRow{"--labels", "labels", Shape::kMap},
    FlagRow{"--metadata", "metadata", Shape::kMap},
    FlagRow{"--internal-ips", "external_ips", Shape::kFixed, "false"},
    FlagRow{"--spot", "pricing", Shape::kFixed, "spot"},
    FlagRow{"--preemptible", "pricing", Shape::kFixed, "preemptible"},
    FlagRow{"--reserved", "pricing", Shape::kFixed, "reserved"},
};

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

class FlagTranslator {
 public:
  FlagTranslator(Value& tpu, Diagnostics& out) : tpu_(tpu), out_(out) {}

  void Translate(const Flag& flag) {
    const FlagRow* row = FindFlag(flag.name);
    if (row == nullptr) {
      const auto near = base::Nearest(flag.name, KnownFlags());
      return Refuse(flag, "gcloud's " + flag.name + " is not supported",
                    base::Reason::kNotSupported,
                    near ? "did you mean " + *near + "?"
                         : "remove it; jobman config explain tpu lists the keys");
    }
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
    }
  }

 private:
  void Refuse(const Flag& flag, const std::string& why, base::Reason reason = base::Reason::kNone,
              std::string hint = {}) {
    out_.Report(flag.pos, "tpu.flags: " + why, std::move(hint), reason);
  }

  void PutScalar(const Flag& flag, const FlagRow& row, const std::string& text) {
    Value& place = Place(row.key, flag, Value::Kind::kScalar);
    if (place.is_null()) {
      Fill(place, text, flag);
    } else if (place.is_scalar() && place.text != text) {
      Refuse(flag, flag.name + " contradicts tpu." + std::string(row.key) + ": " + place.text);
    }
  }

  void PutList(const Flag& flag, const FlagRow& row) {
    Value& list = Place(row.key, flag, Value::Kind::kList);
    if (!list.is_list()) return;
    for (const std::string& part : base::Split(*flag.value, ',')) {
      list.children.push_back(Scalar(std::string(base::Trim(part)), flag.pos));
    }
  }

  void PutMap(const Flag& flag, const FlagRow& row) {
    Value& map = Place(row.key, flag, Value::Kind::kMap);
    if (!map.is_map()) return;
    for (const std::string& part : base::Split(*flag.value, ',')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) {
        Refuse(flag, flag.name + ": \"" + part + "\" is not key=value");
        continue;
      }
      const std::string key(base::Trim(std::string_view(part).substr(0, equals)));
      if (map.Find(key) == nullptr) {
        map.children.push_back(Value{.key = key, .key_pos = flag.pos});
        Fill(map.children.back(), part.substr(equals + 1), flag);
      } else if (map.Find(key)->text != part.substr(equals + 1)) {
        Refuse(flag, flag.name + " contradicts tpu." + std::string(row.key) + "." + key);
      }
    }
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
  Diagnostics& out_;
};

}  // namespace

void TranslateFlags(Value& root, Diagnostics& out) {
  Value* tpu = root.Find("tpu");
  const Value* flags = tpu == nullptr ? nullptr : tpu->Find("flags");
  if (flags == nullptr || !flags->is_list()) return;
  for (const Flag& flag : SplitFlags(*flags)) FlagTranslator(*tpu, out).Translate(flag);
}

}  // namespace jobman::config
