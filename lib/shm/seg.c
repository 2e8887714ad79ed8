#include "lib/shm/seg.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/version.h"
#include "lib/clock/clock.h"
#include "lib/log/log.h"
#include "lib/shm/seg_layout.h"

enum {
	SEG_NAME_MAX = 64,
	SEG_MAPS_MAX = 8,	   /* mappings of one process: two roles and some readers */
	ATTACH_DEADLINE_MS = 5000, /* whoever creates or takes over needs milliseconds */
	ATTACH_NAP_US = 1000,
};

/* What is locked on the file, as byte offsets; part of the layout that never changes, since builds of
 * different layouts meet here. */
enum seg_lock { LOCK_ATTACH = 0, LOCK_ROLE0 = 1 };

const char *const seg_state_names[] = {
	[SEG_STOPPED] = "stopped",
	[SEG_STARTING] = "starting",
	[SEG_RUNNING] = "running",
	[SEG_DRAINING] = "draining",
};

static_assert(offsetof(struct seg, header) == 0, "other builds must find the header");
static_assert(sizeof(((struct seg_rings *)NULL)->done[0]) % CACHE_LINE == 0, "rings are aligned");

/* The files behind this process's mappings: closing one gives up its role. */
static struct seg_map {
	const struct seg *seg;
	int fd;
	int process; /* enum shm_process, or -1 for a reader */
} maps[SEG_MAPS_MAX];
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;

/* One attempt's view of the file. */
struct attempt {
	char name[SEG_NAME_MAX];
	int fd;
	enum shm_process process;
	bool is_other_alive;
	char *why;
	size_t why_size;
};

PRINTF_LIKE(4, 5)
static int refuse(int error, char *why, size_t why_size, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(why, why_size, fmt, args);
	va_end(args);
	return error;
}

static int make_name(char out[SEG_NAME_MAX], const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	size_t len = strlen(name);
	if (len == 0 || strspn(name, allowed) != len)
		return -EINVAL;
	int n = snprintf(out, SEG_NAME_MAX, "/millrace-%s", name);
	return n < SEG_NAME_MAX ? 0 : -EINVAL;
}

static int map_remember(const struct seg *s, int fd, int process)
{
	int failed = -EMFILE;
	pthread_mutex_lock(&maps_lock);
	for (unsigned i = 0; i < SEG_MAPS_MAX && failed; i++) {
		if (maps[i].seg == NULL) {
			maps[i] = (struct seg_map){s, fd, process};
			failed = 0;
		}
	}
	pthread_mutex_unlock(&maps_lock);
	return failed;
}

static bool map_forget(const struct seg *s, struct seg_map *out)
{
	bool found = false;
	pthread_mutex_lock(&maps_lock);
	for (unsigned i = 0; i < SEG_MAPS_MAX && !found; i++) {
		if (maps[i].seg == s) {
			*out = maps[i];
			maps[i] = (struct seg_map){0};
			found = true;
		}
	}
	pthread_mutex_unlock(&maps_lock);
	return found;
}

/* Open-file locks: held by the descriptor, so they also keep two attachments of one process apart,
 * and the kernel drops them when the process dies. */
static bool lock_take(int fd, unsigned which)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = which, .l_len = 1};
	return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static void lock_drop(int fd, unsigned which)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = which, .l_len = 1};
	MUST(fcntl(fd, F_OFD_SETLK, &lock) == 0);
}

static bool lock_is_held(int fd, unsigned which)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = which, .l_len = 1};
	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Whether the name still leads to the open file: another process may have replaced it. */
static bool is_current(const struct attempt *a)
{
	struct stat mine, named;
	int fd = shm_open(a->name, O_RDWR, 0);
	if (fd < 0)
		return false;
	bool same = fstat(fd, &named) == 0 && fstat(a->fd, &mine) == 0 &&
		    named.st_dev == mine.st_dev && named.st_ino == mine.st_ino;
	close(fd);
	return same;
}

/* Opens the file, making it if need be, and takes the attach lock on it. Whoever holds that lock may
 * create, check and take over; one that dies half way lets go of it and leaves ready_to_use at 0. */
