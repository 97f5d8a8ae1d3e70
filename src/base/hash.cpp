#include "jobman/base/hash.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <vector>

#include "jobman/base/check.hpp"

namespace jobman::base {
namespace {

std::string Hex(const unsigned char* bytes, std::size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 0xf];
  }
  return hex;
}

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  JM_CHECK(done == 1 && size == 32, "OpenSSL has no SHA-256");
  return Hex(digest.data(), size);
}

std::string Base64(std::string_view bytes) {
  // In blocks of whole triples, because EVP_EncodeBlock counts in int.
  constexpr std::size_t kBlock = std::size_t{3} << 20;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4 + 1);
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, kBlock);
    const std::size_t at = text.size();
    text.resize(at + (block.size() + 2) / 3 * 4 + 1);
    auto* out = reinterpret_cast<unsigned char*>(text.data() + at);
    const int written = EVP_EncodeBlock(out, Unsigned(block), static_cast<int>(block.size()));
    text.resize(at + static_cast<std::size_t>(written));
    bytes.remove_prefix(block.size());
  }
  return text;
}

std::string RandomHex(int bytes) {
  std::vector<unsigned char> random(static_cast<std::size_t>(std::max(bytes, 0)));
  JM_CHECK(RAND_bytes(random.data(), static_cast<int>(random.size())) == 1,
           "the system's random generator failed");
  return Hex(random.data(), random.size());
}

}  // namespace jobman::base
