#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jobman::ui {

/// Folds the lines of many hosts while they come: a line that several hosts wrote between two calls
/// of Flush() is shown once, with their numbers. The lines of each host keep their order.
///
/// Holds kMostBytes of lines at most, and shows them when more come.
class LineFolding {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  /// Takes a line as written, and the hosts that wrote it, ascending; `continued` marks a further
  /// piece of a line (PrefixedOutput).
  using Out =
      std::function<void(const std::vector<int>& hosts, std::string_view line, bool continued)>;

  explicit LineFolding(Out out) : out_(std::move(out)) {}
  void Add(int host, std::string_view line, bool continued);
  /// Shows what is held.
  void Flush();
  bool empty() const { return held_.empty(); }

 private:
  struct Held {
    std::string line = {};
    bool continued = false;
    std::vector<int> hosts = {};
  };

  Out out_;
  std::vector<Held> held_ = {};
  std::map<std::string, std::vector<std::size_t>, std::less<>> places_ =
      {};                                 ///< by line, ascending
  std::map<int, std::size_t> last_ = {};  ///< by host: the place after its latest line
  std::size_t bytes_ = 0;
};

}  // namespace jobman::ui
