#include "jobman/config/load.hpp"

#include <set>
#include <utility>

#include "config/array.hpp"
#include "config/check.hpp"
#include "config/diagnostics.hpp"
#include "config/gcloud_flags.hpp"
#include "config/interpolate.hpp"
#include "config/merge.hpp"
#include "config/names.hpp"
#include "config/old_keys.hpp"
#include "config/origins.hpp"
#include "config/reader.hpp"
#include "config/resolve.hpp"
#include "config/source_text.hpp"
#include "config/yaml_reader.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/env.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/config/convert.hpp"
#include "jobman/config/prices.hpp"
#include "jobman/core/buckets.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::config {
namespace {

base::Path FolderOf(const base::Path& file, const base::Path& working_dir) {
  const base::Path whole = working_dir / file;
  return whole.parent_path().lexically_normal();
}

/// The tree of one file's text; an empty map if the file is empty.
Value ReadTree(std::string_view text, int source, Diagnostics& out) {
  auto tree = ReadYaml(text, source, 0, out);
  Value root = tree ? std::move(*tree) : Value{};
  if (root.is_null()) {
    root.kind = Value::Kind::kMap;
    root.pos = {.source = source};
  }
  if (!root.is_map()) {
    out.Report(root.pos, "expected a map of keys, found " + std::string(KindText(root)),
               "a job file begins like this: job: {name: my-job}");
    root = Value{};
    root.kind = Value::Kind::kMap;
  }
  ExpandCloud(root);
  TranslateOldKeys(root, out);
  return root;
}

/// The steps of Load() and their shared state.
class Loader {
 public:
  explicit Loader(const LoadRequest& request) : request_(request) {}

  LoadResult Run() {
    LoadResult result;
    if (request_.from) converted_ = Convert(*request_.from, request_.defaults);
    if (!converted_.problems.empty()) {
      result.problems = std::move(converted_.problems);
      return result;
    }
    Value root = ReadJobFile();
    AddUserDefaults(root);
    ApplyFlags(root);
    ExpandLists(root);
    // Half a tree would only cause misleading problems.
    if (out_.ok()) {
      const std::string stem = MakeValidName(request_.file.stem().string());
      result.elements = TakeElement(root, {.index = request_.element, .file = stem}, out_);
    }
    if (out_.ok()) {
      AddSuffix(root);
      Interpolate(root, request_.defaults.env, out_);
      TranslateFlags(root, request_.defaults, out_);
      Resolve(root, result);
    }
    result.problems = out_.Take();
    if (!result.problems.empty()) result.loaded.reset();
    return result;
  }

 private:
  int AddFile(const base::Path& file, std::string_view text) {
    return out_.AddSource(
        {.name = file.string(), .folder = FolderOf(file, request_.defaults.working_dir)}, text);
  }

  base::Result<std::string> JobText() const {
    if (request_.from) return converted_.text;
    if (request_.text) return *request_.text;
    auto text = ReadSourceText(request_.file);
    if (!text.ok() && text.error().code == base::Code::kNotFound) {
      text.error().hint =
          "jobman init " + base::ShellQuote(request_.file.string()) + " writes a job file";
    }
    return text;
  }

  Value ReadJobFile() {
    const auto text = JobText();
    source_ = text.value_or("");
    const int index = AddFile(request_.file, source_);
    if (!text.ok()) {
      out_.Report({.source = index}, text.error().message, text.error().hint);
      return {};
    }
    Value root = ReadTree(source_, index, out_);
    if (root.children.empty() && out_.ok()) {
      out_.Report({.source = index}, "the file is empty", "jobman init writes a job file");
    }
    return root;
  }

  void AddUserDefaults(Value& root) {
    const base::Path& file = request_.defaults.user_file;
    if (file.empty()) return;
    // It may name commands that run as this user.
    std::error_code problem;
    const bool there = std::filesystem::exists(file, problem);
    const auto trusted =
        !there ? base::Ok()
               : base::CheckTrusted(file, {.what = "your defaults file",
                                           .instead = "set JOBMAN_CONFIG to a file of your own"});
    if (!trusted.ok()) {
      out_.Report({.source = AddFile(file, "")}, trusted.error().message, trusted.error().hint);
      return;
    }
    const auto text = ReadSourceText(file);
    if (!text.ok()) {
      const bool absent = text.error().code == base::Code::kNotFound;
      if (absent && !request_.defaults.user_file_named) return;
      out_.Report({.source = AddFile(file, "")}, text.error().message,
                  "it contains your defaults for every job file");
      return;
    }
    MergeUnder(root, ReadTree(*text, AddFile(file, *text), out_));
  }

  int AddFlag(std::string name, std::string_view text) {
    return out_.AddSource(
        {.name = std::move(name), .is_flag = true, .folder = request_.defaults.working_dir}, text);
  }

