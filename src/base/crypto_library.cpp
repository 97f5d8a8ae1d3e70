// The functions of libcrypto that jobman calls, by their own names, so that no caller knows: each
// passes its arguments on to the library, which the first one opens. A function that is missing
// here does not link.
#define OPENSSL_SUPPRESS_DEPRECATED  // what hash.cpp says of SHA256_Init holds here, too
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "jobman/base/late_library.hpp"

namespace {

template <class Function>
Function Find(const char* name) {
  static const jobman::base::LateLibrary kCrypto("libcrypto.so.3", "libssl3");
  return reinterpret_cast<Function>(kCrypto.Find(name));
}

}  // namespace

// Hidden: libcrypto's own calls must find its own functions.
#define JM_CRYPTO(result, name, parameters, arguments)                      \
  extern "C" __attribute__((visibility("hidden"))) result name parameters { \
    static const auto kFunction = Find<decltype(&(name))>(#name);           \
    return kFunction arguments;                                             \
  }

JM_CRYPTO(void, BIO_free_all, (BIO * bio), (bio))
JM_CRYPTO(BIO*, BIO_new_mem_buf, (const void* bytes, int size), (bytes, size))
JM_CRYPTO(void, ERR_clear_error, (), ())
JM_CRYPTO(int, EVP_DecodeBlock, (unsigned char* to, const unsigned char* from, int size),
          (to, from, size))
JM_CRYPTO(int, EVP_Digest,
          (const void* data, size_t count, unsigned char* hash, unsigned int* size,
           const EVP_MD* type, ENGINE* engine),
          (data, count, hash, size, type, engine))
JM_CRYPTO(int, EVP_DigestSign,
          (EVP_MD_CTX * context, unsigned char* signature, size_t* size, const unsigned char* text,
           size_t text_size),
          (context, signature, size, text, text_size))
JM_CRYPTO(int, EVP_DigestSignInit,
          (EVP_MD_CTX * context, EVP_PKEY_CTX** key_context, const EVP_MD* type, ENGINE* engine,
           EVP_PKEY* key),
          (context, key_context, type, engine, key))
JM_CRYPTO(int, EVP_EncodeBlock, (unsigned char* to, const unsigned char* from, int size),
          (to, from, size))
JM_CRYPTO(void, EVP_MD_CTX_free, (EVP_MD_CTX * context), (context))
JM_CRYPTO(EVP_MD_CTX*, EVP_MD_CTX_new, (), ())
JM_CRYPTO(void, EVP_PKEY_free, (EVP_PKEY * key), (key))
JM_CRYPTO(int, EVP_PKEY_get_base_id, (const EVP_PKEY* key), (key))
JM_CRYPTO(const EVP_MD*, EVP_sha256, (), ())
JM_CRYPTO(EVP_PKEY*, PEM_read_bio_PrivateKey,
          (BIO * bio, EVP_PKEY** key, pem_password_cb* ask, void* data), (bio, key, ask, data))
JM_CRYPTO(int, RAND_bytes, (unsigned char* bytes, int count), (bytes, count))
JM_CRYPTO(int, SHA256_Final, (unsigned char* hash, SHA256_CTX* state), (hash, state))
JM_CRYPTO(int, SHA256_Init, (SHA256_CTX * state), (state))
JM_CRYPTO(int, SHA256_Update, (SHA256_CTX * state, const void* data, size_t size),
          (state, data, size))
