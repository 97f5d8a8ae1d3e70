#pragma once

#include "jobman/base/result.hpp"

namespace jobman::ssh {

/// Opens libssh, unless it is open (docs/adr/0033-curl-when-needed.md). Any function of libssh
/// opens it as well. Error: kInternal if there is none.
base::Status OpenSshLibrary();

}  // namespace jobman::ssh
