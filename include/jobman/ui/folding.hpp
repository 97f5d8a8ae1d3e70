#pragma once

#include <map>
#include <string>
#include <vector>

namespace jobman::ui {

/// Groups hosts with the same output, so that a thousand equal outputs are shown once.
///
///     hosts 0-2,5 (4): ok
///     host 3:
///     first line
///     second line
///
/// Groups are ordered by their lowest host. Each different text is stored once.
class Folding {
 public:
  /// The complete output of a host; call once per host.
  void Add(int host, std::string text);
  /// Ends with a line break; empty when nothing was added.
  std::string Render() const;

  struct Group {
    std::vector<int> hosts = {};  ///< sorted
    std::string text = {};
  };
  std::vector<Group> Groups() const;

 private:
  std::map<std::string, std::vector<int>> hosts_by_text_ = {};
};

/// "host 3", "hosts 0-2,5 (4)".
std::string HostsLabel(const std::vector<int>& sorted_hosts);

}  // namespace jobman::ui
