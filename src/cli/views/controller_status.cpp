#include "cli/views/controller_status.hpp"

#include "jobman/controller/controller.hpp"

namespace jobman::cli::views {

std::string RenderText(const ControllerStatus& view, const ui::Style&) {
  if (view.trouble)
    return "no controller can work: " + view.trouble->message + "\n  " + view.trouble->hint + "\n";
  if (!view.holder) return "no controller runs; commands start one when they need it\n";
  return "a controller runs: " + controller::HolderText(*view.holder) + "\nits log: " + view.log +
         "\n";
}

std::string RenderQuiet(const ControllerStatus& view) {
  return view.holder ? *view.holder + "\n" : std::string{};
}

base::OrderedJson ToJson(const ControllerStatus& view) {
  base::OrderedJson json = {{"running", view.holder.has_value()}};
  if (view.holder) {
    json["holder"] = *view.holder;
    if (const auto holder = controller::ParseHolder(*view.holder)) json["pid"] = holder->pid;
  }
  json["log"] = view.log;
  if (view.trouble) json["error"] = view.trouble->message;
  return json;
}

}  // namespace jobman::cli::views
