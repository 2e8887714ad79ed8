#include "lib/mem/mem.h"

#include <sys/mman.h>

static bool sealed; /* atomic: set once start-up is over */

void *mem_map(size_t bytes)
{
	MUST_HOT(!__atomic_load_n(&sealed, __ATOMIC_RELAXED));
	/* No reservation: pools are sized for the worst case and touched only as far as they are used. */
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory != MAP_FAILED ? memory : NULL;
}

void mem_unmap(void *memory, size_t bytes)
{
	MUST(munmap(memory, bytes) == 0);
}

void mem_forget(void *memory, size_t bytes)
{
	MUST(madvise(memory, bytes, MADV_DONTNEED) == 0);
}

void mem_seal(void)
{
	__atomic_store_n(&sealed, true, __ATOMIC_RELAXED);
}

void mem_unseal(void)
{
	__atomic_store_n(&sealed, false, __ATOMIC_RELAXED);
}
