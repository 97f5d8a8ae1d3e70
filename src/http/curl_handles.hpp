#pragma once

#include <curl/curl.h>

#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::http {

using UniqueEasy = base::UniqueHandle<void, curl_easy_cleanup>;
using UniqueMulti = base::UniqueHandle<void, curl_multi_cleanup>;
using UniqueHeaderList = base::UniqueHandle<curl_slist, curl_slist_free_all>;

/// Starts libcurl once per process; returns the result of that first start.
base::Status StartCurl();

/// Describes a failed exchange. `peer` is "HOST port N".
base::Error ToError(CURL* easy, CURLcode code, const std::string& peer, const std::string& detail);

}  // namespace jobman::http
