#include "cli/views/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "cli/wrapping.hpp"
#include "jobman/base/clean.hpp"

namespace jobman::cli {
namespace {

/// Escapes the control characters that JSON allows in strings: \u007f. Readers see no difference.
std::string EscapeControls(std::string text) {
  if (base::PlainLength(text) == text.size()) return text;
  std::string escaped;
  escaped.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t plain = base::PlainLength(rest);
    escaped += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const auto [code, size] = base::FirstChar(rest);
    if (code >= 0x20 && base::IsControl(code)) {
      escaped += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      escaped += rest.substr(0, size);
    }
    rest.remove_prefix(size);
  }
  return escaped;
}

}  // namespace

std::string DumpJson(const base::OrderedJson& json, int indent) {
  return EscapeControls(json.dump(indent, ' ', false, base::OrderedJson::error_handler_t::replace));
}

namespace views {

std::string RenderText(const Failure& view, const ui::Style& style) {
  constexpr std::string_view kHead = "jobman:";
  std::string text = std::string(kHead) + " " + ui::CleanLines(view.error.ToString());
  if (!view.error.hint.empty()) text += "\n  " + ui::CleanLines(view.error.hint);
  text = WrapMessage(text, style.width);
  return ui::Paint(ui::Tone::kBad, kHead, style) + text.substr(kHead.size()) + "\n";
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
