#include "cli/views/error.hpp"

#include <nlohmann/json.hpp>

namespace jobman::cli {

std::string DumpJson(const base::OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, base::OrderedJson::error_handler_t::replace);
}

namespace views {

std::string RenderText(const Failure& view, const ui::Style& style) {
  std::string text =
      ui::Paint(ui::Tone::kBad, "jobman:", style) + " " + ui::CleanLines(view.error.ToString());
  if (!view.error.hint.empty()) text += "\n  " + ui::CleanLines(view.error.hint);
  return text + "\n";
}

base::OrderedJson ToJson(const base::Error& error) {
  return {{"code", base::CodeName(error.code)},
          {"reason", base::ReasonName(error.reason)},
          {"message", error.ToString()},
          {"hint", error.hint}};
}

base::OrderedJson ToJson(const Failure& view) {
  base::OrderedJson error = ToJson(view.error);
  error["exit_code"] = view.exit_code;
  return {{"error", error}};
}

}  // namespace views
}  // namespace jobman::cli
