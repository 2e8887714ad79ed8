#include "tools/millload/account.h"

static const char *const names[FAILURE_COUNT] = {
#define FAILURE(id, name, meaning) name,
#include "tools/millload/failure.def"
#undef FAILURE
};

const char *account_failure_name(enum failure kind)
{
	return names[kind];
}

uint64_t account_failed(const struct account *a)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < FAILURE_COUNT; i++)
		sum += a->failed[i];
	return sum;
}

uint64_t account_in_flight(const struct account *a)
{
	return a->sent - a->answered - a->one_way - account_failed(a);
}
