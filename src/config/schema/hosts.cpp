// Keys of the job file: how the hosts are reached, and the code that they get.
#include "config/schema/rows.hpp"

namespace jobman::config::schema {
namespace {

constexpr KeyRow kHostRows[] = {
    Key("ssh", T::kMap, "", "How to reach the hosts."),
    Key("ssh.user", T::kText, "job.remote_user, else your login name", "Login name on the hosts."),
    OrEmpty(Key("ssh.private_key", T::kPath, "jobman's own key",
                "Private key file; generated if it does not exist, never overwritten.")),
    OrEmpty(Translated(
        Key("ssh.public_key", T::kPath, "",
            "Public half of ssh.private_key. It is not needed, as the key itself tells it."))),
    Among("ssh.port", T::kNumber, "0-65535", "22", "Port of the hosts' SSH servers."),
    Among("ssh.host_keys", T::kWord, "first-use|strict", "first-use",
          "Whether a host key that the cloud does not vouch for is pinned when first seen, and "
          "shown in history, or the host refused."),
    Among("ssh.address", T::kWord, "external|internal", "external",
          "Which address of the hosts is used; external: where a host has one."),
    OrEmpty(Key("ssh.proxy_jump", T::kText, "none",
                "Jump hosts on the way to the hosts, `[user@]host[:port]` with commas between "
                "them, as OpenSSH's ProxyJump.")),
    OrEmpty(Key("ssh.proxy_command", T::kText, "none",
                "A command whose standard input and output are the connection, as OpenSSH's "
                "ProxyCommand; %h is the host's address, %p its port, %r the login name, %n the "
                "name of its VM.")),
    Key("ssh.identities", T::kMaps, "",
        "Keys of this machine that are copied to ~/.ssh of every host."),
    Required("ssh.identities[].private_key", T::kPath, "~/.ssh/id_ed25519", "The private key."),
    OrEmpty(Key("ssh.identities[].public_key", T::kPath, "none",
                "Its public half. Both keep their file names there.")),
    Key("ssh.identities[].config_entry", T::kText, "",
        "Lines for ~/.ssh/config of the hosts; what else is there is kept."),
    Key("ssh.identities[].authorize", T::kBool, "false",
        "Whether the hosts let this key log in, so that they reach each other."),
    Translated(Key("ssh.tpu_private_key", T::kPath, "",
                   "A key with which the hosts reach each other, in old job files.")),
    Translated(Key("ssh.tpu_public_key", T::kPath, "", "Its public half.")),
    Key("ssh.host_to_host", T::kBool, "false",
        "Whether the hosts reach each other by ssh, with a key made for this job. The code and "
        "what `jobman sync` sends then go over your uplink once, and from host to host."),
    Key("ssh.os_login", T::kBool, "false",
        "Whether hosts are logged in to by OS Login, where an organisation requires it: create "
        "adds the job's public key to the login profile of the account whose credentials it uses, "
        "for a year, and ssh.user becomes the name that the profile gives; the slice gets "
        "enable-oslogin: TRUE. The account needs the role roles/compute.osAdminLogin in the "
        "project."),
    Key("ssh.agent_forwarding", T::kBool, "false",
        "Whether your SSH agent is forwarded to the hosts, so that no key is copied: setup steps, "
        "the command (unless it is in a container), exec and ssh can use its keys, and so can root "
        "there. The agent is that of the controller's SSH_AUTH_SOCK, and is away while no "
        "controller is connected."),

    Key("code", T::kMap, "",
        "Files that every host gets before anything else runs there. `create` takes a snapshot, "
        "which every attempt uses; the command and the steps of setup start in their folder."),
    Key("code.dir", T::kPath, "none",
        "A folder of this machine. What git ignores there is left out. This, or code.git."),
    OrOne(Key("code.exclude", T::kTextList, "",
              "What else to leave out of code.dir, also if git tracks it: patterns as in "
              ".gitignore.")),
    Key("code.git", T::kText, "none",
        "URL or path of a Git repository. It is fetched by `create`, on this machine, with your "
        "own credentials."),
    Key("code.ref", T::kText, "HEAD", "Branch, tag or commit of code.git."),
    Key("code.submodules", T::kBool, "false", "Whether the submodules of code.git are taken too."),
    Key("code.path", T::kText, "~/NAME, named as code.dir or code.git",
        "The folder on the hosts. What earlier snapshots put there is replaced, and nothing else."),
    Among("code.max_size", T::kSize, "1-2147483648", "100M",
          "Largest snapshot, packed, at most 2G."),
    Key("code.snapshot", T::kMap, "",
        "What `create` took, for show --json. Each `create` takes it anew."),
    Key("code.snapshot.sha256", T::kText, "", "SHA-256 of the archive."),
    Key("code.snapshot.files", T::kNumber, "", "How many files it has."),
    Key("code.snapshot.packed", T::kSize, "", "Size of the archive."),
    Key("code.snapshot.unpacked", T::kSize, "", "Size of the files."),
    Key("code.snapshot.commit", T::kText, "", "The commit, if one is known."),
    Key("code.snapshot.changed", T::kBool, "",
        "Whether code.dir had changes that the commit lacks."),
};

}  // namespace

std::span<const KeyRow> HostRows() {
  return kHostRows;
}

}  // namespace jobman::config::schema
