// The step of the section checks: device files and a JAX that are played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

class SetupChecksTest : public HostScriptTest {
 protected:
  SetupChecksTest() { spec_.tpu.accelerator = "v4-16"; }
  Ended Step() {
    RunOrder order{.run_id = "k" + std::to_string(++runs_),
                   .script = SetupScript(spec_, core::SetupStage{}),
                   .env = {{"JOBMAN_CHIP_DEVICES", (host.home() / "dev/accel*").string()},
                           {"PYTHONPATH", (host.home() / "lib").string()},
                           {"PYTHONDONTWRITEBYTECODE", "1"},
                           {"JOBMAN_JOB_ID", "000042"}}};
    return host.Run(order);
  }
  void MakeDevices(int count) {
    std::filesystem::create_directories(host.home() / "dev");
    for (int i = 0; i < count; ++i) {
      std::ofstream(host.home() / "dev" / ("accel" + std::to_string(i)));
    }
  }
  void PlayJax(const std::string& backend, int here, int total) {
    std::filesystem::create_directories(host.home() / "lib");
    std::ofstream(host.home() / "lib/jax.py")
        << "default_backend = lambda: '" << backend << "'\nlocal_device_count = lambda: " << here
        << "\ndevice_count = lambda: " << total << "\n";
  }
  void NeedPython() {
    if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
  }
  core::JobSpec spec_;

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupChecksTest, HostsShell(), ShellName);

class SetupChecksInEveryShell : public SetupChecksTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupChecksInEveryShell, EveryShell(), ShellName);

TEST_P(SetupChecksInEveryShell, EveryChipHasADeviceFile) {
  spec_.checks.devices = true;
  MakeDevices(3);
  const Ended three = Step();
  EXPECT_THAT(three.err, HasSubstr("exited 76"));
  EXPECT_THAT(three.out,
              HasSubstr("this host has 3 of the 4 chips of a v4-16: another slice is needed"));
  MakeDevices(4);
  const Ended four = Step();
  EXPECT_THAT(four.err, HasSubstr("exited 0")) << four.out;
  EXPECT_THAT(four.out, HasSubstr("4 chips are here"));
}

TEST_P(SetupChecksTest, JaxSeesTheWholeSlice) {
  NeedPython();
  if (IsSkipped()) return;
  spec_.checks.jax = true;
  PlayJax("tpu", 4, 8);
  const Ended whole = Step();
  EXPECT_THAT(whole.err, HasSubstr("exited 0")) << whole.out;
  EXPECT_THAT(whole.out, HasSubstr("JAX sees 8 devices, 4 of them here"));
  PlayJax("tpu", 4, 4);
  EXPECT_THAT(Step().out, HasSubstr("JAX sees 4 of the 8 devices of the slice"));
  PlayJax("tpu", 3, 8);
  EXPECT_THAT(Step().out, HasSubstr("JAX sees 3 of the 4 devices of this host"));
  PlayJax("cpu", 1, 1);
  const Ended cpu = Step();
  EXPECT_THAT(cpu.err, HasSubstr("exited 1"));
  EXPECT_THAT(cpu.out, HasSubstr("JAX runs on cpu, not on the TPU"));
}

TEST_P(SetupChecksTest, AJaxThatDoesNotStartIsAFailureWithAReason) {
  NeedPython();
  if (IsSkipped()) return;
  spec_.checks.jax = true;
  PlayJax("tpu", 4, 8);
  std::ofstream(host.home() / "lib/jax.py") << "import no_jaxlib\n";
  const Ended broken = Step();
  EXPECT_THAT(broken.err, HasSubstr("exited 1"));
  EXPECT_THAT(broken.out, HasSubstr("JAX cannot be imported: No module named 'no_jaxlib'"));
  std::ofstream(host.home() / "lib/jax.py")
      << "def default_backend(): raise RuntimeError('the TPU is in use')\n";
  const Ended busy = Step();
  EXPECT_THAT(busy.err, HasSubstr("exited 1"));
  EXPECT_THAT(busy.out, HasSubstr("JAX does not start: the TPU is in use"));
}

TEST_P(SetupChecksTest, CoresAreTheDevicesOfOldGenerations) {
  NeedPython();
  if (IsSkipped()) return;
  spec_.tpu.accelerator = "v3-8";
  spec_.checks.jax = true;
  PlayJax("tpu", 8, 8);
  EXPECT_THAT(Step().err, HasSubstr("exited 0"));
}

TEST_P(SetupChecksTest, WithoutJaxNothingIsCounted) {
  NeedPython();
  if (IsSkipped()) return;
  if (std::system("python3 -c 'import jax' 2>/dev/null") == 0) GTEST_SKIP() << "JAX is here";
  spec_.checks.jax = true;
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 0"));
  EXPECT_THAT(step.out, HasSubstr("JAX is not there"));
}

TEST_P(SetupChecksTest, AnUnknownTypeIsSaidToBeUnknown) {
  spec_.tpu.accelerator = "v99-8";
  spec_.checks.devices = true;
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 0"));
  EXPECT_THAT(step.out, HasSubstr("nobody here knows how many chips a v99-8 has"));
}

}  // namespace
}  // namespace jobman::remote