static int open_locked(struct attempt *a)
{
	uint64_t deadline_ns = clock_now_ns() + ATTACH_DEADLINE_MS * NS_PER_MS;
	while (clock_now_ns() < deadline_ns) {
		a->fd = shm_open(a->name, O_RDWR | O_CREAT, 0600);
		if (a->fd < 0)
			return refuse(-errno, a->why, a->why_size,
				"cannot open shared memory %s: %s", a->name, strerror(errno));
		if (lock_take(a->fd, LOCK_ATTACH) && is_current(a))
			return 0;
		close(a->fd);
		usleep(ATTACH_NAP_US);
	}
	return refuse(-ETIMEDOUT, a->why, a->why_size,
		"shared memory %s stayed locked for %d s by a process that is attaching; is one "
		"stopped?",
		a->name, ATTACH_DEADLINE_MS / 1000);
}

static int take_roles(struct attempt *a)
{
	if (!lock_take(a->fd, LOCK_ROLE0 + a->process))
		return refuse(-EEXIST, a->why, a->why_size,
			"another %s of this node is running (shared memory %s); stop it, or give "
			"this "
			"node another node.name",
			shm_process_names[a->process], a->name);
	unsigned other =
		LOCK_ROLE0 + (a->process == SHM_DATAPLANE ? SHM_CONTROLPLANE : SHM_DATAPLANE);
	a->is_other_alive = !lock_take(a->fd, other);
	if (!a->is_other_alive)
		lock_drop(a->fd, other);
	return 0;
}

static void init_rings(struct seg *s)
{
	MUST(ring_init((struct rte_ring *)s->rings.storage_work,
		     queue_infos[QUEUE_STORAGE_WORK].name, QUEUE_CAPACITY_STORAGE_WORK) == 0);
	for (unsigned i = 0; i < LIMIT_LCORES; i++) {
		char name[16];
		snprintf(name, sizeof(name), "done[%u]", i);
		MUST(ring_init((struct rte_ring *)s->rings.done[i], name, QUEUE_CAPACITY_DONE) ==
			0);
	}
}

/* Fills in a segment of zeroes. */
static void create(struct seg *s)
{
	s->header.magic = SEG_MAGIC;
	s->header.layout_hash = seg_layout_hash();
	s->header.size = sizeof(*s);
	s->header.build_time = version_build_time();
	snprintf(s->header.build, sizeof(s->header.build), "%s", version_string());
	snap_init(seg_conf(s), sizeof(struct conf));
	snap_init(seg_ready(s), sizeof(struct seg_ready));
	events_init(&s->events);
	init_rings(s);
	__atomic_store_n(&s->header.ready_to_use, 1, __ATOMIC_RELEASE);
}

enum verdict { USABLE, UNFINISHED, FOREIGN };

/* What the file holds: reads the header with pread, since a file of another build may be shorter than
 * our struct. */
static enum verdict judge(int fd, struct seg_header *header)
{
	struct stat st;
	memset(header, 0, sizeof(*header));
	if (fstat(fd, &st) < 0 || pread(fd, header, sizeof(*header), 0) != sizeof(*header))
		return UNFINISHED;
	header->build[sizeof(header->build) - 1] = '\0';
	if (header->ready_to_use != 1)
		return UNFINISHED;
	bool fits = header->magic == SEG_MAGIC && header->layout_hash == seg_layout_hash() &&
		    header->size == sizeof(struct seg) && st.st_size == sizeof(struct seg);
	return fits ? USABLE : FOREIGN;
}

static int refuse_layout(
	const char *name, const struct seg_header *header, char *why, size_t why_size)
{
	if (header->magic != SEG_MAGIC)
		return refuse(-EPROTO, why, why_size,
			"shared memory %s is not a segment of millrace", name);
	uint64_t ours = version_build_time();
	const char *which = header->build_time < ours	? "an older"
			    : header->build_time > ours ? "a newer"
							: "another";
	return refuse(-EPROTO, why, why_size,
		"shared memory %s belongs to %s build, %s, with another layout; this is %s: run "
		"both "
		"processes from one build",
		name, which, header->build, version_string());
}

/* Makes the file behind a->fd fit: USABLE ones stay, UNFINISHED ones are filled in, FOREIGN ones are
 * replaced when nobody lives in them. Returns -EAGAIN when the name must be opened anew. */
