#include "remote/setup_calls.hpp"

namespace jobman::remote {

std::string NfsCalls(const core::NfsSpec& nfs) {
  return ShellCall("jb_nfs", {nfs.path, nfs.exported});
}

}  // namespace jobman::remote
