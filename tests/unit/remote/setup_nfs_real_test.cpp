// The step of the section nfs with a real server and a real client: nfs-ganesha exports what the
// step writes for exportfs, and libnfs reads and writes it over the loopback interface. Only the
// mount itself is played, since few machines for tests can mount NFS.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jobman/base/handle.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

/// Without exports. No rpcbind, dbus or Kerberos is needed.
constexpr const char* kServer = R"conf(
NFS_CORE_PARAM {
  Bind_addr = 127.0.0.1; NFS_Port = @PORT@; Protocols = 4;
  Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false;
}
NFSV4 { RecoveryBackend = fs; RecoveryRoot = @HOME@/recovery; Graceless = true; }
NFS_KRB5 { Active_krb5 = false; }
)conf";

/// Reads the exports as exportfs does (exports(5)), and has the server export them.
constexpr const char* kExportfs = R"py(#!/usr/bin/python3 -I
import os, re, signal, sys, time
home = "@HOME@/"
if sys.argv[1:] != ["-ra"]:
    sys.exit("exportfs: invalid option")
known = {"rw", "ro", "sync", "async", "no_subtree_check", "subtree_check", "root_squash",
         "no_root_squash", "all_squash"}
blocks = open(home + "server.conf").read()
for number, line in enumerate(open(home + "etc/jobman.exports"), 1):
    row = re.fullmatch(r'"(/[^"]*)"((?: [0-9.]+\([a-z_,]+\))+)', line.rstrip("\n"))
    if not row:
        sys.exit(f"exportfs: {line.rstrip()}: syntax error")
    path = row[1]
    if not os.path.isdir(path):
        sys.exit(f"exportfs: Failed to stat {path}: No such file or directory")
    clients = ""
    for host, options in re.findall(r" ([0-9.]+)\(([a-z_,]+)\)", row[2]):
        said = set(options.split(","))
        if said - known:
            sys.exit(f"exportfs: unknown keyword {sorted(said - known)}")
        access = "RW" if "rw" in said else "RO"
        squash = "No_Root_Squash" if "no_root_squash" in said else "Root_Squash"
        clients += f"CLIENT {{ Clients = {host}; Access_Type = {access}; Squash = {squash}; }}\n"
    blocks += (f'EXPORT {{ Export_Id = {number}; Path = "{path}"; Pseudo = "{path}"; '
               "Access_Type = NONE; SecType = sys; Protocols = 4; Transports = TCP;\n"
               f"FSAL {{ Name = VFS; }}\n{clients}}}\n")
with open(home + "ganesha.conf", "w") as file:
    file.write(blocks)
def reloads():
    return open(home + "ganesha.log").read().count("Reread exports complete")
before = reloads()
os.kill(int(open(home + "ganesha.pid").read()), signal.SIGHUP)
end = time.monotonic() + 30
while reloads() == before:
    if time.monotonic() > end:
        sys.exit("exportfs: the server does not answer")
    time.sleep(0.02)
)py";

/// The real mount and its mount.nfs check the arguments, but do not mount. What the kernel would
/// have to do is tried with libnfs: list the export, write into it, read that. Refusals are worded
/// as mount.nfs does.
constexpr const char* kRealMount = R"sh(#!/bin/sh
exec 2>&1
[ "$1 $2 $3 $#" = '-t nfs -o 6' ] || { echo "mount: bad usage"; exit 1; }
for one in $(printf '%s' "$4" | tr ',' ' '); do
  case $one in
    rw | ro | hard | soft | retry=[0-9]* | timeo=[0-9]* | retrans=[0-9]* | vers=[34]*) ;;
    *) echo "mount.nfs: an incorrect mount option was specified"; exit 32 ;;
  esac
done
timeout -k 5 20 /bin/mount -f "$@" || exit
at="nfs://${5%%:*}${5#*:}" how='?version=4&nfsport=@PORT@'
listed=$(timeout -k 5 10 nfs-ls "$at$how" 2>&1) || {
  case $listed in
    *NFS4ERR_NOENT*) echo "mount.nfs: mounting $5 failed, reason given by server: No such file or directory" ;;
    *NFS4ERR_ACCESS* | *NFS4ERR_PERM*) echo "mount.nfs: access denied by server while mounting $5" ;;
    *) echo "mount.nfs: Connection refused" ;;
  esac
  exit 32
}
case ,$4, in
  *,ro,*) ;;
  *)
    echo "written by root" >@HOME@/probe
    timeout -k 5 10 nfs-cp @HOME@/probe "$at/probe$how" >/dev/null || exit 32
    [ "$(timeout -k 5 10 nfs-cat "$at/probe$how")" = "written by root" ] || exit 32
    ;;
esac
echo "$5" >@HOME@/mounted
)sh";
constexpr const char* kListMounts = "#!/bin/sh\ncat @HOME@/mounted 2>/dev/null\n";
/// The server is up before anything is exported, as on a host.
constexpr const char* kStartServer = "#!/bin/sh\nkill -0 \"$(cat @HOME@/ganesha.pid)\"\n";

