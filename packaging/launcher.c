/*
 * bin/jobman of the tarball: starts lib/jobman/jobman with the loader and the libraries beside it, so
 * that the program runs where the C library is older or absent. It is linked statically, and needs
 * nothing but itself: no shell, no variable.
 *
 * LD_LIBRARY_PATH would reach the commands that jobman starts, and break them; the loader's option
 * does not. --argv0 tells the program where its launcher is, since /proc/self/exe is the loader then.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char loader_name[] = "jobman-ld.so"; /* known to src/base/files.cpp, too */

static int fail(const char *path, const char *cause, const char *cure) {
  fprintf(stderr, "jobman: %s: %s\n  %s\n", path, cause, cure);
  return 70;
}

/* The real path of this file: links in ~/.local/bin lead into the package. */
static int find_self(char *self, size_t size) {
  const ssize_t length = readlink("/proc/self/exe", self, size - 1);
  if (length > 0) {
    self[length] = '\0';
    return 1;
  }
  const char *started = (const char *)getauxval(AT_EXECFN); /* without /proc */
  return started != NULL && size >= PATH_MAX && realpath(started, self) != NULL;
}

int main(int argc, char **argv) {
  char self[PATH_MAX];
  char folder[PATH_MAX + 32];
  char loader[sizeof folder + 32];
  char program[sizeof folder + NAME_MAX + 32];
  if (!find_self(self, sizeof self)) return fail(argv[0], "cannot find itself", "mount /proc");
  strcpy(folder, self);
  char *name = strrchr(folder, '/');
  *name++ = '\0';
  char *bin = strrchr(folder, '/');
  if (bin == NULL) return fail(self, "is not in the folder bin of the package", "unpack it again");
  *bin = '\0';
  if (strpbrk(folder, ":;") != NULL)
    return fail(self, "the loader cannot find libraries in a folder with \":\" or \";\" in its name",
                "move the package to another folder");
  strcat(folder, "/lib/jobman");
  snprintf(loader, sizeof loader, "%s/%s", folder, loader_name);
  snprintf(program, sizeof program, "%s/%s", folder, name);

  char **args = calloc((size_t)argc + 8, sizeof *args);
  if (args == NULL) return fail(self, strerror(errno), "free some memory");
  char **next = args;
  *next++ = loader;
  *next++ = (char *)"--library-path";
  *next++ = folder;
  *next++ = (char *)"--argv0";
  *next++ = self;
  *next++ = program;
  for (int i = 1; i < argc; ++i) *next++ = argv[i];
  execv(loader, args);
  return fail(loader, strerror(errno), "unpack the package again, on a disk that allows programs");
}
