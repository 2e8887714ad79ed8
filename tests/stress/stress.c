#include "tests/stress/stress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock/clock.h"

static uint64_t seed(void)
{
	static uint64_t value;
	if (value == 0) {
		const char *text = getenv("MILLRACE_STRESS_SEED");
		value = text != NULL ? strtoull(text, NULL, 10) : 20240229;
		printf("seed %llu\n", (unsigned long long)value);
	}
	return value;
}

uint64_t stress_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull ^ (b + 0x632be59bd9b4e019ull);
	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 29) * 0x94d049bb133111ebull;
	return x ^ x >> 32;
}

struct stress_rng stress_rng(uint64_t who)
{
	return (struct stress_rng){stress_mix(seed(), who)};
}

uint64_t stress_random(struct stress_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ull;
	return stress_mix(rng->state, 0);
}

void *stress_share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(memory != MAP_FAILED);
	return memory;
}

bool stress_is_over(uint64_t start_ns, uint64_t ms)
{
	return clock_now_ns() - start_ns > ms * NS_PER_MS;
}

bool stress_goes_on(uint64_t start_ns, unsigned rounds)
{
	if (rounds < STRESS_ROUNDS_MIN)
		return true;
	return rounds < STRESS_ROUNDS_MAX && !stress_is_over(start_ns, STRESS_PART_MS);
}

bool stress_await(const uint64_t *counter, uint64_t value)
{
	uint64_t start_ns = clock_now_ns();
	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value) {
		if (clock_now_ns() - start_ns > STRESS_GIVE_UP_MS * NS_PER_MS)
			return false;
		usleep(50);
	}
	return true;
}

pid_t stress_spawn(void (*body)(void *), void *arg)
{
	fflush(stdout);
	pid_t pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		body(arg);
		_exit(0);
	}
	return pid;
}

void stress_kill(pid_t pid, struct stress_rng *rng, void (*meanwhile)(void *), void *arg)
{
	uint64_t wait_ns = stress_random(rng) % (1ull << (10 + stress_random(rng) % 11));
	uint64_t start_ns = clock_now_ns();
	do {
		if (meanwhile != NULL)
			meanwhile(arg);
	} while (clock_now_ns() - start_ns < wait_ns);
	MUST(kill(pid, SIGKILL) == 0);
	MUST(waitpid(pid, NULL, 0) == pid);
}

int stress_reap(pid_t pid)
{
	uint64_t start_ns = clock_now_ns();
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (clock_now_ns() - start_ns > STRESS_GIVE_UP_MS * NS_PER_MS) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return 255;
		}
		usleep(200);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}
