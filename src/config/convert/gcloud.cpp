#include "config/convert/gcloud.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "config/convert/reports.hpp"
#include "config/convert/words.hpp"
#include "config/gcloud_flags.hpp"
#include "config/value.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config::convert {
namespace {

constexpr const char* kWholeCommand =
    "give the whole command: gcloud compute tpus tpu-vm create NAME --zone=... "
    "--accelerator-type=...";

/// Names of nodes: jobman makes its own.
bool NamesNodes(std::string_view flag) {
  return flag == "--node-id" || flag == "--node-prefix";
}

class GcloudConverter {
 public:
  GcloudConverter(const Defaults& defaults, Draft& draft, Diagnostics& out)
      : defaults_(defaults), draft_(draft), out_(out), reports_(draft, out) {}

  void Convert(const std::vector<Word>& words) {
    Divide(words);
    Value tpu;
    tpu.kind = Value::Kind::kMap;
    TranslateFlagsInto(tpu, flags_, defaults_, out_);
    ReadPositionals();
    for (const Value& key : tpu.children) Take(key);
    Complete();
    reports_.Finish();
  }

 private:
  /// Flags go to flags_, each with its value, the other words to positionals_.
  void Divide(const std::vector<Word>& words) {
    flags_.kind = Value::Kind::kList;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word& word = words[i];
      if (!word.text.starts_with('-')) {
        positionals_.push_back(word);
        continue;
      }
      std::string text = word.text;
      const std::string name = text.substr(0, text.find('='));
      const bool bare = name.size() == text.size();
      const bool follows = i + 1 < words.size() && !words[i + 1].text.starts_with('-');
      if (bare && follows && TakesNext(name)) text += "=" + words[++i].text;
      if (NamesNodes(name)) {
        reports_.PassOver(word.pos, name, "slices and their nodes are named after tpu.name");
      } else {
        flags_.children.push_back(Scalar(std::move(text), word.pos));
      }
    }
  }

  /// A flag that is not known is refused, and what follows may be its value.
  static bool TakesNext(std::string_view flag) {
    return FlagTakesValue(flag) || !IsKnownFlag(flag);
  }

  bool Is(std::size_t index, std::string_view text) const {
    return index < positionals_.size() && positionals_[index].text == text;
  }

  void ReadPositionals() {
    if (positionals_.empty()) return reports_.Wrong(Start(), "this is no command", kWholeCommand);
    const std::string& program = positionals_[0].text;
    if (program.substr(program.rfind('/') + 1) != "gcloud") {
      return reports_.Wrong(positionals_[0].pos, "\"" + program + "\" is not gcloud",
                            kWholeCommand);
    }
    const std::size_t group = Is(1, "alpha") || Is(1, "beta") ? 2 : 1;
    const bool queued = Is(group + 2, "queued-resources");
    if (!Is(group, "compute") || !Is(group + 1, "tpus") || !(queued || Is(group + 2, "tpu-vm")) ||
        !Is(group + 3, "create")) {
      return reports_.Refuse(
          positionals_[std::min(group, positionals_.size() - 1)].pos,
          "a job is made of gcloud compute tpus tpu-vm create and of queued-resources create only",
          "the guide from-gcloud.md says what takes the place of other commands");
    }
    if (!queued)
      draft_.Set("tpu.allocation_mode", "tpu-vm", "a node without a queue, as the command asks");
    ReadName(group + 4);
  }

  void ReadName(std::size_t index) {
    if (index >= positionals_.size()) {
      if (!out_.ok()) return;  // a flag that is not known may have taken it for its value
      return reports_.Wrong(positionals_.back().pos, "the node has no name",
                            "write one after create");
    }
    const Word& name = positionals_[index];
    draft_.Set("job.name", name.text);
    draft_.Set("tpu.name", name.text);
    if (index + 1 == positionals_.size()) return;
    reports_.Wrong(
        positionals_[index + 1].pos,
        "\"" + positionals_[index + 1].text + "\" is neither a flag nor the value of one",
        "put quotes around a value with blanks");
  }

  Position Start() const {
    return flags_.children.empty() ? Position{.source = 0} : flags_.children.front().pos;
  }

  /// One key of tpu.
  void Take(const Value& key) {
    const std::string path = "tpu." + key.key;
    if (key.is_scalar()) draft_.Set(path, Typed(key));
    if (key.is_list()) {
      for (const Value& item : key.children) draft_.Append(path, item.text);
    }
    if (key.is_map()) {
      for (const Value& member : key.children) draft_.SetMember(path, member.key, member.text);
    }
  }

  /// Numbers and booleans are no texts in a job file.
  static base::OrderedJson Typed(const Value& key) {
    if (key.key == "external_ips") return IsTrueText(key.text);
    const auto number = key.key == "num_slices" ? base::ParseNumber(key.text) : std::nullopt;
    if (number) return *number;
    return key.text;
  }

  void Complete() {
    if (!draft_.Has("tpu.pricing"))
      draft_.Set("tpu.pricing", "ondemand", "what gcloud takes when no flag says another");
    draft_.Remark("It has no command: the job holds its slice until it is cancelled. To run one:");
    draft_.Remark("  command: {cmd: ...}");
  }

  const Defaults& defaults_;
  Draft& draft_;
  Diagnostics& out_;
  Reports reports_;
  std::vector<Word> positionals_ = {};
  Value flags_ = {};
};

}  // namespace

void ConvertGcloud(std::string_view text, int source, const Defaults& defaults, Draft& draft,
                   Diagnostics& out) {
  if (!CheckBytes(text, source, 0, out)) return;
  const auto words = WordsOf(text, {.source = source, .line = 1, .column = 1}, Rules::kShell, out);
  if (words) GcloudConverter(defaults, draft, out).Convert(*words);
}

}  // namespace jobman::config::convert
