#include "config/convert/reports.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::config::convert {

void Reports::Refuse(Position at, std::string what, std::string cure) {
  out_.Report(at, std::move(what), std::move(cure), base::Reason::kNotSupported);
}

void Reports::Wrong(Position at, std::string what, std::string cure) {
  out_.Report(at, std::move(what), std::move(cure));
}

void Reports::PassOver(Position at, const std::string& what, std::string_view why) {
  const auto same = std::find_if(passed_.begin(), passed_.end(),
                                 [&](const Passed& passed) { return passed.why == why; });
  if (same == passed_.end()) return passed_.push_back({at, {what}, std::string(why)});
  const auto& names = same->names;
  if (std::find(names.begin(), names.end(), what) == names.end()) same->names.push_back(what);
}

void Reports::Finish() {
  for (const Passed& passed : passed_) {
    const std::string what = base::Join(passed.names, ", ") + ": passed over";
    out_.Warn(passed.at, what, passed.why);
    draft_.Remark(what + ": " + passed.why);
  }
}

}  // namespace jobman::config::convert
