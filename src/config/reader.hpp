#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.hpp"
#include "config/value.hpp"
#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"
#include "jobman/config/load.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::config {

/// Reads a tree that CheckAgainstSchema() has seen. What is absent, null or broken reads as
/// nothing; what is wrong beyond its type is reported by the callers through Complain().
class Reader {
 public:
  Reader(const Value& root, const LoadRequest& request, Diagnostics& out)
      : root_(root), request_(request), out_(out) {}

  const LoadRequest& request() const { return request_; }
  const Defaults& defaults() const { return request_.defaults; }
  std::optional<std::string> Env(const std::string& name) const;

  const Value* Get(std::string_view path) const;
  bool Has(std::string_view path) const { return Get(path) != nullptr; }
  std::string Text(std::string_view path) const;
  std::optional<bool> Bool(std::string_view path) const;
  std::optional<int> Number(std::string_view path) const;
  /// Nothing: absent; an empty inner optional: unlimited.
  std::optional<std::optional<int>> Count(std::string_view path) const;
  std::optional<base::Duration> Duration(std::string_view path) const;
  core::HostSet Hosts(std::string_view path) const;
  std::map<std::string, std::string> TextMap(std::string_view path) const;
  std::vector<std::string> TextList(std::string_view path) const;
  /// The number of items of a list; 0 when it is absent.
  std::size_t Length(std::string_view path) const;

  /// As Text(), reporting it when it is absent or blank, with what to write.
  std::string Required(std::string_view path, std::string_view example);

  /// Puts "~" and the folder of the file it was written in before a path.
  base::Path ResolvePath(std::string_view path, const std::string& text) const;

  /// The folder of the file that the value was written in.
  base::Path FolderOf(std::string_view path) const;

  /// The value's place, else that of the nearest key above it.
  Position At(std::string_view path) const;

  void Complain(std::string_view path, std::string message, std::string hint = {},
                base::Reason reason = base::Reason::kNone);
  /// Reports "path: message" when the status is an error.
  void Complain(std::string_view path, const base::Status& status);
  /// The same for one key of a map.
  void ComplainOfKey(std::string_view map_path, std::string_view key, const base::Status& status);

  /// Says where a value came from that no file gives.
  void Note(std::string path, std::string where) { notes_[std::move(path)] = std::move(where); }
  const std::map<std::string, std::string>& notes() const { return notes_; }

 private:
  /// Whether the value, or what it stands in, has been reported.
  bool IsBroken(std::string_view path) const;
  const Value& root_;
  const LoadRequest& request_;
  Diagnostics& out_;
  std::map<std::string, std::string> notes_ = {};
};

}  // namespace jobman::config
