#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::cli::views {

/// Which hosts failed and why: those with the same error share a line. For one thread.
class HostFailures {
 public:
  /// Hosts come in the order of their numbers.
  void Add(int host, const base::Error& error);
  /// "hosts 0-3,7: host key refused", and below each error what to do; in the order of the first
  /// hosts. Empty if none failed.
  std::string Text() const;

 private:
  std::map<std::string, std::vector<int>> hosts_of_ = {};  ///< by the error and its cure
};

}  // namespace jobman::cli::views
