#pragma once

#include <string>

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

// The one text of what comes into a decision and what comes out of it: for the journal, the log,
// the stories and the walks of the tests. One line each, for people; no program reads it.

/// "SliceSeen train-000042-a1: ACTIVE, READY on 4 hosts".
std::string Describe(const Observation& seen);
/// "StopStage setup-0 of attempt 2".
std::string Describe(const Effect& effect);
/// "CreateSlice": the first word of the above.
std::string_view EffectName(const Effect& effect);
/// What an effect acts on: the rest of it.
std::string EffectObject(const Effect& effect);
/// "RUNNING -> BACKOFF; DeleteSlice train-000042-a1; slice ... : trying again".
std::string Describe(const Job& before, const Step& step);

}  // namespace jobman::core
