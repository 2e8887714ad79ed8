#include "tools/millctl/doctor_parse.h"

#include "tests/unit/unit.h"

static void meminfo(void)
{
	static const char text[] = "MemTotal:       16000000 kB\nHugePages_Total:     512\n"
				   "HugePages_Free:      500\nHugepagesize:       2048 kB\n";
	uint64_t n = 0;
	CU_ASSERT(doctor_parse_meminfo(text, "MemTotal", &n) && n == 16000000);
	CU_ASSERT(doctor_parse_meminfo(text, "HugePages_Total", &n) && n == 512);
	CU_ASSERT(doctor_parse_meminfo(text, "HugePages_Free", &n) && n == 500);
	CU_ASSERT(doctor_parse_meminfo(text, "Hugepagesize", &n) && n == 2048);
	CU_ASSERT_FALSE(doctor_parse_meminfo(text, "HugePages", &n));
	CU_ASSERT_FALSE(doctor_parse_meminfo("", "MemTotal", &n));
	CU_ASSERT_FALSE(doctor_parse_meminfo("MemTotal:", "MemTotal", &n));
}

static void kernel(void)
{
	unsigned major, minor;
	CU_ASSERT(
		doctor_parse_kernel("6.1.0-18-amd64", &major, &minor) && major == 6 && minor == 1);
	CU_ASSERT(doctor_parse_kernel("5.10", &major, &minor) && major == 5 && minor == 10);
	CU_ASSERT_FALSE(doctor_parse_kernel("six", &major, &minor));
	CU_ASSERT_FALSE(doctor_parse_kernel("", &major, &minor));
}

static void cmdline(void)
{
	static const char text[] = "quiet xintel_iommu=on intel_iommu=only intel_iommu=on iommu=pt";
	CU_ASSERT(doctor_parse_has_word(text, "intel_iommu=on"));
	CU_ASSERT(doctor_parse_has_word(text, "quiet"));
	CU_ASSERT(doctor_parse_has_word(text, "iommu=pt"));
	CU_ASSERT_FALSE(doctor_parse_has_word(text, "intel_iommu"));
	CU_ASSERT_FALSE(doctor_parse_has_word("", "quiet"));
}

static bool is_listening(const char *text, const char *where)
{
	struct addr a;
	CU_ASSERT_EQUAL_FATAL(addr_parse(&a, where), 0);
	return doctor_parse_is_listening(text, &a);
}

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"

static void listening(void)
{
	static const char tcp[] = HEAD "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 "
				       "00:00000000 00000000     0\n"
				       "   1: 0100007F:2585 0100007F:8AE2 01 00000000:00000000 "
				       "00:00000000 00000000     0\n"
				       "   2: 00000000:0016 00000000:0000 0A 00000000:00000000 "
				       "00:00000000 00000000     0\n";
	CU_ASSERT(is_listening(tcp, "127.0.0.1:8080"));
	CU_ASSERT(is_listening(tcp, "0.0.0.0:8080"));
	CU_ASSERT(is_listening(tcp, "10.1.2.3:22"));
	CU_ASSERT_FALSE(is_listening(tcp, "127.0.0.2:8080"));
	CU_ASSERT_FALSE(is_listening(tcp, "127.0.0.1:9605")); /* connected, not listening */
	CU_ASSERT_FALSE(is_listening("", "127.0.0.1:8080"));
	CU_ASSERT_FALSE(is_listening(HEAD "garbage\n   0: zz:1F90 0 0A\n", "127.0.0.1:8080"));
}

static void listening_v6(void)
{
	static const char tcp6[] =
		HEAD "   0: 00000000000000000000000001000000:1F90 "
		     "00000000000000000000000000000000:0000 0A 00000000:00000000\n"
		     "   1: 0000000000000000FFFF00000100007F:0050 "
		     "00000000000000000000000000000000:0000 0A 00000000:00000000\n";
	CU_ASSERT(is_listening(tcp6, "[::1]:8080"));
	CU_ASSERT_FALSE(is_listening(tcp6, "127.0.0.1:8080"));
	CU_ASSERT(is_listening(tcp6, "127.0.0.1:80")); /* an IPv4 address in an IPv6 socket */
}

static const struct unit_case cases[] = {
	{"meminfo", meminfo},
	{"kernel", kernel},
	{"cmdline", cmdline},
	{"listening", listening},
	{"listening_v6", listening_v6},
};
UNIT_MAIN("tools/millctl/doctor_parse", cases)
