#pragma once

#include <string>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::cli {

/// The words of core::StatusWord() and core::FamiliarStatus(), in the order of a job's life.
const std::vector<std::string>& StatusWords();

/// The values of an option that takes such words, in upper case. "running,failed" and repeated
/// options mean the same. kInvalidArgument if a word is not in `known`, with the nearest one.
base::Result<std::vector<std::string>> ReadStatusWords(const std::string& option,
                                                       const std::vector<std::string>& given,
                                                       const std::vector<std::string>& known);

}  // namespace jobman::cli
