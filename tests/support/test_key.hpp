#pragma once

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::test {

/// An RSA key, made once. Verifies what was signed with it.
class TestKey {
 public:
  TestKey() : key_(EVP_RSA_gen(2048)) {
    BIO* const memory = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(memory, key_, nullptr, nullptr, 0, nullptr, nullptr);
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory, &text);
    pem_.assign(text, static_cast<std::size_t>(size));
    BIO_free(memory);
  }
  ~TestKey() { EVP_PKEY_free(key_); }
  TestKey(const TestKey&) = delete;
  TestKey& operator=(const TestKey&) = delete;

  const std::string& pem() const { return pem_; }
  /// The claims of a token, if the key has signed it; null otherwise.
  base::Json Verify(const std::string& jwt, base::Json* header = nullptr) const {
    const auto parts = base::Split(jwt, '.');
    if (parts.size() != 3) return {};
    const std::string text = parts[0] + "." + parts[1];
    const std::string signature = Decode(parts[2]);
    EVP_MD_CTX* const digest = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(digest, nullptr, EVP_sha256(), nullptr, key_);
    const int good = EVP_DigestVerify(
        digest, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
        reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(digest);
    if (good != 1) return {};
    if (header != nullptr) *header = base::ParseJson(Decode(parts[0])).value_or(base::Json());
    return base::ParseJson(Decode(parts[1])).value_or(base::Json());
  }

 private:
  /// Of base64url without padding, which is what RFC 7515 asks for.
  static std::string Decode(std::string text) {
    EXPECT_EQ(text.find_first_of("=+/"), std::string::npos) << "not base64url: " << text;
    text = base::ReplaceAll(base::ReplaceAll(std::move(text), "-", "+"), "_", "/");
    const std::size_t padding = (4 - text.size() % 4) % 4;
    text.append(padding, '=');
    std::string bytes(text.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    EXPECT_GE(size, 0);
    bytes.resize(bytes.size() - padding);
    return bytes;
  }
  EVP_PKEY* key_;
  std::string pem_ = {};
};

}  // namespace jobman::test
