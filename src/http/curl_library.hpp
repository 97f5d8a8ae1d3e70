#pragma once

#include "jobman/base/result.hpp"

namespace jobman::http {

/// Opens libcurl, unless it is open. Most commands send no request, and the thirty libraries that
/// come with it are half of what it takes to start them (docs/adr/0033-curl-when-needed.md). Any
/// function of libcurl opens it as well. Error: kInternal if there is none, or one too old.
base::Status OpenCurlLibrary();

}  // namespace jobman::http
