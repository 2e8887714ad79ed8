#include "tools/millrace/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CODE_NOT_STARTED = 127 };

static bool is_notify(const char *variable)
{
	static const char *const names[] = {"NOTIFY_SOCKET=", "WATCHDOG_PID=", "WATCHDOG_USEC="};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

char **child_environment(char *const *env)
{
	size_t count = 0;
	while (env[count] != NULL)
		count++;
	char **out = calloc(count + 1, sizeof(*out));
	if (out == NULL)
		return NULL;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_notify(env[i]))
			out[kept++] = env[i];
	}
	return out;
}

/* Between fork and exec: only what is safe there. */
NORETURN static void become(const char *path, char *const *argv, char *const *env, pid_t launcher)
{
	sigset_t none;
	sigemptyset(&none);
	/* A launcher that died before prctl took effect has to be noticed by hand. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != launcher)
		_exit(CODE_NOT_STARTED);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(path, argv, env);
	_exit(CODE_NOT_STARTED);
}

pid_t child_start(const char *path, char *const *argv, char *const *env)
{
	pid_t launcher = getpid();
	pid_t pid = fork();
	if (pid == 0)
		become(path, argv, env, launcher);
	return pid > 0 ? pid : -errno;
}
