#pragma once

#include <string_view>
#include <vector>

namespace jobman::core {

struct JobSpec;

/// A setup step that a section of the job file asks for. Its script is rendered when it runs, by
/// remote::SetupScript.
enum class BuiltIn { kIdentities, kGcsfuse, kDocker, kConda, kVenv };

/// Those that the job needs, in the order in which they run, before the steps of `setup`.
std::vector<BuiltIn> BuiltInsOf(const JobSpec& spec);
/// "gcsfuse": the name of the section, and of its step in logs and messages.
std::string_view BuiltInName(BuiltIn step);

}  // namespace jobman::core
