#pragma once

#include <string>

namespace jobman::sim {

/// An ed25519 key pair in OpenSSH's formats.
struct HostKey {
  std::string public_base64 = {};  ///< the blob of an "ssh-ed25519 AAAA.." line
  std::string private_file = {};   ///< the content of a private key file
};

/// A new key takes some tens of microseconds here; ssh-keygen takes milliseconds.
HostKey MakeHostKey(const std::string& comment);

}  // namespace jobman::sim
