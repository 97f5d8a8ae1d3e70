#include "remote/setup_calls.hpp"
#include "remote/setup_text.hpp"

namespace jobman::remote {

std::string CodeCalls(const core::CodeSpec& code) {
  return std::string(SetupText("environment")) +
         ShellCall("jb_code", {code.path, code.snapshot.sha256});
}

}  // namespace jobman::remote
