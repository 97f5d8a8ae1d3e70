// What hosts say of themselves, read from whatever they print.
#include <gmock/gmock.h>

#include "jobman/base/strings.hpp"
#include "jobman/remote/top_script.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// What the reader makes of the text, in pieces of so many bytes.
std::optional<HostLook> LastLookIn(const std::string& text, std::size_t piece = 1 << 16) {
  HostLookReader reader;
  std::optional<HostLook> last;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    auto look = reader.Take(std::string_view(text).substr(at, piece));
    if (!look.ok()) return std::nullopt;
    if (*look) last = std::move(*look);
  }
  return last;
}

std::string LookOf(const std::vector<std::string>& lines) {
  std::string text = "jobman-top begin\n";
  for (const std::string& line : lines) text += "jobman-top " + line + "\n";
  return text + "jobman-top end\n";
}

const std::string kWhole =
    LookOf({"cpus 240", "load 12.50", "cpu 30 120", "memory 1048576 2097152", "disk root 1024 4096",
            "disk home 2048 8192", "chip /dev/accel0", "chip /dev/accel1",
            "holder /dev/accel1 4711 ann python train.py --lr 0.1", "sees own", "tpu-info there",
            "says | Chip | HBM usage | Duty cycle |", "says | 8 | 1.50 GiB / 4 GiB | 90.00% |",
            "says | 9 | 512 MiB / 4 GiB | 70.00% |"});

TEST(HostLook, HasAllThatTheScriptSays) {
  const auto look = LastLookIn(kWhole);
  ASSERT_TRUE(look);
  EXPECT_EQ(look->cpus, 240);
  EXPECT_EQ(look->load, 12.5);
  EXPECT_EQ(look->cpu_percent, 25.0);
  EXPECT_EQ(look->memory, (Amount{.used = kGib, .total = 2 * kGib}));
  EXPECT_EQ(look->root_disk, (Amount{.used = 1 << 20, .total = 4 << 20}));
  EXPECT_EQ(look->home_disk, (Amount{.used = 2 << 20, .total = 8 << 20}));
  EXPECT_FALSE(look->sees_all);
  EXPECT_EQ(look->tpu_info, HostLook::TpuInfo::kSays);
  EXPECT_EQ(look->duty_percent, 80.0);
  EXPECT_EQ(look->hbm, (Amount{.used = 2 * kGib, .total = 8 * kGib}));
  ASSERT_EQ(look->chips.size(), 2u);
  EXPECT_THAT(look->chips[0].holders, IsEmpty());
  EXPECT_EQ(look->chips[0].duty_percent, 90.0) << "by its place: the ids are others";
  ASSERT_EQ(look->chips[1].holders.size(), 1u);
  EXPECT_EQ(look->chips[1].holders[0],
            (ChipHolder{.pid = 4711, .user = "ann", .command = "python train.py --lr 0.1"}));
}

TEST(HostLook, IsTheSameHoweverItsBytesArrive) {
  const std::string text = "Welcome to this host!\n" + kWhole + "Goodbye";
  for (const std::size_t piece : {1, 2, 7, 100})
    EXPECT_EQ(LastLookIn(text, piece), LastLookIn(kWhole));
}

TEST(HostLook, LeavesOutWhatTheHostDoesNotKnow) {
  const auto look = LastLookIn(
      LookOf({"", "load x", "cpu 5", "memory 1", "disk root", "holder /dev/accel0", "strange 1"}));
  ASSERT_TRUE(look);
  EXPECT_EQ(*look, HostLook{});
}

TEST(HostLook, TakesNoNumberThatCannotBe) {
  const auto look = LastLookIn(LookOf({"cpus 99999999", "load nan", "cpu 7 5", "memory 1 0",
                                       "disk home 9999999999999999999 1", "cpu -1 5"}));
  ASSERT_TRUE(look);
  EXPECT_EQ(*look, HostLook{});
}

TEST(HostLook, AnUnfinishedOneIsNone) {
  EXPECT_FALSE(LastLookIn("jobman-top begin\njobman-top load 1\n"));
  EXPECT_FALSE(LastLookIn("jobman-top load 1\njobman-top end\n"));
}

TEST(HostLook, HostileTextIsOneShortCleanLine) {
  const auto look = LastLookIn(
      LookOf({"chip /dev/accel0\x1b[2J",
              "holder /dev/accel0\x1b[2J 1 a\x07nn \x1b]0;x\x07" + std::string(5000, 'y')}));
  ASSERT_TRUE(look);
  ASSERT_EQ(look->chips.size(), 1u);
  EXPECT_EQ(look->chips[0].device, "/dev/accel0?[2J");
  ASSERT_EQ(look->chips[0].holders.size(), 1u);
  EXPECT_EQ(look->chips[0].holders[0].user, "a?nn");
  EXPECT_THAT(look->chips[0].holders[0].command, HasSubstr("?]0;x?yyy"));
  EXPECT_LE(look->chips[0].holders[0].command.size(), 123u);
}