static int prepare(struct attempt *a, enum verdict *verdict)
{
	struct seg_header header;
	*verdict = judge(a->fd, &header);
	switch (*verdict) {
	case USABLE:
		return 0;
	case FOREIGN:
		if (a->is_other_alive)
			return refuse_layout(a->name, &header, a->why, a->why_size);
		shm_unlink(a->name);
		return -EAGAIN;
	case UNFINISHED:
		break;
	}
	/* Down to nothing first: what a creator left half way reads as zero again. */
	if (ftruncate(a->fd, 0) < 0 || ftruncate(a->fd, sizeof(struct seg)) < 0)
		return refuse(-errno, a->why, a->why_size, "cannot size shared memory %s: %s",
			a->name, strerror(errno));
	return 0;
}

/* Both processes were dead: what belonged to their life ends here. */
static void take_over(struct seg *s)
{
	snap_init(seg_conf(s), sizeof(struct conf));
	snap_init(seg_ready(s), sizeof(struct seg_ready));
	for (int p = 0; p < SHM_PROCESS_COUNT; p++)
		events_recover(&s->events, p);
}

static void recover_dataplane(struct seg *s)
{
	/* Producers and consumers of these rings were threads of the process that died; the jobs they
	 * speak of died with it. */
	ring_empty((struct rte_ring *)s->rings.storage_work);
	for (unsigned i = 0; i < LIMIT_LCORES; i++)
		ring_empty((struct rte_ring *)s->rings.done[i]);
	for (unsigned slot = 0; slot <= TALLY_SLOT_DATAPLANE; slot++)
		tally_reset_gauges(&s->tally[slot]);
	struct seg_ready not_ready = {0};
	snap_adopt(seg_ready(s));
	snap_publish(seg_ready(s), &not_ready);
}

static void recover_controlplane(struct seg *s)
{
	tally_reset_gauges(&s->tally[TALLY_SLOT_CONTROL]);
	snap_adopt(seg_conf(s));
	capture_stop(&s->capture);
}

static void begin_life(struct seg *s, enum shm_process process)
{
	events_recover(&s->events, process);
	if (process == SHM_DATAPLANE)
		recover_dataplane(s);
	else
		recover_controlplane(s);
	struct seg_heart *heart = &s->hearts[process];
	__atomic_store_n(&heart->pid, getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&heart->start_ns, clock_now_ns(), __ATOMIC_RELAXED);
	seg_beat(s, process, SEG_STARTING);
	__atomic_fetch_add(&heart->generation, 1, __ATOMIC_RELEASE);
}

/* One attempt with the attach lock held. */
static int attach_locked(struct seg **out, struct attempt *a)
{
	enum verdict verdict;
	int failed = take_roles(a);
	if (!failed)
		failed = prepare(a, &verdict);
	if (failed)
		return failed;
	struct seg *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (s == MAP_FAILED)
		return refuse(-errno, a->why, a->why_size, "cannot map shared memory %s: %s",
			a->name, strerror(errno));
	failed = map_remember(s, a->fd, (int)a->process);
	if (failed) {
		munmap(s, sizeof(*s));
		return refuse(failed, a->why, a->why_size, "too many segments in one process");
	}
	if (verdict == UNFINISHED)
		create(s);
	else if (!a->is_other_alive)
		take_over(s);
	begin_life(s, a->process);
	*out = s;
	return 0;
}

int seg_attach(
	struct seg **out, const char *name, enum shm_process process, char *why, size_t why_size)
{
	struct attempt a = {.process = process, .why = why, .why_size = why_size};
	if (make_name(a.name, name) < 0)
		return refuse(-EINVAL, why, why_size,
			"node name '%s' is not 1 to 53 letters, digits, - and _", name);
	int failed;
	do {
		failed = open_locked(&a);
		if (failed)
			return failed;
		failed = attach_locked(out, &a);
		if (failed)
			close(a.fd);
	} while (failed == -EAGAIN);
	if (!failed)
		lock_drop(a.fd, LOCK_ATTACH);
	return failed;
}

