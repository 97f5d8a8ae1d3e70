#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/hash.hpp"
#include "jobman/base/result.hpp"
#include "jobman/ui/terminal.hpp"

namespace jobman::ui {

/// Takes the pieces of a text in order; an error ends the reading.
using TakePiece = std::function<base::Status(std::string_view piece)>;
/// Reads a text from its beginning: one that is kept on disk, since it may be larger than memory.
using ReadText = std::function<base::Status(const TakePiece& take)>;

/// What folding needs to know of a text, found while the text passes by.
class TextFacts {
 public:
  void Add(std::string_view piece);
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// No line break, or one at the end.
  bool one_line() const { return one_line_; }
  bool ends_line() const { return ends_line_; }
  /// The same for equal texts only.
  std::string Digest() const { return hash_.Hex(); }

 private:
  base::Sha256 hash_ = {};
  std::int64_t size_ = 0;
  bool one_line_ = true;
  bool ends_line_ = false;
};

/// A host's complete output.
struct HostText {
  TextFacts facts = {};
  ReadText read = {};
};

/// Groups hosts with the same output, so that a thousand equal outputs are shown once.
///
///     hosts 0-2,5 (4): ok
///     host 3:
///     first line
///     second line
///
/// Groups are ordered by their lowest host. Of each different text only the first is read.
class Folding {
 public:
  /// Call once per host.
  void Add(int host, HostText text);
  /// Ends with a line break; prints nothing when nothing was added.
  base::Status Print(Terminal& terminal) const;

  struct Group {
    std::vector<int> hosts = {};  ///< sorted
    HostText text = {};
  };
  std::vector<Group> Groups() const;

 private:
  std::map<std::string, Group> groups_ = {};  ///< by digest
};

/// "host 3", "hosts 0-2,5 (4)".
std::string HostsLabel(const std::vector<int>& sorted_hosts);

}  // namespace jobman::ui
