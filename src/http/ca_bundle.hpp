#pragma once

#include <curl/curl.h>

#include <string>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::http {

/// Where distributions keep the certificates of authorities, as one PEM file each; the first is
/// Debian's. Source: the paths that curl's configure and Go's crypto/x509/root_linux.go look at.
const std::vector<base::Path>& WellKnownCaBundles();

/// The file of certificates to trust: `named` (of $SSL_CERT_FILE, as OpenSSL has it) if it is not
/// empty, else the first of `known` that can be read, else `packed`, else empty. The packed ones
/// are the last resort since nobody keeps them up to date.
base::Path ChooseCaBundle(const std::string& named, const std::vector<base::Path>& known,
                          const base::Path& packed);

/// Sets it for an exchange. A libcurl that was built on another distribution looks where that one
/// keeps it. The choice is made once per process.
void UseCaBundle(CURL* easy);

}  // namespace jobman::http