TEST(HostLook, IsBoundedWhateverTheHostSends) {
  std::vector<std::string> lines;
  for (int i = 0; i < 5000; ++i) {
    lines.push_back("chip c" + std::to_string(i));
    lines.push_back("holder c0 " + std::to_string(i) + " ann x");
    lines.push_back("says | " + std::to_string(i) + " | Duty | 5% |");
  }
  const auto look = LastLookIn(LookOf(lines));
  ASSERT_TRUE(look);
  EXPECT_EQ(look->chips.size(), 64u);
  EXPECT_EQ(look->chips[0].holders.size(), 64u);
}

TEST(HostLook, AHostThatPrintsSomethingElseWithoutEndIsNamed) {
  HostLookReader reader;
  const std::string garbage(1 << 16, '\x01');
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(reader.Take(garbage).ok());
  const auto look = reader.Take(garbage);
  ASSERT_FALSE(look.ok());
  EXPECT_EQ(look.error().code, base::Code::kDataLoss);
}

TEST(HostLook, AHostThatWatchesForLongIsNot) {
  HostLookReader reader;
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(reader.Take(kWhole).ok()) << "more than a MiB in all";
}

TEST(HostLook, WhatWasPrintedInsteadIsKept) {
  HostLookReader reader;
  ASSERT_TRUE(reader.Take("This account is\x1b[5m not available.\nreally\n").ok());
  EXPECT_EQ(reader.stray(), "This account is?[5m not available.");
}

TEST(TpuInfo, IsReadFromItsTables) {
  const auto rows =
      ReadTpuInfo({"Libtpu version: 0.0.19", "Accelerator type: v6e", "TPU Chips",
                   "| Chip        | Type         | Devices | PID     |",
                   "| /dev/vfio/0 | TPU v6e chip | 1 | 1469584 |", "TPU Runtime Utilization",
                   "| Chip | HBM Usage (GiB)       | Duty cycle |",
                   "|------|-----------------------|------------|",
                   "| 0    | 16.00 GiB / 32.00 GiB |    100.00% |",
                   "| 1    |  8.00 GiB / 32.00 GiB |      0.00% |", "TensorCore Utilization",
                   "| Core ID | TensorCore Utilization |", "| 0       | 13.60%                 |"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (TpuUse{.id = 0,
                             .duty_percent = 100.0,
                             .hbm = Amount{.used = 16 * kGib, .total = 32 * kGib}}));
  EXPECT_EQ(rows[1].duty_percent, 0.0);
}

TEST(TpuInfo, MayBeDrawnWithOtherLinesAndWithoutThem) {
  for (const auto& lines : std::vector<std::vector<std::string>>{
           {"┃ Device ┃ HBM usage           ┃ Duty cycle ┃", "┡━━━━╇━━━━┩",
            "│ 8      │ 1.00 GiB / 4.00 GiB │     50.00% │"},
           {"Chip HBM usage Duty cycle", "8 1.00 GiB / 4.00 GiB 50.00%"},
           {"  Chip   duty cycle", "  8   50 %", "Chip   HBM", "8   1024 MiB / 4 GiB"}}) {
    const auto rows = ReadTpuInfo(lines);
    ASSERT_EQ(rows.size(), 1u) << lines[0];
    EXPECT_EQ(
        rows[0],
        (TpuUse{.id = 8, .duty_percent = 50.0, .hbm = Amount{.used = kGib, .total = 4 * kGib}}))
        << lines[0];
  }
}

TEST(TpuInfo, OfSeparateTablesRowsWithTheSameIdAreOne) {
  const auto rows =
      ReadTpuInfo({"TPU Duty Cycle", "| Core ID | Duty Cycle (%) |", "| 0 | 97.00% |",
                   "TPU HBM Usage", "| Chip | HBM Usage (GiB) |", "| 0 | 29.50 GiB / 31.25 GiB |"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].duty_percent, 97.0);
  EXPECT_TRUE(rows[0].hbm);
}

TEST(TpuInfo, SaysNothingWithoutAProgramThatUsesTheChips) {
  EXPECT_THAT(ReadTpuInfo({"TPU Runtime Utilization",
                           "Libtpu metrics unavailable. Is there a framework"
                           " using the TPU? 100% of 8 GiB"}),
              IsEmpty());
  EXPECT_THAT(ReadTpuInfo({}), IsEmpty());
}

TEST(TopCommand, IsWordsForAnyLoginShell) {
  const std::string command = TopCommand(std::chrono::seconds{5});
  EXPECT_THAT(command, testing::StartsWith("sh -c "));
  EXPECT_THAT(command, testing::EndsWith(" jobman-top 5"));
}

}  // namespace
}  // namespace jobman::remote
