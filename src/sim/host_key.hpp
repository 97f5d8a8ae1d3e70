#pragma once

#include <string>

namespace jobman::sim {

/// An ed25519 key as OpenSSH keeps it.
struct HostKey {
  std::string public_base64 = {};  ///< the blob of an "ssh-ed25519 AAAA.." line
  std::string private_file = {};   ///< what the file of the private key holds
};

/// A new key, in some tens of microseconds; ssh-keygen as a process takes milliseconds.
HostKey MakeHostKey(const std::string& comment);

}  // namespace jobman::sim
