#include "jobman/core/ssh_way.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::core {
namespace {

using testing::HasSubstr;

std::string Expanded(std::string_view command) {
  const ProxyTokens tokens{
      .address = "10.0.0.1", .port = 2222, .user = "ada", .name = "t1v-n-0-w-1"};
  const auto text = ExpandProxyCommand(command, tokens);
  return text.ok() ? *text : "refused: " + text.error().message;
}

TEST(SshWay, TheTokensOfACommandAreReplaced) {
  EXPECT_EQ(Expanded("nc %h %p"), "nc 10.0.0.1 2222");
  EXPECT_EQ(Expanded(" nc %h \n"), "nc 10.0.0.1") << "a block of YAML ends in a newline";
  EXPECT_EQ(Expanded("x --user=%r '50%%' %%h"), "x --user=ada '50%' %h");
}

TEST(SshWay, ACommandMayNameTheVm) {
  EXPECT_EQ(Expanded("helper %n %p"), "helper t1v-n-0-w-1 2222");
  for (const std::string with : {"%n", "helper %n %p", "x %%%n"}) EXPECT_TRUE(NamesVm(with));
  for (const std::string without : {"", "%", "%%n", "nc %h %p n"}) EXPECT_FALSE(NamesVm(without));
}

TEST(SshWay, WhatIsNoCommandIsRefused) {
  EXPECT_EQ(Expanded("nc %k"), "refused: \"%k\" is no token of a proxy command");
  EXPECT_EQ(Expanded("nc %"), "refused: \"%\" is no token of a proxy command");
  EXPECT_THAT(Expanded("nc\nrm"), HasSubstr("one line"));
  EXPECT_THAT(Expanded(std::string_view("a\0b", 3)), HasSubstr("one line"));
  EXPECT_EQ(Expanded("  "), "refused: there is no command");
}

TEST(SshWay, JumpHostsAreRead) {
  const auto jumps = ParseJumpHosts("ada@one.example.org:2222, two ,[::1]:22,eve@[fe80::2]");
  ASSERT_TRUE(jumps.ok()) << jumps.error().message;
  ASSERT_EQ(jumps->size(), 4u);
  EXPECT_EQ((*jumps)[0].user, "ada");
  EXPECT_EQ((*jumps)[0].host, "one.example.org");
  EXPECT_EQ((*jumps)[0].port, 2222);
  EXPECT_EQ((*jumps)[1].user, "");
  EXPECT_EQ((*jumps)[1].host, "two");
  EXPECT_EQ((*jumps)[1].port, 0);
  EXPECT_EQ((*jumps)[2].host, "::1");
  EXPECT_EQ((*jumps)[2].port, 22);
  EXPECT_EQ((*jumps)[3].host, "fe80::2");
  EXPECT_EQ((*jumps)[3].user, "eve");
}

TEST(SshWay, AnIdentityBecomesOneWord) {
  EXPECT_EQ(HostKeyAlias("8123/3"), "jobman-8123-3");
  EXPECT_EQ(HostKeyAlias("Ab/0"), "jobman-ab-0") << "as the client writes it to a file";
  EXPECT_EQ(HostKeyAlias("a b\n*,c/0"), "jobman-a-b---c-0");
}

TEST(SshWay, AnAddressIsNeitherAnOptionNorAPattern) {
  for (const std::string address : {"10.0.0.1", "fe80::1", "t1v-n-0-w-1.c.p.internal"})
    EXPECT_TRUE(IsHostAddress(address)) << address;
  for (const std::string other : {"", "-oX", "a b", "a\n", "*", "$(x)", "a%b", "a@b"})
    EXPECT_FALSE(IsHostAddress(other)) << other;
}

TEST(SshWay, APathIsQuotedOrRefused) {
  EXPECT_EQ(SshConfigPath("/a b/50%").value(), "\"/a b/50%%\"");
  for (const std::string path : {"/a\"b", "/a\\b", "/a\nb", "/${HOME}/a"})
    EXPECT_FALSE(SshConfigPath(path).ok()) << path;
}

TEST(SshWay, EachHopIsTheProxyOfTheNext) {
  EXPECT_EQ(JumpCommand({}), "");
  EXPECT_EQ(JumpCommand(*ParseJumpHosts("ada@one:2222")),
            "ssh -o 'BatchMode=yes' -p 2222 -W '[%h]:%p' -- ada@one");
  const std::string two = JumpCommand(*ParseJumpHosts("one,two"));
  EXPECT_THAT(two, HasSubstr("[%%h]:%%p")) << "for the client of the second hop";
  EXPECT_TRUE(two.ends_with("-W '[%h]:%p' -- two")) << two;
}

TEST(SshWay, APlainWordSaysNothingToAShell) {
  for (const std::string word : {"ada", "sa_117", "ada_lab.example-org", "A"})
    EXPECT_TRUE(IsPlainWord(word)) << word;
  for (const std::string word : {"", "-l", "a b", "$(x)", "a;b", "a'b", "a@b", "a\n", "`x`"})
    EXPECT_FALSE(IsPlainWord(word)) << word;
}

TEST(SshWay, WhatIsNoJumpHostIsRefused) {
  for (const std::string text :
       {"",       ",",       "a,",     "-oProxyCommand=x", "a b", "$(x)", "a;b",   "@a",   "u@",
        "-u@a",   "a:",      "a:0",    "a:65536",          "a:x", "::1",  "[a]:1", "[::1", "[::1]x",
        "[::1]:", "ssh://a", "a@b@c d"}) {
    EXPECT_FALSE(ParseJumpHosts(text).ok()) << text;
  }
}

}  // namespace
}  // namespace jobman::core
