#include "http/ca_bundle.hpp"

#include <unistd.h>

#include "jobman/base/env.hpp"
#include "jobman/base/log.hpp"

namespace jobman::http {
namespace {

bool IsReadable(const base::Path& file) {
  return access(file.c_str(), R_OK) == 0 && base::FileSize(file).value_or(0) > 0;
}

/// What the tarball brings along (packaging/package.sh).
base::Path PackedCaBundle() {
  return base::SelfExe().parent_path().parent_path() / "share/jobman/ca-certificates.crt";
}

}  // namespace

const std::vector<base::Path>& WellKnownCaBundles() {
  static const std::vector<base::Path> kFiles = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL, Rocky, Amazon
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // newer RHEL
      "/etc/ssl/cert.pem",                                  // Alpine
      "/etc/pki/tls/cacert.pem",                            // OpenELEC
  };
  return kFiles;
}

base::Path ChooseCaBundle(const std::string& named, const std::vector<base::Path>& known,
                          const base::Path& packed) {
  if (!named.empty()) return named;
  for (const base::Path& file : known)
    if (IsReadable(file)) return file;
  return IsReadable(packed) ? packed : base::Path{};
}

void UseCaBundle(CURL* easy) {
  static const base::Path kChosen = [] {
    base::Path chosen = ChooseCaBundle(base::GetEnv("SSL_CERT_FILE").value_or(""),
                                       WellKnownCaBundles(), PackedCaBundle());
    base::Log(base::LogLevel::kDebug, "http", "certificates of authorities: {}",
              chosen.empty() ? "where libcurl looks" : chosen.string());
    return chosen;
  }();
  if (!kChosen.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, kChosen.c_str());
}

}  // namespace jobman::http
