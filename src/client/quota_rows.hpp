#pragma once

#include <optional>
#include <vector>

#include "jobman/client/quota.hpp"

namespace jobman::client {

/// What the services said.
struct QuotaSeen {
  std::vector<ports::TpuLimit> limits = {};
  std::optional<std::vector<QuotaHolder>> holders = {};  ///< nothing: not known
};

/// The rows of an answer, by what they count and their place. A limit for places that have none of
/// their own becomes a row for each of them that the query names, or where something is held.
struct QuotaRows {
  std::vector<QuotaRow> rows = {};
  int left_out = 0;
};
QuotaRows MakeQuotaRows(const QuotaSeen& seen, const QuotaQuery& query);

}  // namespace jobman::client
