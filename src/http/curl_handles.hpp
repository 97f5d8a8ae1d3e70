#pragma once

#include <curl/curl.h>

#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"

namespace jobman::http {

using UniqueEasy = base::UniqueHandle<void, curl_easy_cleanup>;
using UniqueMulti = base::UniqueHandle<void, curl_multi_cleanup>;
using UniqueHeaderList = base::UniqueHandle<curl_slist, curl_slist_free_all>;

/// Starts libcurl once for the process; the error is what the first start said.
base::Status StartCurl();

/// What a failed exchange is told as. `peer` is "HOST port N".
base::Error ToError(CURL* easy, CURLcode code, const std::string& peer, const std::string& detail);

}  // namespace jobman::http
