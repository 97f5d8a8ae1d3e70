#include "jobman/config/prices.hpp"

#include "jobman/base/env.hpp"
#include "jobman/config/places.hpp"

namespace jobman::config {
namespace {

base::Result<core::PriceList> ReadUsersPrices(const std::string& text) {
  JM_ASSIGN_OR_RETURN(core::PriceList list, core::ReadPriceList(text));
  for (const core::ChipPrice& row : list.chips) JM_TRY(CheckZone(row.zone));
  return list;
}

}  // namespace

base::Path UserFolder() {
  const auto named = base::GetEnv("XDG_CONFIG_HOME");
  return (named ? base::Path(*named) : base::HomeDir() / ".config") / "jobman";
}

base::Result<core::PriceList> LoadPrices(const base::Path& folder) {
  constexpr std::size_t kLongestPriceFile = std::size_t{1} << 20;
  const base::Path file = folder / "prices.json";
  const auto text = base::ReadRegularFile(file, kLongestPriceFile);
  if (!text.ok() && text.error().code == base::Code::kNotFound) return core::BuiltInPrices();
  base::Result<core::PriceList> list = core::PriceList();
  if (text.ok()) {
    list = ReadUsersPrices(*text);
  } else {
    list = text.error();
  }
  if (!list.ok()) {
    // What a file cannot be read for names it already.
    const std::string where = text.ok() ? file.string() + ": " : std::string();
    return base::InvalidArgument(
        "your price list: " + where + list.error().message,
        "correct it (its form: reference.md, \"A price list of your own\"), or move it away: "
        "then the built-in prices count");
  }
  core::PriceSource& source = list->sources.front();
  if (source.name.empty()) source.name = file.filename().string();
  return core::OverOther(*std::move(list), core::BuiltInPrices());
}

}  // namespace jobman::config
