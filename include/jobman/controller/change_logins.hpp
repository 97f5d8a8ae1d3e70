#pragma once

#include <memory>
#include <string>

#include "jobman/ports/slice_api.hpp"

namespace jobman::controller {

/// Changes who may log in to a node, and waits until the service has done it: a change that is
/// accepted can fail still. kDeadlineExceeded after kLoginChange; the error of the operation.
base::Task<base::Status> ChangeLogins(std::shared_ptr<ports::SliceApi> slices, core::Place place,
                                      std::string node, core::LoginChange change);

}  // namespace jobman::controller
