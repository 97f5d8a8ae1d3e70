#pragma once

#include <string>
#include <string_view>

namespace jobman::base {

/// SHA-256 in lower-case hexadecimal, 64 characters.
std::string Sha256Hex(std::string_view bytes);
/// Standard base64 with padding.
std::string Base64(std::string_view bytes);
/// `bytes` random bytes of the system's generator, in hexadecimal.
std::string RandomHex(int bytes);

}  // namespace jobman::base
