#include "cli/foreign_job.hpp"

#include <CLI/CLI.hpp>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/convert.hpp"

namespace jobman::cli {
namespace {

/// An unset variable of a script.
std::string NotEmpty(const std::string& value) {
  return value.empty() ? "is empty" : std::string();
}

struct GivenOption {
  std::string name;
  config::ForeignKind kind;
  std::string value;
};

std::vector<GivenOption> GivenOptions(const FromOptions& options) {
  std::vector<GivenOption> given = {
      {"--from-gcloud", config::ForeignKind::kGcloud, options.gcloud},
      {"--from-sky", config::ForeignKind::kSky, options.sky},
      {"--from-sbatch", config::ForeignKind::kSbatch, options.sbatch}};
  std::erase_if(given, [](const GivenOption& option) { return option.value.empty(); });
  return given;
}

base::Error Together(const std::string& one, const std::string& other) {
  return base::InvalidArgument(one + " and " + other + " cannot be used together",
                               "give one of them");
}

/// Without its text.
base::Result<std::optional<config::Foreign>> NamedForeign(const FromOptions& options) {
  const auto given = GivenOptions(options);
  if (given.empty()) return std::optional<config::Foreign>();
  if (given.size() > 1) return Together(given[0].name, given[1].name);
  config::Foreign foreign{.kind = given[0].kind};
  if (foreign.kind == config::ForeignKind::kGcloud) {
    foreign.text = given[0].value;
  } else {
    foreign.file = given[0].value;
  }
  return std::optional(std::move(foreign));
}

}  // namespace

void AddFromOptions(CLI::App& command, FromOptions& options) {
  command
      .add_option("--from-gcloud", options.gcloud,
                  "Convert a command instead: 'gcloud compute tpus tpu-vm create ...', or the same "
                  "of queued-resources; - for standard input")
      ->type_name("COMMAND")
      ->check(NotEmpty);
  command
      .add_option("--from-sky", options.sky,
                  "Convert a task of SkyPilot instead; - for standard input")
      ->type_name("FILE")
      ->check(NotEmpty);
  command
      .add_option("--from-sbatch", options.sbatch,
                  "Convert a batch script of Slurm instead; - for standard input")
      ->type_name("FILE")
      ->check(NotEmpty);
}

base::Result<std::optional<config::Foreign>> ForeignOf(const FromOptions& options) {
  JM_ASSIGN_OR_RETURN(auto foreign, NamedForeign(options));
  if (!foreign) return foreign;
  const bool piped = foreign->text ? *foreign->text == "-" : foreign->file == "-";
  if (piped) {
    JM_ASSIGN_OR_RETURN(foreign->text, base::ReadFile("/dev/stdin"));
  }
  return foreign;
}

base::Result<std::vector<std::string>> FilesOf(const FilesRequest& request,
                                               const FromOptions& options) {
  JM_ASSIGN_OR_RETURN(const auto foreign, NamedForeign(options));
  if (!foreign && !request.files.empty()) return request.files;
  if (foreign && request.files.empty()) return std::vector{config::ConvertedName(*foreign)};
  if (foreign) return Together(request.missing, GivenOptions(options)[0].name);
  return base::InvalidArgument(request.missing + " is required",
                               "jobman " + request.command + " --help");
}

}  // namespace jobman::cli
