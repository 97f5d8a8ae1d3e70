#pragma once

namespace jobman::remote {

/// A program that plays conda (and, under its name, micromamba), for tests: it makes real
/// environments, and refuses unknown options, missing files and packages, and what is no YAML.
/// Beside its folder bin, `calls` has its arguments; with `terms` there, its terms were not
/// accepted.
constexpr const char* kCondaFake = R"py(#!/usr/bin/python3 -I
"""Plays conda: environments are made for real, by venv; packages are zip files
NAME-VERSION.zip in a channel, a folder or a server. What conda refuses is refused in its words."""
import glob, os, re, shutil, subprocess, sys, urllib.request, zipfile
BASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MICRO = os.path.basename(__file__) == "micromamba"

def die(text):
    sys.exit("\n" + text + "\n")
def prefix_of(name):
    return os.path.join(BASE, "envs", name)
def is_environment(prefix):
    return os.path.exists(prefix + "/conda-meta/history")

def options(words, known):
    found = {}
    while words:
        word = words.pop(0)
        if word not in known:
            sys.exit("usage: conda [-h]\nconda: error: unrecognized arguments: " + word)
        found[word] = words.pop(0) if known[word] else True
    return found

def parse(path):
    if not path.endswith((".yml", ".yaml")):
        die("EnvironmentSpecPluginNotDetected: No plugin found for " + path)
    if not os.path.exists(path):
        die("EnvironmentFileNotFound: '%s' file not found" % path)
    keys, key = {}, None
    for number, line in enumerate(open(path).read().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if item := re.fullmatch(r" *- +(\S+)", line):
            keys[key].append(item[1])
        elif pair := re.fullmatch(r"(\w+):(?: +(\S+))?", line):
            key, keys[pair[1]] = pair[1], []
        else:
            die("ParserError: while parsing a block mapping\n  in \"%s\", line %d" % (path, number))
    return keys

def fetch(channels, package):
    for channel in channels:
        if channel.startswith("/"):
            found = glob.glob("%s/%s-*.zip" % (channel, package))
            if found:
                return found[0]
            continue
        try:
            urllib.request.urlopen(channel + "/repodata.json", timeout=5)
        except Exception as error:
            die("CondaHTTPError: HTTP 000 CONNECTION FAILED for url <%s>\n%s" % (channel, error))
    die("PackagesNotFoundError: The following packages are not available from current channels:\n"
        "  - " + package)

def install(keys, prefix):
    files = [fetch(keys.get("channels", []), name) for name in keys.get("dependencies", [])]
    print("Executing transaction: ...working...", flush=True)
    if not is_environment(prefix):
        venv = ["/usr/bin/python3", "-I", "-m", "venv", "--without-pip", prefix]
        subprocess.run(venv, check=True)
    if os.environ.get("CONDA_TEST_HANG"):
        open(os.environ["CONDA_TEST_HANG"], "w").close()
        while True:
            os.read(os.pipe()[0], 1)
    site = glob.glob(prefix + "/lib/python3*/site-packages")[0]
    for file in files:
        zipfile.ZipFile(file).extractall(site)
    os.makedirs(prefix + "/conda-meta", exist_ok=True)
    open(prefix + "/conda-meta/history", "w").close()
    return {os.path.basename(file).split("-")[0] for file in files}, site

def create(words, anew=False):
    if os.path.exists(BASE + "/terms") and "CONDA_PLUGINS_AUTO_ACCEPT_TOS" not in os.environ:
        die("CondaToSNonInteractiveError: Terms of Service have not been accepted for the "
            "following channels. Please accept or remove them before proceeding:")
    given = options(words, {"-n": 1, "-f": 1})
    keys, prefix = parse(given["-f"]), prefix_of(given["-n"])
    if anew:
        shutil.rmtree(prefix, ignore_errors=True)
    elif os.path.exists(prefix):
        die("CondaValueError: prefix already exists: " + prefix)
    install(keys, prefix)

def update(words):
    given = options(words, {"-n": 1, "-f": 1, "--prune": 0})
    keys, prefix = parse(given["-f"]), prefix_of(given["-n"])
    if not is_environment(prefix):
        die("EnvironmentLocationNotFound: Not a conda environment: " + prefix)
    names, site = install(keys, prefix)
    for file in glob.glob(site + "/*.py") if "--prune" in given else []:
        if os.path.basename(file)[:-3] not in names:
            os.remove(file)

def remove(words):
    prefix = prefix_of(options(words, {"-n": 1, "-y": 0})["-n"])
    if not is_environment(prefix):
        die("EnvironmentLocationNotFound: Not a conda environment: " + prefix)
    shutil.rmtree(prefix)

def activate(prefix):
    if not is_environment(prefix):
        die("EnvironmentNameNotFound: Could not find conda environment: " + prefix)
    print("export CONDA_PREFIX='%s'\nexport CONDA_DEFAULT_ENV='%s'\nPATH='%s/bin':$PATH" %
          (prefix, os.path.basename(prefix), prefix))

def main(words):
    with open(BASE + "/calls", "a") as calls:
        calls.write(" ".join(words) + "\n")
    if words == ["--version"]:
        print("conda 24.11.1")
    elif words == ["info", "--base"]:
        print(BASE)
    elif words == ["env", "list"]:
        print("# conda environments:\n#\nbase                  *  " + BASE)
        for history in glob.glob(BASE + "/envs/*/conda-meta/history"):
            prefix = os.path.dirname(os.path.dirname(history))
            print("%-24s %s" % (os.path.basename(prefix), prefix))
    elif words == (["shell", "hook", "-s", "posix"] if MICRO else ["shell.posix", "hook"]):
        print('%s() {\n  ask_conda=$("%s" shell.posix "$@") || return\n  eval "$ask_conda"\n}'
              % (os.path.basename(__file__), os.path.abspath(__file__)))
    elif words[:2] == ["shell.posix", "activate"]:
        activate(words[2])
    elif MICRO and words[:2] == ["create", "-y"]:
        create(words[2:], anew=True)
    elif MICRO and words[:2] == ["install", "-y"]:
        update(words[2:])
    elif words[:1] == ["env"] and words[1] in ["create", "update", "remove"][2 * MICRO:]:
        {"create": create, "update": update, "remove": remove}[words[1]](words[2:])
    else:
        sys.exit("conda: error: argument COMMAND: invalid choice: '%s'" % words[0])
main(sys.argv[1:])
)py";

/// An installer of it with the options of Miniconda's; the program follows.
constexpr const char* kCondaInstaller = R"sh(#!/bin/sh
[ "$1 $2 $3" = '-b -u -p' ] && [ $# = 4 ] || { echo 'ERROR: did not recognize option'; exit 1; }
mkdir -p "$4/bin" "$4/envs" || exit 1
sed '1,/^exit$/d' "$0" >"$4/bin/conda"
chmod 755 "$4/bin/conda"
exit
)sh";

}  // namespace jobman::remote
