#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jobman/base/waiters.hpp"
#include "jobman/client/doctor.hpp"

namespace jobman::client {

/// What the checks of one Diagnose() share.
struct Checkup {
  Context context = {};
  Probes probes = {};
  Examination about = {};
  std::optional<bool> logged_in = {};  ///< nothing: CheckCredentials() has not ended
  base::Waiters login_ended = {};
};
using CheckupPtr = std::shared_ptr<Checkup>;

// One check each. The name is the Finding's.
base::Task<Finding> CheckCredentials(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckProject(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckClock(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckApi(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckZone(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckOsLogin(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckAddresses(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckDisks(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckQuota(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckKey(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckAgent(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckHost(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckFolder(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckStore(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckController(CheckupPtr checkup, std::string name);
base::Task<Finding> CheckVersions(CheckupPtr checkup, std::string name);

/// Waits for CheckCredentials(). Whether there is a token.
base::Task<bool> AwaitLogin(CheckupPtr checkup);

Finding IsFine(std::string check, std::string found);
Finding IsOdd(std::string check, std::string found, std::string cure);
Finding IsSkipped(std::string check, std::string why);
/// `cure` is for an error without a hint. No failure is without a cure: there is a general one.
Finding HasFailed(std::string check, base::Error error, std::string cure = {});

}  // namespace jobman::client
