#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobman/client/quota.hpp"

namespace jobman::client {

/// Whether the quota counts TensorCores: its name for people says so, or it is of v2 or v3. Of
/// others Google says "chips or TensorCores", and nothing is refused that chips leave room for.
///
/// Source: Cloud TPU documentation, page "Quotas".
bool CountsCores(const QuotaRow& row);
/// What the job's slices take of the row's quota, in TensorCores or else chips; 0 if it is another
/// one's, no number is told as its limit, or the type is not known here.
std::int64_t NeedFrom(const core::TpuSpec& tpu, const QuotaRow& row);
/// The row whose limit the slices exceed even if no other held any of it; null if there is none.
/// The rows are of the job's zone.
const QuotaRow* FindTooSmall(const core::TpuSpec& tpu, const std::vector<QuotaRow>& rows);
/// What is held of it, in the same unit.
std::int64_t HeldOf(const QuotaRow& row);
/// That unit: "TensorCores" or "chips".
const char* UnitOf(const QuotaRow& row);
/// "v4 spot"
std::string NameOfQuota(const QuotaRow& row);
/// "000042, bobs" of all rows; empty if nothing is held.
std::string HolderNames(const std::vector<QuotaRow>& rows);
/// What to do about a limit that is too small: types, pricings and zones that fit, of what is
/// known. `limits` are of all places, `rows` of the job's zone.
std::string CureForQuota(const core::TpuSpec& tpu, const QuotaRow& small,
                         const std::vector<QuotaRow>& rows,
                         const std::vector<ports::TpuLimit>& limits);
/// "ask for more (service: Cloud TPU API) at https://..."
std::string AskForQuota(const std::string& project);

}  // namespace jobman::client
