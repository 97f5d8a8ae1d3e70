#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "jobman/http/transport.hpp"

namespace jobman::http {

/// "jobman/<version>".
std::string DefaultUserAgent();
/// "7.88.1": of the library that is loaded.
std::string CurlVersion();

/// Limits of a CurlTransport.
struct CurlOptions {
  std::string user_agent = DefaultUserAgent();
  Duration connect_timeout = std::chrono::seconds{10};
  std::size_t max_response_bytes = std::size_t{64} << 20U;  ///< after decompression
  std::size_t max_header_bytes = std::size_t{256} << 10U;
  long max_host_connections = 8;  ///< further requests wait for one of these
  long max_idle_connections = 16;
};

/// A Transport over libcurl, driven by the loop: keep-alive, HTTP/2 if offered, TLS verified, gzip,
/// no redirects, no signals. The environment's proxies are used, except for loopback addresses.
/// Must be destroyed before the loop's io_context.
/// The error says why libcurl could not be started.
base::Result<std::unique_ptr<Transport>> MakeCurlTransport(asio::any_io_executor executor,
                                                           CurlOptions options = {});

}  // namespace jobman::http
