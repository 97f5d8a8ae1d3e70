#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/convert/draft.hpp"
#include "config/diagnostics.hpp"

namespace jobman::config::convert {

/// What a conversion says about the parts that become no key: each is either refused, and nothing
/// is converted, or passed over, with a warning and a line at the head of the job file.
class Reports {
 public:
  Reports(Draft& draft, Diagnostics& out) : draft_(draft), out_(out) {}

  /// "resources.image_id has no meaning here", and what to do instead.
  void Refuse(Position at, std::string what, std::string cure);
  /// What is wrong with the description itself.
  void Wrong(Position at, std::string what, std::string cure = {});
  /// Parts with the same reason become one warning, at the first of them.
  void PassOver(Position at, const std::string& what, std::string_view why);
  /// Writes what PassOver() has collected.
  void Finish();

 private:
  struct Passed {
    Position at = {};
    std::vector<std::string> names = {};
    std::string why = {};
  };
  Draft& draft_;
  Diagnostics& out_;
  std::vector<Passed> passed_ = {};
};

}  // namespace jobman::config::convert
