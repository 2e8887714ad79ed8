/* fuzz: what the fuzz targets share. CHECK is a finding: it stops the run at once and says where. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "lib/base/base.h"

#define CHECK(x) MUST(x)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy in memory of exactly its size, so that the sanitizer sees a read past the end. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);
	CHECK(copy != NULL);
	if (len != 0)
		memcpy(copy, data, len);
	return copy;
}

#endif