class RealNfs : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = Missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
    ASSERT_EQ(host_.Do(InstallCall()).exit_code, 0);
    port_ = FreePort();
    for (const auto& [name, text] : {std::pair{"exportfs", kExportfs},
                                     {"mount", kRealMount},
                                     {"findmnt", kListMounts},
                                     {"service", kStartServer},
                                     {"systemctl", kStartServer}}) {
      Play(name, text);
    }
    std::ofstream(host_.home() / ".profile") << "PATH=" << Home("tools") << ":$PATH\n";
    spec_.nfs.path = Home("shared");
    StartServer();
  }
  void TearDown() override {
    if (server_ <= 0) return;
    // Its orderly end takes seconds.
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
  }
  static std::string Missing() {
    if (getuid() != 0) return "only root may start an NFS server";
    for (const char* program : {"ganesha.nfsd", "nfs-ls", "nfs-cp", "nfs-cat", "mount.nfs",
                                "/usr/bin/python3", "timeout"}) {
      const std::string look = std::string("PATH=$PATH:/usr/sbin:/sbin; command -v ") + program;
      if (std::system((look + " >/dev/null").c_str()) != 0)
        return std::string(program) + " is not installed";
    }
    return "";
  }
  static int FreePort() {
    const base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    return ntohs(name.sin_port);
  }
  std::string Home(const std::string& name) const { return (host_.home() / name).string(); }
  std::string Filled(const std::string& text) const {
    return base::ReplaceAll(base::ReplaceAll(text, "@HOME@/", Home("")), "@PORT@",
                            std::to_string(port_));
  }
  void Play(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(Home("tools"));
    std::ofstream(Home("tools/" + name)) << Filled(text);
    std::filesystem::permissions(Home("tools/" + name), std::filesystem::perms::owner_all);
  }
  void StartServer() {
    std::filesystem::create_directories(Home("recovery"));
    for (const char* file : {"server.conf", "ganesha.conf"})
      std::ofstream(Home(file)) << Filled(kServer);
    const std::string config = Home("ganesha.conf"), log = Home("ganesha.log");
    const std::string pid_file = Home("ganesha.pid");
    server_ = fork();
    if (server_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the test is killed
      const int output = open("/dev/null", O_RDWR);
      for (int fd = 0; fd < 3; ++fd) dup2(output, fd);
      execlp("ganesha.nfsd", "ganesha.nfsd", "-F", "-f", config.c_str(), "-L", log.c_str(), "-p",
             pid_file.c_str(), "-N", "NIV_EVENT", static_cast<char*>(nullptr));
      _exit(127);
    }
    bool ended = false;
    Eventually([&] {
      ended = waitpid(server_, nullptr, WNOHANG) == server_;
      return ended || base::Contains(Slurp(log), "NFS SERVER INITIALIZED");
    });
    if (ended) server_ = 0;
    if (ended || !base::Contains(Slurp(log), "NFS SERVER INITIALIZED"))
      GTEST_SKIP() << "nfs-ganesha does not start here: " << Slurp(log);
  }
  Ended Step(int number) {
    return host_.Run({.run_id = "r" + std::to_string(++runs_),
                      .script = SetupScript(spec_, core::SetupStage{}),
                      .env = {{"JOBMAN_HOST_INDEX", std::to_string(number)},
                              {"JOBMAN_HOSTS", hosts_},
                              {"JOBMAN_HEAD", "127.0.0.1"},
                              {"JOBMAN_NFS_WAIT_S", "0"},
                              {"JOBMAN_EXPORTS", Home("etc/jobman.exports")}}});
  }

  LocalHost host_;
  core::JobSpec spec_;
  std::string hosts_ = "127.0.0.1,127.0.0.2";

 private:
  int port_ = 0;
  pid_t server_ = 0;
  int runs_ = 0;
};

TEST_F(RealNfs, WhatHostZeroExportsTheOthersReadAndWriteAsRoot) {
  const Ended exported = Step(0);
  ASSERT_THAT(exported.err, HasSubstr("exited 0")) << exported.out;
  const Ended mounted = Step(1);
  ASSERT_THAT(mounted.err, HasSubstr("exited 0")) << mounted.out;
  EXPECT_THAT(mounted.out, HasSubstr("mounted 127.0.0.1:" + spec_.nfs.path));
  EXPECT_EQ(Slurp(Home("shared/probe")), "written by root\n") << "on host 0's own disk";
  EXPECT_THAT(Step(1).out, HasSubstr("is mounted on " + spec_.nfs.path + " already"));
}

TEST_F(RealNfs, OnlyHostsOfTheJobMayMountIt) {
  hosts_ = "127.0.0.2,127.0.0.3";
  const Ended exported = Step(0);
  ASSERT_THAT(exported.err, HasSubstr("exited 0")) << exported.out;
  const Ended refused = Step(1);
  EXPECT_THAT(refused.err, HasSubstr("exited 75")) << refused.out;
  EXPECT_THAT(refused.out, HasSubstr("reason given by server"));
  EXPECT_FALSE(std::filesystem::exists(Home("shared/probe")));
}

TEST_F(RealNfs, ANewListOfHostsTakesThePlaceOfTheOld) {
  hosts_ = "127.0.0.2,127.0.0.3";
  ASSERT_THAT(Step(0).err, HasSubstr("exited 0"));
  hosts_ = "127.0.0.1";
  ASSERT_THAT(Step(0).err, HasSubstr("exited 0"));
  const Ended mounted = Step(1);
  EXPECT_THAT(mounted.err, HasSubstr("exited 0")) << mounted.out;
}

TEST_F(RealNfs, APathWithABlankIsExported) {
  spec_.nfs.path = Home("a folder");
  const Ended exported = Step(0);
  ASSERT_THAT(exported.err, HasSubstr("exited 0")) << exported.out;
  const Ended mounted = Step(1);
  EXPECT_THAT(mounted.err, HasSubstr("exited 0")) << mounted.out;
}

TEST_F(RealNfs, AnExportThatTheServerDoesNotHaveIsNamed) {
  spec_.nfs.exported = "127.0.0.1:/nowhere";
  const Ended step = Step(1);
  EXPECT_THAT(step.err, HasSubstr("exited 1")) << step.out;
  EXPECT_THAT(step.out,
              HasSubstr("127.0.0.1:/nowhere cannot be mounted, see above: is nfs.export"));
}

}  // namespace
}  // namespace jobman::remote
