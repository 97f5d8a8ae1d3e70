#pragma once

#include <string>

#include "jobman/core/reconcile.hpp"

namespace jobman::core {

// How observations, effects and steps are written in the journal, the log, and the stories and
// walks of the tests. One line each, for people; no program parses it.

/// "SliceSeen train-000042-a1: ACTIVE, READY on 4 hosts".
std::string Describe(const Observation& seen);
/// "StopStage setup-0 of attempt 2".
std::string Describe(const Effect& effect);
/// "CreateSlice": the first word of Describe(effect).
std::string_view EffectName(const Effect& effect);
/// The rest of it: what the effect acts on.
std::string EffectObject(const Effect& effect);
/// "RUNNING -> BACKOFF; DeleteSlice train-000042-a1; slice ... : trying again".
std::string Describe(const Job& before, const Step& step);

}  // namespace jobman::core
