#pragma once

#include "cli/app.hpp"

namespace jobman::cli {

/// For commands with --csv, before they do anything. kInvalidArgument: two formats at once.
inline base::Status CheckCsv(const App& app, bool csv) {
  if (!csv || app.mode() != OutputMode::kJson) return base::Ok();
  return base::InvalidArgument("--csv cannot be used with --json", "leave one of them out");
}

/// Shows a view as App::Show() does, or, with --csv, as its RenderCsv(view), which is next to it.
/// --quiet does not change the latter.
template <class View>
void ShowOrCsv(App& app, const View& view, bool csv) {
  if (csv) {
    app.terminal().Out(RenderCsv(view));
  } else {
    app.Show(view);
  }
}

}  // namespace jobman::cli
