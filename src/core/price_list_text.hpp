#pragma once

#include <string_view>

namespace jobman::core {

/// The list that is built in: src/core/price_list.json.
std::string_view PriceListText();

}  // namespace jobman::core