int seg_open(const struct seg **out, const char *name, char *why, size_t why_size)
{
	char path[SEG_NAME_MAX];
	struct seg_header header;
	if (make_name(path, name) < 0)
		return refuse(-EINVAL, why, why_size,
			"node name '%s' is not 1 to 53 letters, digits, - and _", name);
	int fd = shm_open(path, O_RDONLY, 0);
	if (fd < 0)
		return refuse(-errno, why, why_size, "no shared memory %s: %s", path,
			errno == ENOENT ? "the node is not running" : strerror(errno));
	int failed = 0;
	switch (judge(fd, &header)) {
	case USABLE:
		break;
	case UNFINISHED:
		failed = refuse(
			-ENOENT, why, why_size, "shared memory %s is not filled in yet", path);
		break;
	case FOREIGN:
		failed = refuse_layout(path, &header, why, why_size);
		break;
	}
	const struct seg *s = MAP_FAILED;
	if (!failed) {
		s = mmap(NULL, sizeof(*s), PROT_READ, MAP_SHARED, fd, 0);
		if (s == MAP_FAILED)
			failed = refuse(-errno, why, why_size, "cannot map shared memory %s: %s",
				path, strerror(errno));
	}
	close(fd);
	if (!failed)
		*out = s;
	return failed;
}

void seg_detach(const struct seg *s)
{
	struct seg_map map;
	if (map_forget(s, &map)) {
		seg_beat((struct seg *)s, (enum shm_process)map.process, SEG_STOPPED);
		close(map.fd);
	}
	munmap((void *)s, sizeof(*s));
}

bool seg_is_used(const char *name)
{
	char path[SEG_NAME_MAX];
	int fd = make_name(path, name) == 0 ? shm_open(path, O_RDONLY, 0) : -1;
	if (fd < 0)
		return false;
	bool is_used = false;
	for (unsigned p = 0; p < SHM_PROCESS_COUNT; p++)
		is_used |= lock_is_held(fd, LOCK_ROLE0 + p);
	close(fd);
	return is_used;
}

void seg_unlink(const char *name)
{
	char path[SEG_NAME_MAX];
	if (make_name(path, name) == 0 && !seg_is_used(name))
		shm_unlink(path);
}

void seg_beat(struct seg *s, enum shm_process process, enum seg_state state)
{
	struct seg_heart *heart = &s->hearts[process];
	__atomic_store_n(&heart->state, (uint32_t)state, __ATOMIC_RELAXED);
	__atomic_store_n(&heart->log_depth, log_depth(), __ATOMIC_RELAXED);
	__atomic_store_n(&heart->beat_ns, clock_now_ns(), __ATOMIC_RELEASE);
}

bool seg_is_alive(const struct seg *s, enum shm_process process)
{
	const struct seg_heart *heart = &s->hearts[process];
	uint64_t beat_ns = __atomic_load_n(&heart->beat_ns, __ATOMIC_ACQUIRE);
	uint32_t state = __atomic_load_n(&heart->state, __ATOMIC_RELAXED);
	int32_t pid = __atomic_load_n(&heart->pid, __ATOMIC_RELAXED);
	uint64_t now_ns = clock_now_ns();
	if (pid <= 0 || state == SEG_STOPPED)
		return false;
	if (now_ns > beat_ns && now_ns - beat_ns > LIMIT_HEARTBEAT_STALE_MS * NS_PER_MS)
		return false;
	return kill(pid, 0) == 0 || errno != ESRCH;
}

struct rte_ring *seg_ring(struct seg *s, enum queue_id queue, unsigned lcore)
{
	switch (queue) {
	case QUEUE_STORAGE_WORK:
		return (struct rte_ring *)s->rings.storage_work;
	case QUEUE_DONE:
		MUST(lcore < LIMIT_LCORES);
		return (struct rte_ring *)s->rings.done[lcore];
	case QUEUE_GATEWAY_WORK:
	case QUEUE_INDEX_WORK:
	case QUEUE_DHT_WORK:
	case QUEUE_EDGE_WORK:
	case QUEUE_DHT_ROUTE:
	case QUEUE_STORAGE_REPAIR:
	case QUEUE_EVENTS:
	case QUEUE_CONFIG:
	case QUEUE_SHUTDOWN:
	case QUEUE_SPREAD:
	case QUEUE_LOG:
	case QUEUE_CAPTURE:
	case QUEUE_COUNT:
		return NULL;
	}
	return NULL;
}