  void ApplyFlags(Value& root) {
    for (const std::string& set : request_.sets) {
      ApplySet(root, set, AddFlag("--set", set), out_);
    }
    for (const std::string& set : request_.set_files) SetFromFile(root, set);
    std::set<std::string> axes;
    for (const std::string& array : request_.arrays) {
      const auto [path, values] = PlaceOfArray(array);
      SetText(root, path, "--array", values);
      if (axes.insert(path).second) continue;
      out_.Report({.source = AddFlag("--array", array), .line = 1, .column = 1},
                  path + " is given twice", "give all its values at once, as in a,b");
    }
    if (request_.name) SetText(root, "job.name", "--name", *request_.name);
    if (request_.endpoint) SetText(root, "cloud.endpoint", "--endpoint", *request_.endpoint);
  }

  /// One --set-file.
  void SetFromFile(Value& root, const std::string& assignment) {
    const int flag = AddFlag("--set-file", assignment);
    const Position begin{.source = flag, .line = 1, .column = 1};
    const std::size_t equals = assignment.find('=');
    const bool whole = equals != std::string::npos && equals > 0 && equals + 1 < assignment.size();
    if (!whole) {
      return out_.Report(begin, "write --set-file key=path, as in --set-file command.cmd=run.sh");
    }
    const std::string file = ResolvePath(request_.defaults, request_.defaults.working_dir,
                                         assignment.substr(equals + 1));
    const auto text = ReadSourceText(file);
    if (!text.ok()) {
      return out_.Report({.source = flag, .line = 1, .column = static_cast<int>(equals) + 2},
                         file + ": " + text.error().message, "name a file of this machine");
    }
    ApplySetFile(root, assignment.substr(0, equals), *text,
                 {.flag = flag, .file = AddFile(file, *text)}, out_);
  }

  void SetText(Value& root, std::string_view path, std::string flag, const std::string& text) {
    const int source = AddFlag(std::move(flag), text);
    Value value = Scalar(text, {.source = source, .line = 1, .column = 1});
    value.quoted = true;
    value.key_pos = value.pos;
    SetAt(root, path, std::move(value), out_);
  }

  void Resolve(Value& root, LoadResult& result) {
    auto spec = core::SpecFromJson(CheckAgainstSchema(root, request_.defaults, out_));
    if (!spec.ok()) return out_.Report({.source = 0}, spec.error().message);  // a bug in the schema
    Reader reader(root, request_, out_);
    Loaded loaded{.spec = *std::move(spec)};
    ResolveSpec(reader, loaded.spec);
    if (!out_.ok()) return;
    WarnOfLostFiles(loaded.spec);
    loaded.source = source_;
    loaded.origins = OriginsOf(core::SpecToJson(loaded.spec), root, reader, out_);
    for (const char* key : {"tpu.accelerator", "tpu.zone", "tpu.version", "tpu.reservation"}) {
      loaded.places[key] = out_.Describe(reader.At(key));
    }
    for (const core::NamedBucket& bucket : core::BucketsOf(loaded.spec)) {
      loaded.buckets[bucket.name] = MentionOf(reader, bucket);
    }
    loaded.warnings = std::move(converted_.warnings);
    for (Problem& warning : out_.TakeWarnings()) loaded.warnings.push_back(std::move(warning));
    result.loaded = std::move(loaded);
  }

  BucketMention MentionOf(const Reader& reader, const core::NamedBucket& bucket) const {
    std::string key = bucket.key;
    // The scripts of the queue's prefix are steps after those of setup: see Reader::notes().
    const auto origin = reader.notes().find(key);
    if (key.starts_with("setup[") && origin != reader.notes().end()) key = origin->second + ".run";
    const Position at = out_.Locate(reader.At(key), bucket.written);
    return {.key = reader.Name(key), .at = out_.Describe(at)};
  }

  /// A batch script relies on a file system that the nodes of a cluster share.
  void WarnOfLostFiles(const core::JobSpec& spec) {
    if (!request_.from || request_.from->kind != ForeignKind::kSbatch || !spec.code.empty()) return;
    out_.Warn({.source = 0}, "the hosts get the script alone, without the files beside it",
              "--set code.dir=. sends this folder to them");
  }

  const LoadRequest& request_;
  Diagnostics out_ = {};
  Conversion converted_ = {};
  std::string source_ = {};
};

}  // namespace

Defaults SystemDefaults(const base::Path& state_dir) {
  Defaults defaults{.env = &base::GetEnv,
                    .home = base::HomeDir(),
                    .state_dir = state_dir,
                    .login = base::UserName(),
                    .now = base::SystemClock().Now()};
  std::error_code problem;
  defaults.working_dir = std::filesystem::current_path(problem);
  const auto named = base::GetEnv("JOBMAN_CONFIG");
  defaults.user_file = named ? base::Path(*named) : UserFolder() / "config.yaml";
  defaults.user_file_named = named.has_value();
  return defaults;
}

LoadResult Load(const LoadRequest& request) {
  return Loader(request).Run();
}

}  // namespace jobman::config
