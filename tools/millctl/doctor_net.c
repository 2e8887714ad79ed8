/* The checks of IOMMU, network cards, ports and the run directory. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/millctl/doctor.h"
#include "tools/millctl/doctor_parse.h"

enum { PATH_TEXT = 512, NAME_TEXT = 64, PCI_CLASS_NETWORK = 0x02 };

static unsigned count_entries(const char *dir)
{
	unsigned count = 0;
	DIR *d = opendir(dir);
	if (d == NULL)
		return 0;
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		count += e->d_name[0] != '.';
	closedir(d);
	return count;
}

static void check_iommu(struct doctor *d)
{
	unsigned groups = count_entries("/sys/kernel/iommu_groups");
	if (groups > 0) {
		doctor_say(d, "IOMMU", DOCTOR_OK, "on, %u groups", groups);
		return;
	}
	bool is_unsafe =
		doctor_read(d, "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode")[0] == 'Y';
	bool is_asked = doctor_parse_has_word(doctor_read(d, "/proc/cmdline"), "intel_iommu=on");
	doctor_say(d, "IOMMU", d->needs_bypass && !is_unsafe ? DOCTOR_WARN : DOCTOR_OK, "%s%s",
		is_unsafe  ? "off; vfio runs without it, so a card can write anywhere"
		: is_asked ? "asked for on the kernel command line, but the firmware has it off"
			   : "off",
		d->needs_bypass ? "" : "; the host back end needs none");
	doctor_fix(d, "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&intel_iommu=on iommu=pt /' "
		      "/etc/default/grub && sudo update-grub && sudo reboot");
}

/* The last part of where a link leads; empty when it is none. */
static void link_name(char out[NAME_TEXT], const char *path)
{
	char target[PATH_TEXT];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(target, '/');
	snprintf(out, NAME_TEXT, "%.63s", slash != NULL ? slash + 1 : target);
}

/* One PCI network card: who drives it? Returns whether DPDK can take it. */
static bool check_card(struct doctor *d, const char *device)
{
	char path[PATH_TEXT], driver[NAME_TEXT];
	const char *name = strrchr(device, '/') + 1;
	snprintf(path, sizeof(path), "%s/driver", device);
	link_name(driver, path);
	bool is_taken = strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "igb_uio") == 0 ||
			strcmp(driver, "uio_pci_generic") == 0;
	doctor_say(d, "NIC", DOCTOR_OK, "%s: %s%s", name, driver[0] != '\0' ? driver : "no driver",
		is_taken ? ", bound for DPDK" : " (kernel)");
	if (!is_taken && d->needs_bypass)
		doctor_fix(d, "sudo modprobe vfio-pci && sudo dpdk-devbind.py --bind=vfio-pci %s",
			name);
	return is_taken;
}

static void check_cards(struct doctor *d)
{
	glob_t found;
	unsigned cards = 0, taken = 0;
	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			char path[PATH_TEXT];
			snprintf(path, sizeof(path), "%s/class", found.gl_pathv[i]);
			unsigned long class = strtoul(doctor_read(d, path), NULL, 16);
			if (class >> 16 != PCI_CLASS_NETWORK)
				continue;
			cards++;
			taken += check_card(d, found.gl_pathv[i]);
		}
		globfree(&found);
	}
	if (cards == 0)
		doctor_say(d, "NIC", d->needs_bypass ? DOCTOR_WARN : DOCTOR_OK,
			"no PCI network card; only virtual ports are possible");
	else if (taken == 0 && d->needs_bypass)
		doctor_say(d, "NIC", DOCTOR_WARN, "no card is bound to vfio-pci");
}

static void check_port(struct doctor *d, const char *key, const char *endpoint, bool is_ours)
{
	struct addr a;
	if (addr_parse(&a, endpoint) != 0)
		return;
	bool is_taken = doctor_parse_is_listening(doctor_read(d, "/proc/net/tcp"), &a) ||
			doctor_parse_is_listening(doctor_read(d, "/proc/net/tcp6"), &a);
	const char *who = !is_taken ? "free"
			  : is_ours ? "taken, by the running node"
				    : "taken by another program";
	doctor_say(d, "port", is_taken && !is_ours ? DOCTOR_FAIL : DOCTOR_OK, "%s %s: %s", key,
		endpoint, who);
	if (is_taken && !is_ours)
		doctor_fix(d, "sudo ss -ltnp 'sport = :%u'    # then stop it, or set another %s",
			a.port, key);
}

static void check_backlog(struct doctor *d)
{
	uint64_t have = strtoull(doctor_read(d, "/proc/sys/net/core/somaxconn"), NULL, 10);
	bool is_short = have < d->conf.net_backlog && !d->needs_bypass;
	doctor_say(d, "listen backlog", is_short ? DOCTOR_WARN : DOCTOR_OK,
		"net.core.somaxconn is %llu, net.backlog %llu", (unsigned long long)have,
		(unsigned long long)d->conf.net_backlog);
	if (is_short)
		doctor_fix(d, "sudo sysctl -w net.core.somaxconn=%llu",
			(unsigned long long)d->conf.net_backlog);
}

static void check_run_dir(struct doctor *d)
{
	const char *dir = d->conf.node_run_dir;
	struct stat st;
	char parent[PATH_TEXT];
	snprintf(parent, sizeof(parent), "%s", dir);
	char *slash = strrchr(parent, '/');
	if (slash != NULL && slash != parent)
		*slash = '\0';
	if (stat(dir, &st) != 0) {
		bool can_make = errno == ENOENT && access(parent, W_OK) == 0;
		doctor_say(d, "run_dir", can_make ? DOCTOR_OK : DOCTOR_FAIL, "%s %s", dir,
			can_make ? "is not there yet; the control plane makes it"
				 : "is not there, and this user cannot make it");
		if (!can_make)
			doctor_fix(d, "sudo install -d -m 0700 -o $(id -un) %s", dir);
		return;
	}
	bool is_open = (st.st_mode & 022) != 0 || !S_ISDIR(st.st_mode);
	bool is_loose = (st.st_mode & 077) != 0;
	bool is_ours = st.st_uid == geteuid() || geteuid() == 0;
	doctor_say(d, "run_dir",
		is_open		       ? DOCTOR_FAIL
		: is_loose || !is_ours ? DOCTOR_WARN
				       : DOCTOR_OK,
		"%s has mode %04o and belongs to uid %u", dir, (unsigned)st.st_mode & 07777,
		(unsigned)st.st_uid);
	if (is_open || is_loose)
		doctor_fix(d, "sudo chmod 0700 %s", dir);
	else if (!is_ours)
		doctor_fix(d, "sudo chown $(id -un) %s", dir);
}

void doctor_net_check(struct doctor *d)
{
	check_iommu(d);
	check_cards(d);
	check_backlog(d);
	for (uint64_t i = 0; i < d->conf.net_listen.count && !d->needs_bypass; i++)
		check_port(d, "net.listen", d->conf.net_listen.items[i], d->has_dataplane);
	if (d->conf.exporter_listen[0] != '\0')
		check_port(d, "exporter.listen", d->conf.exporter_listen, d->has_controlplane);
	check_run_dir(d);
}
