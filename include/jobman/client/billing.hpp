#pragma once

#include <string>

#include "jobman/client/context.hpp"

namespace jobman::client {

struct BillingQuery {
  core::CloudSpec cloud = {};
  ports::BillingQuestion question = {};
};

/// Asks BigQuery within kBillingAnswer. kUnimplemented for a cloud without it, such as a simulator.
/// Other errors name the table; what is refused, reads too much (kOutOfRange) or takes too long has
/// a hint.
base::Task<base::Result<ports::BillingAnswer>> AskBilling(Context context, BillingQuery query);

/// The midnight UTC with which the last `days` days begin, today included.
base::TimePoint BeginOfDays(base::TimePoint now, int days);

}  // namespace jobman::client
