/* synflood: sends SYNs to one address and port from random addresses of 10.0.0.0/8, as fast as the link takes them.
 * usage: synflood DEVICE FROM_MAC TO_MAC TO_IP TO_PORT COUNT
 * For a link inside a namespace of the test that made it. Prints how many left. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 64, IP_AT = 14, TCP_AT = 34, FRAME = 58 /* with an MSS option */ };
enum { SYN = 0x02, MSS = 1460 };

struct flood {
	uint64_t random;
	uint8_t frames[BATCH][FRAME];
	struct iovec parts[BATCH];
	struct mmsghdr batch[BATCH];
};

static uint32_t next_random(struct flood *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return (uint32_t)(f->random >> 16);
}

static void put16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static void put32(uint8_t *p, uint32_t value)
{
	put16(p, value >> 16);
	put16(p + 2, value & 0xffff);
}

static uint32_t add(uint32_t sum, const uint8_t *p, unsigned len)
{
	for (unsigned i = 0; i < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	return sum;
}

static unsigned fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* What all frames have in common. */
static void write_common(uint8_t *p, const struct ether_addr *from, const struct ether_addr *to,
	struct in_addr ip, unsigned port)
{
	memset(p, 0, FRAME);
	memcpy(p, to, 6);
	memcpy(p + 6, from, 6);
	put16(p + 12, 0x0800);
	uint8_t *head = p + IP_AT;
	head[0] = 0x45;
	put16(head + 2, FRAME - IP_AT);
	head[8] = 64;
	head[9] = IPPROTO_TCP;
	memcpy(head + 16, &ip, 4);
	uint8_t *tcp = p + TCP_AT;
	put16(tcp + 2, port);
	tcp[12] = (FRAME - TCP_AT) / 4 << 4;
	tcp[13] = SYN;
	put16(tcp + 14, 65535);
	tcp[20] = 2;
	tcp[21] = 4;
	put16(tcp + 22, MSS);
}

/* Source, sequence number and sums of one frame. */
static void write_one(struct flood *f, uint8_t *p)
{
	uint8_t *head = p + IP_AT, *tcp = p + TCP_AT;
	put32(head + 12, 0x0a000000 | (next_random(f) & 0xffffff));
	put16(head + 10, 0);
	put16(head + 10, fold(add(0, head, 20)));
	put16(tcp, 1024 + next_random(f) % 60000);
	put32(tcp + 4, next_random(f));
	put16(tcp + 16, 0);
	uint32_t sum = add(0, head + 12, 8) + IPPROTO_TCP + FRAME - TCP_AT;
	put16(tcp + 16, fold(add(sum, tcp, FRAME - TCP_AT)));
}

static int open_link(const char *device)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(device)};
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 || at.sll_ifindex == 0 ||
		setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) != 0 ||
		bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		perror(device);
		exit(1);
	}
	return fd;
}

static uint64_t send_all(struct flood *f, int fd, uint64_t count)
{
	uint64_t sent = 0;
	while (sent < count) {
		unsigned want = count - sent < BATCH ? (unsigned)(count - sent) : BATCH;
		for (unsigned i = 0; i < want; i++)
			write_one(f, f->frames[i]);
		int n = sendmmsg(fd, f->batch, want, 0);
		if (n < 0 && errno != ENOBUFS && errno != EAGAIN) {
			perror("sendmmsg");
			exit(1);
		}
		sent += n > 0 ? (uint64_t)n : 0;
	}
	return sent;
}

int main(int argc, char **argv)
{
	static struct flood f = {.random = 0x9e3779b97f4a7c15};
	struct ether_addr from, to;
	struct in_addr ip;
	if (argc != 7 || ether_aton_r(argv[2], &from) == NULL ||
		ether_aton_r(argv[3], &to) == NULL || inet_aton(argv[4], &ip) == 0) {
		fputs("usage: synflood DEVICE FROM_MAC TO_MAC TO_IP TO_PORT COUNT\n", stderr);
		return 2;
	}
	for (unsigned i = 0; i < BATCH; i++) {
		write_common(f.frames[i], &from, &to, ip, (unsigned)atoi(argv[5]));
		f.parts[i] = (struct iovec){f.frames[i], FRAME};
		f.batch[i].msg_hdr = (struct msghdr){.msg_iov = &f.parts[i], .msg_iovlen = 1};
	}
	int fd = open_link(argv[1]);
	printf("%" PRIu64 "\n", send_all(&f, fd, strtoull(argv[6], NULL, 10)));
	close(fd);
	return 0;
}
