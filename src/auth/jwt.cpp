#include "auth/jwt.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "jobman/base/hash.hpp"

namespace jobman::auth {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;

/// A key with a passphrase is refused: nobody is here to be asked.
int NoPassphrase(char*, int, int, void*) {
  return -1;
}

Key ReadKey(const std::string& pem) {
  const Bio memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!memory) return nullptr;
  Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  return key;
}

/// RSASSA-PKCS1-v1_5 with SHA-256; empty if that failed.
std::string Sign(EVP_PKEY* key, std::string_view text) {
  const Digest digest(EVP_MD_CTX_new());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (!digest || EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &size, bytes, text.size()) != 1) {
    return {};
  }
  std::string signature(size, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(digest.get(), out, &size, bytes, text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

}  // namespace

std::string Base64Url(std::string_view bytes) {
  std::string text = base::Base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

base::Result<std::string> SignJwt(const base::Json& header, const base::Json& claims,
                                  const std::string& key) {
  const Key rsa = ReadKey(key);
  if (!rsa || EVP_PKEY_base_id(rsa.get()) != EVP_PKEY_RSA) {
    return base::InvalidArgument("its \"private_key\" is no RSA key in PEM without a passphrase");
  }
  const std::string text = Base64Url(header.dump()) + "." + Base64Url(claims.dump());
  const std::string signature = Sign(rsa.get(), text);
  ERR_clear_error();
  if (signature.empty()) return base::Internal("OpenSSL could not sign with the \"private_key\"");
  return text + "." + Base64Url(signature);
}

}  // namespace jobman::auth
