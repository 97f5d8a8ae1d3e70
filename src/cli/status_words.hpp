#pragma once

#include <string>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::cli {

/// The words of core::StateName() and core::FamiliarStatus(), in the order of a job's life.
const std::vector<std::string>& StatusWords();
/// QUEUEING or RUNNING, as core::FamiliarStatus() has it for every job in the state of that name;
/// empty where it depends on the job.
std::string_view FamiliarWordOf(std::string_view state_name);

/// What an option that takes such words was given, in upper case: "running,failed" and repeated
/// options alike. kInvalidArgument for a word that is not among `known`, with the nearest one.
base::Result<std::vector<std::string>> ReadStatusWords(const std::string& option,
                                                       const std::vector<std::string>& given,
                                                       const std::vector<std::string>& known);

}  // namespace jobman::cli
