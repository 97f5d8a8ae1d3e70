#pragma once

#include <string_view>
#include <vector>

namespace jobman::core {

/// Whether ssh, sshd or jobman keeps a file of this name in ~/.ssh of a host, whose place no key of
/// ssh.identities may take.
bool IsSshsOwnFile(std::string_view name);

struct JobSpec;

/// A setup step that a section of the job file asks for. Its script is rendered when it runs, by
/// remote::SetupScript.
enum class BuiltIn { kCode, kIdentities, kPeers, kGcsfuse, kNfs, kDocker, kConda, kVenv, kChecks };

/// Those that the job needs before the steps of `setup`, in the order in which they run.
std::vector<BuiltIn> BuiltInsOf(const JobSpec& spec);
/// Those after the steps of `setup`: checks of what all of them have made.
std::vector<BuiltIn> LastBuiltInsOf(const JobSpec& spec);
/// "gcsfuse": the name of the step in logs and messages, and of the section that asks for it
/// (kIdentities and kPeers: of keys of `ssh`).
std::string_view BuiltInName(BuiltIn step);
/// Whether what the step does may vanish while the machine runs on, as a mount does: when the setup
/// is in doubt, it looks again.
bool MayVanish(BuiltIn step);
/// Whether it is done again on all hosts whenever one of them needs it: they must agree on a key.
bool IsShared(BuiltIn step);

}  // namespace jobman::core
