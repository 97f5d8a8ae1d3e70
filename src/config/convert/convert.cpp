#include "jobman/config/convert.hpp"

#include <utility>

#include "config/convert/draft.hpp"
#include "config/convert/gcloud.hpp"
#include "config/convert/sbatch.hpp"
#include "config/convert/sky.hpp"
#include "config/diagnostics.hpp"
#include "config/source_text.hpp"

namespace jobman::config {
namespace {

std::string OptionOf(ForeignKind kind) {
  switch (kind) {
    case ForeignKind::kGcloud:
      return "--from-gcloud";
    case ForeignKind::kSky:
      return "--from-sky";
    case ForeignKind::kSbatch:
      return "--from-sbatch";
  }
  return {};
}

/// In messages.
std::string NameOf(const Foreign& foreign) {
  if (foreign.kind == ForeignKind::kGcloud) return OptionOf(foreign.kind);
  return foreign.file == "-" ? "standard input" : foreign.file.string();
}

/// Of a job whose description gives none.
std::string NameOfJob(const Foreign& foreign) {
  if (foreign.file == "-" || foreign.file.empty()) return {};
  return foreign.file.stem().string();
}

class Converter {
 public:
  Converter(const Foreign& foreign, const Defaults& defaults)
      : foreign_(foreign), defaults_(defaults) {}

  Conversion Run(const InitOptions& more) {
    Conversion result;
    draft_.Remark("Converted by " + OptionOf(foreign_.kind) +
                  (foreign_.file.empty() ? "" : " from " + NameOf(foreign_)) +
                  ". What each key means: jobman config explain KEY");
    Read();
    if (out_.ok()) {
      AddOptions(more);
      AddLack(result);
      result.text = draft_.Text();
    }
    result.problems = out_.Take();
    result.warnings = out_.TakeWarnings();
    return result;
  }

 private:
  void Read() {
    auto text =
        foreign_.text ? base::Result<std::string>(*foreign_.text) : ReadSourceText(foreign_.file);
    const int source = out_.AddSource({.name = NameOf(foreign_),
                                       .is_flag = foreign_.kind == ForeignKind::kGcloud,
                                       .folder = defaults_.working_dir},
                                      text.value_or(""));
    if (!text.ok()) return out_.Report({.source = source}, text.error().message, text.error().hint);
    switch (foreign_.kind) {
      case ForeignKind::kGcloud:
        return convert::ConvertGcloud(*text, source, defaults_, draft_, out_);
      case ForeignKind::kSky:
        return convert::ConvertSky(*text, source, NameOfJob(foreign_), draft_, out_);
      case ForeignKind::kSbatch:
        return convert::ConvertSbatch(*text, source, NameOfJob(foreign_), draft_, out_);
    }
  }

  void AddOptions(const InitOptions& more) {
    const auto set = [this](const char* path, const std::string& text) {
      if (!text.empty()) draft_.Set(path, text);
    };
    set("job.name", more.name);
    set("cloud", more.cloud);
    set("tpu.project", more.project);
    set("tpu.zone", more.zone);
    set("tpu.accelerator", more.accelerator);
    set("tpu.pricing", more.pricing);
    if (foreign_.moves) draft_.MakeAbsolute("code.dir", defaults_.working_dir);
  }

  void AddLack(Conversion& result) {
    for (const char* key : {"tpu.accelerator", "tpu.zone"}) {
      if (draft_.Has(key)) continue;
      result.lacks.emplace_back(key);
      draft_.Remark(std::string(key) + " is missing: write it here, or into your defaults file");
    }
  }

  const Foreign& foreign_;
  const Defaults& defaults_;
  convert::Draft draft_ = {};
  Diagnostics out_ = {};
};

}  // namespace

std::string ConvertedName(const Foreign& foreign) {
  const std::string name = NameOf(foreign);
  return base::Path(name).filename().string() + " (converted)";
}

Conversion Convert(const Foreign& foreign, const Defaults& defaults, const InitOptions& more) {
  return Converter(foreign, defaults).Run(more);
}

}  // namespace jobman::config
