#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/json.hpp"

namespace jobman::config::convert {

/// A job file in the making. Paths are keys with dots, and numbers for items of lists:
/// "setup.0.strict".
class Draft {
 public:
  /// Sets a value; maps on the way are made. "${" has no meaning in its texts.
  void Set(std::string_view path, base::OrderedJson value, std::string_view comment = {});
  /// Sets a text in which ${...} refers to other keys, as in a job file.
  void SetExpression(std::string_view path, std::string text, std::string_view comment = {});
  /// Sets a member of a map whose keys are free, such as a label.
  void SetMember(std::string_view map, const std::string& key, base::OrderedJson value);
  /// The same for a text in which ${...} refers to other keys.
  void SetMemberExpression(std::string_view map, const std::string& key, std::string text);
  /// Adds to a list, which is made if need be.
  void Append(std::string_view list, base::OrderedJson value);
  /// Says why a value that is no map or list is what it is.
  void Comment(std::string_view path, std::string_view comment);
  bool Has(std::string_view path) const;
  /// A path of this machine that is relative begins at `folder` from now on.
  void MakeAbsolute(std::string_view path, const base::Path& folder);

  /// A line at the head of the file.
  void Remark(std::string line) { head_.push_back(std::move(line)); }

  /// The file: the lines of its head as comments, then the keys in the order of the schema.
  std::string Text() const;

 private:
  base::OrderedJson root_ = base::OrderedJson::object();
  std::map<std::string, std::string> comments_ = {};  ///< by path
  std::vector<std::string> head_ = {};
};

}  // namespace jobman::config::convert
