/* server_folder.c - servers from a folder that the user names: a distribution's, a package's, a source build's.
 *
 * Nothing is written into that folder.  Packages of npm leave out the links by which shared libraries are found
 * (libicuuc.so.60 for libicuuc.so.60.2): those are made in a folder of the cluster, which LD_LIBRARY_PATH names.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cluster/cluster.h"

isoproof_status iso_server_folder_take(isoproof_cluster *cluster, const char *folder, isoproof_error *error) {
  char path[PATH_MAX];
  if (folder == NULL) return ISOPROOF_OK;
  if (folder[0] == 0) return iso_fail(error, ISOPROOF_ERR_USAGE, "server: expected a folder, found nothing");
  struct stat about;
  if (realpath(folder, path) == NULL || stat(path, &about) != 0)
    return iso_fail(error, ISOPROOF_ERR_USAGE, "server: expected a folder with a server below it, found nothing at %s",
                    folder);
  if (!S_ISDIR(about.st_mode))
    return iso_fail(error, ISOPROOF_ERR_USAGE, "server: expected a folder with a server below it, found the file %s",
                    folder);
  cluster->server_folder = iso_cluster_text(cluster, "%s", path);
  return cluster->server_folder != NULL ? ISOPROOF_OK : iso_fail_memory(error);
}

/* ---- programs ---- */

/* Whether the user of the servers may go through every folder above a file, and execute it. */
static bool is_open_to(const isoproof_cluster *cluster, const char *file, char blocked[PATH_MAX]) {
  if (!cluster->change_user) return true;
  size_t length = strlen(file);
  for (size_t i = 1; i <= length; i++) {
    struct stat about;
    if (file[i] != '/' && file[i] != 0) continue;
    snprintf(blocked, PATH_MAX, "%.*s", (int)i, file);
    if (stat(blocked, &about) != 0) return false;
    mode_t bit = about.st_uid == cluster->user ? S_IXUSR : about.st_gid == cluster->group ? S_IXGRP : S_IXOTH;
    if ((about.st_mode & bit) == 0) return false;
  }
  return true;
}

static isoproof_status check_program(const isoproof_cluster *cluster, const char *path, isoproof_error *error) {
  char blocked[PATH_MAX];
  if (access(path, X_OK) != 0) return iso_fail_errno(error, path, "execute it");
  if (is_open_to(cluster, path, blocked)) return ISOPROOF_OK;
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED,
                  "server: the servers run as %s, because they do not run as root, and %s is not open to that user",
                  cluster->type->user, blocked);
}

isoproof_status iso_server_folder_find(isoproof_cluster *cluster, const char *const *names, const char **found,
                                       isoproof_error *error) {
  static const char *const places[] = {"bin", "sbin", "libexec", "scripts", "native/bin", "package/native/bin", "."};
  const char *folder = cluster->server_folder;
  *found = NULL;
  for (const char *const *name = names; *name != NULL; name++)
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      char path[PATH_MAX], real[PATH_MAX];
      snprintf(path, sizeof path, "%s/%s/%s", folder, places[i], *name);
      struct stat about;
      if (realpath(path, real) == NULL || stat(real, &about) != 0 || !S_ISREG(about.st_mode)) continue;
      ISO_TRY(check_program(cluster, real, error));
      /* Not the real path: programs look for their files beside the name that they are called by. */
      *found = strcmp(places[i], ".") == 0 ? iso_cluster_text(cluster, "%s/%s", folder, *name)
                                           : iso_cluster_text(cluster, "%s", path);
      return *found != NULL ? ISOPROOF_OK : iso_fail_memory(error);
    }
  return iso_fail(error, ISOPROOF_ERR_UNSUPPORTED, "server: expected %s in %s or its bin, sbin or libexec, found none",
                  names[0], folder);
}

const char *iso_server_folder_root(isoproof_cluster *cluster, const char *program) {
  const char *end = strrchr(program, '/');
  while (end != NULL && end > program && end[-1] != '/') end--;
  return end != NULL && end > program + 1 ? iso_cluster_text(cluster, "%.*s", (int)(end - 1 - program), program) : "/";
}

/* ---- libraries ---- */

/* The links to one library that are not there: libx.so.60 and libx.so for libx.so.60.2; how many were made. */
static isoproof_status link_library(const char *from, const char *to, const char *name, bool *made,
                                    isoproof_error *error) {
  char file[PATH_MAX], link[PATH_MAX], there[PATH_MAX], shorter[NAME_MAX + 1];
  snprintf(file, sizeof file, "%s/%s", from, name);
  snprintf(shorter, sizeof shorter, "%s", name);
  for (char *dot = strrchr(shorter, '.'); strstr(shorter, ".so.") != NULL && dot != NULL; dot = strrchr(shorter, '.')) {
    *dot = 0;
    snprintf(there, sizeof there, "%s/%s", from, shorter);
    snprintf(link, sizeof link, "%s/%s", to, shorter);
    if (access(there, F_OK) == 0) continue;
    if (symlink(file, link) != 0 && errno != EEXIST) return iso_fail_errno(error, link, "make a link");
    *made = true;
  }
  return ISOPROOF_OK;
}

isoproof_status iso_server_folder_link(isoproof_cluster *cluster, isoproof_error *error) {
  if (cluster->server_folder == NULL) return ISOPROOF_OK;
  const char *root = iso_server_folder_root(cluster, cluster->server);
  const char *from = root != NULL ? iso_cluster_text(cluster, "%s/lib", root) : NULL;
  const char *to = iso_cluster_text(cluster, "%s/lib", cluster->folder);
  if (from == NULL || to == NULL) return iso_fail_memory(error);
  DIR *libraries = strcmp(root, "/") != 0 && strcmp(root, "/usr") != 0 ? opendir(from) : NULL;
  if (libraries == NULL) return ISOPROOF_OK;
  bool made = false;
  isoproof_status status = mkdir(to, 0755) == 0 ? ISOPROOF_OK : iso_fail_errno(error, to, "make a folder");
  for (const struct dirent *one; status == ISOPROOF_OK && (one = readdir(libraries)) != NULL;)
    if (strncmp(one->d_name, "lib", 3) == 0) status = link_library(from, to, one->d_name, &made, error);
  closedir(libraries);
  if (made) cluster->libraries = iso_cluster_text(cluster, "LD_LIBRARY_PATH=%s:%s", to, from);
  return status == ISOPROOF_OK && made && cluster->libraries == NULL ? iso_fail_memory(error) : status;
}
