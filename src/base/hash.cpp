#include "jobman/base/hash.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>
#ifdef JOBMAN_LIBMD
#include <sha2.h>
#endif

#include <algorithm>
#include <array>
#include <vector>

namespace jobman::base {
namespace {

std::string ToHex(const unsigned char* bytes, std::size_t size) {
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

#ifdef JOBMAN_LIBMD
/// `list` and other short commands hash a line or two, which is not worth the opening of libcrypto
/// (ADR 33).
std::string ShortSha256Hex(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> hex = {};
  SHA256Data(Unsigned(bytes), bytes.size(), hex.data());
  return hex.data();
}
#endif

}  // namespace

// OpenSSL 3 wants hashes by EVP. The first one reads its configuration and looks for providers,
// half a millisecond of each short command; these functions only compute.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// OpenSSL's state of a hash.
struct Sha256::Impl {
  Impl() { SHA256_Init(&state); }
  void Add(std::string_view bytes) { SHA256_Update(&state, bytes.data(), bytes.size()); }
  std::string Hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
    SHA256_Final(digest.data(), &state);
    return ToHex(digest.data(), digest.size());
  }

  SHA256_CTX state = {};
};

#pragma GCC diagnostic pop

// Made by the first bytes: to open libcrypto takes longer than a short command should, and most
// input of `exec` is empty.
Sha256::Sha256() = default;
Sha256::~Sha256() = default;
Sha256::Sha256(const Sha256& other) {
  *this = other;
}
Sha256& Sha256::operator=(const Sha256& other) {
  impl_ = other.impl_ ? std::make_unique<Impl>(*other.impl_) : nullptr;
  return *this;
}

void Sha256::Add(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!impl_) impl_ = std::make_unique<Impl>();
  impl_->Add(bytes);
}

std::string Sha256::Hex() const {
  Impl state = impl_ ? *impl_ : Impl();  // the end is the end of the state, too
  return state.Hex();
}

std::string Sha256Hex(std::string_view bytes) {
#ifdef JOBMAN_LIBMD
  constexpr std::size_t kShort = std::size_t{64} << 10;
  if (bytes.size() <= kShort) return ShortSha256Hex(bytes);
#endif
  Sha256 hash;
  hash.Add(bytes);
  return hash.Hex();
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

std::string KeyFingerprint(std::string_view key) {
  const std::size_t space = key.find(' ');
  if (space == std::string_view::npos) return std::string(key);
  std::string type(key.substr(0, space));
  const std::string text(key.substr(space + 1, key.find(' ', space + 1) - space - 1));
  std::vector<unsigned char> blob(text.size() / 4 * 3 + 3);
  const int size = EVP_DecodeBlock(blob.data(), Unsigned(text), static_cast<int>(text.size()));
  const auto padding = static_cast<int>(std::count(text.begin(), text.end(), '='));
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash = {};
  unsigned length = 0;
  if (size < padding || EVP_Digest(blob.data(), static_cast<std::size_t>(size - padding),
                                   hash.data(), &length, EVP_sha256(), nullptr) != 1) {
    return std::string(key);
  }
  std::string print = Base64({reinterpret_cast<const char*>(hash.data()), length});
  while (print.ends_with('=')) print.pop_back();
  if (type.starts_with("ecdsa-")) type = "ecdsa";
  if (type.starts_with("ssh-")) type.erase(0, 4);
  for (char& c : type) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return type + " SHA256:" + print;
}

}  // namespace jobman::base
