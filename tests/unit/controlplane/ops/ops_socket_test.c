#include "controlplane/ops/ops_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct place {
	char base[32];
	char dir[48];
	char why[256];
};

static void begin(struct place *p)
{
	strcpy(p->base, "/tmp/ops-socket-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(p->base));
	snprintf(p->dir, sizeof(p->dir), "%s/run", p->base);
}

static void end(struct place *p)
{
	rmdir(p->dir);
	rmdir(p->base);
}

static int open_socket(struct ops_socket *s, struct place *p)
{
	return ops_socket_open(s, p->dir, "unit", p->why, sizeof(p->why));
}

static unsigned mode_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void is_private(void) /* N-4, S-10 */
{
	struct place p;
	struct ops_socket s;
	begin(&p);
	mode_t old = umask(0);
	CU_ASSERT_EQUAL_FATAL(open_socket(&s, &p), 0);
	umask(old);
	CU_ASSERT_EQUAL(mode_of(p.dir), 0700);
	CU_ASSERT_EQUAL(mode_of(s.path), 0600);
	ops_socket_close(&s);
	CU_ASSERT_EQUAL(access(s.path, F_OK), -1);
	end(&p);
}

static void live_one_is_kept(void)
{
	struct place p;
	struct ops_socket first, second;
	begin(&p);
	CU_ASSERT_EQUAL_FATAL(open_socket(&first, &p), 0);
	CU_ASSERT_EQUAL(open_socket(&second, &p), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(p.why, first.path));
	ops_socket_close(&first);
	end(&p);
}

static void stale_one_is_replaced(void)
{
	struct place p;
	struct ops_socket dead, next;
	begin(&p);
	CU_ASSERT_EQUAL_FATAL(open_socket(&dead, &p), 0);
	close(dead.fd); /* as a killed process leaves it */
	CU_ASSERT_EQUAL_FATAL(open_socket(&next, &p), 0);
	ops_socket_close(&next);
	end(&p);
}

static void other_things_are_not_removed(void)
{
	struct place p;
	struct ops_socket s;
	char path[OPS_PATH];
	begin(&p);
	CU_ASSERT_EQUAL(mkdir(p.dir, 0700), 0);
	CU_ASSERT_EQUAL(ops_path(path, p.dir, "unit"), 0);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	CU_ASSERT_NOT_EQUAL(open_socket(&s, &p), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	rmdir(path);
	end(&p);
}

static void open_directory_is_refused(void)
{
	struct place p;
	struct ops_socket s;
	begin(&p);
	CU_ASSERT_EQUAL(mkdir(p.dir, 0700), 0);
	CU_ASSERT_EQUAL(chmod(p.dir, 0777), 0);
	CU_ASSERT_EQUAL(open_socket(&s, &p), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(p.why, p.dir));
	end(&p);
}

static void own_user_is_admitted(void) /* N-4 */
{
	int pair[2];
	uid_t uid;
	pid_t pid;
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	CU_ASSERT(ops_socket_admits(pair[0], &uid, &pid));
	CU_ASSERT(uid == getuid() && pid == getpid());
	close(pair[0]);
	close(pair[1]);
}

static const struct unit_case cases[] = {
	{"is_private", is_private},
	{"live_one_is_kept", live_one_is_kept},
	{"stale_one_is_replaced", stale_one_is_replaced},
	{"other_things_are_not_removed", other_things_are_not_removed},
	{"open_directory_is_refused", open_directory_is_refused},
	{"own_user_is_admitted", own_user_is_admitted},
};
UNIT_MAIN("controlplane/ops/ops_socket", cases)
