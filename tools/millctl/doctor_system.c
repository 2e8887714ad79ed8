/* The checks of kernel, CPU, memory and limits. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/version.h"
#include "lib/shm/seg.h"
#include "tools/millctl/doctor.h"
#include "tools/millctl/doctor_parse.h"

enum {
	KERNEL_MAJOR_MIN = 5, /* io_uring and everything the host back end uses */
	KERNEL_MINOR_MIN = 10,
	HUGE_PAGES_SPARE = 64, /* for packet buffers and rings, beside the slab */
	FILES_SPARE = 256,     /* listeners, segment, log, exporter, ops */
	SHM_SPARE_BYTES = 1 << 20,
};

static void check_versions(struct doctor *d)
{
	struct utsname u;
	unsigned major = 0, minor = 0;
	doctor_say(d, "millrace version", DOCTOR_OK, "%s", version_string());
	doctor_say(d, "DPDK version", DOCTOR_OK, "%s, as built", DOCTOR_DPDK_VERSION);
	if (uname(&u) != 0 || !doctor_parse_kernel(u.release, &major, &minor)) {
		doctor_say(d, "kernel version", DOCTOR_WARN, "unknown");
		return;
	}
	bool is_old =
		major < KERNEL_MAJOR_MIN || (major == KERNEL_MAJOR_MIN && minor < KERNEL_MINOR_MIN);
	doctor_say(d, "kernel version", is_old ? DOCTOR_FAIL : DOCTOR_OK, "%s%s", u.release,
		is_old ? ", too old: 5.10 is needed" : "");
	if (is_old)
		doctor_fix(d, "sudo apt-get install linux-image-amd64 && sudo reboot");
}

static void check_cpu(struct doctor *d)
{
	bool is_fit = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
	doctor_say(d, "CPU", is_fit ? DOCTOR_OK : DOCTOR_FAIL, "%ld CPUs, %s%s",
		sysconf(_SC_NPROCESSORS_ONLN),
		is_fit ? "x86-64-v2" : "without SSE4.2: not supported",
		__builtin_cpu_supports("avx512f") ? ", AVX-512"
		: __builtin_cpu_supports("avx2")  ? ", AVX2"
						  : "");
}

static void check_governor(struct doctor *d)
{
	glob_t found;
	unsigned slow = 0;
	char name[32] = "";
	if (glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", 0, NULL, &found) != 0) {
		doctor_say(d, "CPU governor", DOCTOR_OK,
			"no frequency scaling here (a virtual machine, or the firmware does it)");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *governor = doctor_read(d, found.gl_pathv[i]);
		if (strcmp(governor, "performance") != 0) {
			slow++;
			snprintf(name, sizeof(name), "%.31s", governor);
		}
	}
	if (slow == 0) {
		doctor_say(d, "CPU governor", DOCTOR_OK, "performance on all CPUs");
	} else {
		doctor_say(d, "CPU governor", DOCTOR_WARN,
			"%s on %u of %zu CPUs: latency will vary", name, slow, found.gl_pathc);
		doctor_fix(d, "echo performance | sudo tee "
			      "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor");
	}
	globfree(&found);
}

static void check_isolated(struct doctor *d)
{
	const char *list = doctor_read(d, "/sys/devices/system/cpu/isolated");
	bool is_busy = d->conf.net_poll == CONF_POLL_BUSY;
	if (list[0] != '\0')
		doctor_say(d, "isolated CPUs", DOCTOR_OK, "%.200s", list);
	else if (!is_busy)
		doctor_say(d, "isolated CPUs", DOCTOR_OK, "none; optional");
	else
		doctor_say(d, "isolated CPUs", DOCTOR_WARN,
			"none, and net.poll is busy: other work will share the lcores' CPUs");
	if (list[0] == '\0' && is_busy)
		doctor_fix(d, "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&isolcpus=1 nohz_full=1 /' "
			      "/etc/default/grub && sudo update-grub && sudo reboot");
}

static void check_huge_pages(struct doctor *d)
{
	const char *text = doctor_read(d, "/proc/meminfo");
	uint64_t total = 0, free_pages = 0, size_kib = 0;
	doctor_parse_meminfo(text, "HugePages_Total", &total);
	doctor_parse_meminfo(text, "HugePages_Free", &free_pages);
	if (!doctor_parse_meminfo(text, "Hugepagesize", &size_kib) || size_kib == 0)
		size_kib = 2048;
	uint64_t needed = d->conf.storage_slab_bytes / (size_kib * 1024) + HUGE_PAGES_SPARE;
	bool is_short = free_pages < needed;
	doctor_say(d, "huge pages", is_short && d->needs_bypass ? DOCTOR_FAIL : DOCTOR_OK,
		"%llu of %llu KiB, %llu free%s", (unsigned long long)total,
		(unsigned long long)size_kib, (unsigned long long)free_pages,
		d->needs_bypass ? "" : "; the host back end needs none");
	if (is_short)
		doctor_fix(d, "sudo sysctl -w vm.nr_hugepages=%llu",
			(unsigned long long)(total - free_pages + needed));
}

static void check_files(struct doctor *d)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	uint64_t needed = d->conf.net_conns_max * d->conf.net_lcores.count + FILES_SPARE;
	/* The data plane raises its soft limit itself; the hard one is what binds. */
	bool is_short = limit.rlim_max < needed && !d->needs_bypass;
	doctor_say(d, "open files limit", is_short ? DOCTOR_WARN : DOCTOR_OK,
		"soft %llu, hard %llu; net.conns_max on every lcore needs %llu",
		(unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max,
		(unsigned long long)needed);
	if (is_short)
		doctor_fix(d, "ulimit -n %llu    # or LimitNOFILE=%llu in the unit",
			(unsigned long long)needed, (unsigned long long)needed);
}

static void check_memlock(struct doctor *d)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return;
	bool is_free = limit.rlim_cur == RLIM_INFINITY;
	char text[32] = "unlimited";
	if (!is_free)
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
	doctor_say(d, "locked memory limit",
		!is_free && d->needs_bypass && geteuid() != 0 ? DOCTOR_FAIL : DOCTOR_OK, "%s%s",
		text, is_free || d->needs_bypass ? "" : "; the host back end locks none");
	if (!is_free)
		doctor_fix(d, "ulimit -l unlimited    # or LimitMEMLOCK=infinity in the unit");
}

static void check_shm(struct doctor *d)
{
	struct statvfs vfs;
	uint64_t needed = sizeof(struct seg) + SHM_SPARE_BYTES;
	if (statvfs("/dev/shm", &vfs) != 0) {
		doctor_say(d, "shared memory", DOCTOR_FAIL, "/dev/shm is not mounted");
		doctor_fix(d, "sudo mount -t tmpfs -o mode=1777,size=256M tmpfs /dev/shm");
		return;
	}
	uint64_t free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	bool is_short = free_bytes < needed && !d->has_controlplane;
	doctor_say(d, "shared memory", is_short ? DOCTOR_FAIL : DOCTOR_OK,
		"%llu MiB free in /dev/shm, the segment takes %llu MiB",
		(unsigned long long)(free_bytes >> 20), (unsigned long long)(needed >> 20));
	if (is_short)
		doctor_fix(d, "sudo mount -o remount,size=%lluM /dev/shm",
			(unsigned long long)((vfs.f_blocks * vfs.f_frsize + 2 * needed) >> 20));
}

void doctor_system_check(struct doctor *d)
{
	check_versions(d);
	check_cpu(d);
	check_governor(d);
	check_isolated(d);
	check_huge_pages(d);
	check_files(d);
	check_memlock(d);
	check_shm(d);
}
