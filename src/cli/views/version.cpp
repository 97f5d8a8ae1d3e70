#include "cli/views/version.hpp"

namespace jobman::cli::views {

std::string RenderText(const Version& view, const ui::Style& /*style*/) {
  return "jobman " + view.number + "\n";
}

std::string RenderQuiet(const Version& view) {
  return view.number + "\n";
}

base::OrderedJson ToJson(const Version& view) {
  return {{"version", view.number}, {"compiler", view.compiler}};
}

}  // namespace jobman::cli::views
