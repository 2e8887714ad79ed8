/* ring_shutdown: lcores hand jobs to workers through one work ring, get them back through their done
 * ring, and all of them end when shutdown is asked for.
 *
 *   lcore   push job ---> work ring (many producers, many consumers) ---> worker
 *     ^                                                                     |
 *     +---------------------- done ring of that lcore <--------------------+
 *
 * The work ring is lib/shm/ring.h step by step as rte_ring does it: reserve by compare-and-swap on the
 * head, touch the slot, wait for the turn, publish the tail. Slots equal the capacity here, the
 * tightest case (the real ring has a spare). Done rings are plain channels: their producers hold a
 * reservation, so finding one full is an error.
 *
 * Protocol of the shutdown: an lcore that sees the register takes no new job, waits until each of its
 * jobs is back, and signs off. A worker ends when all lcores had signed off BEFORE it found the ring
 * empty.
 *
 * Claims:
 *   - no deadlock (Spin's invalid end states), whatever the order of things
 *   - a worker never reads a slot that was not written, a producer never overwrites one not yet read
 *   - an accepted job is done exactly once and returned to its own lcore; a refused one (ring full) never
 *   - done rings are never full
 *   - ltl seen: once shutdown is asked for, everybody ends
 *
 * Mutants, each of which must be caught: BROKEN=1 the worker obeys the register before it drains;
 * BROKEN=2 a producer publishes without waiting for its turn; BROKEN=3 an lcore signs off without
 * waiting for its jobs. */
#ifndef BROKEN
#define BROKEN 0
#endif

/* tests/model/run checks several of these shapes: each stresses another part, and all at once would
 * be too many states. */
#define LCORES 2
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef JOBS
#define JOBS 2 /* of each lcore */
#endif
#ifndef CAPACITY
#define CAPACITY 2
#endif
#define ALL (LCORES * JOBS)

/* Locals are set back to 0 when they are of no more use: else each old value is another state. */

/* The work ring. Positions only grow here: there are few enough jobs. */
byte prod_head, prod_tail, cons_head, cons_tail;
byte slot[CAPACITY]; /* 0: empty, else job + 1 */

bool shutdown;
byte signed_off; /* lcores that are done */
byte ended;	 /* workers that are done */

bool accepted[ALL];
byte done_times[ALL];
bool returned[ALL];

chan done[LCORES] = [JOBS] of { byte };

inline push(job, ok)
{
	do
	:: old = prod_head;
	   if
	   :: (old - cons_tail >= CAPACITY) -> ok = false; break
	   :: else
	   fi;
	   atomic {
		   if
		   :: (prod_head == old) -> prod_head = old + 1; ok = true
		   :: else -> ok = false
		   fi
	   };
	   if
	   :: ok -> break
	   :: else
	   fi
	od;
	if
	:: ok ->
	   atomic {
		   assert(slot[old % CAPACITY] == 0);
		   slot[old % CAPACITY] = job + 1
	   };
#if BROKEN != 2
	   (prod_tail == old);
#endif
	   atomic { prod_tail = old + 1; old = 0 }
	:: else -> old = 0
	fi
}

inline pop(job, ok)
{
	do
	:: old = cons_head;
	   if
	   :: (prod_tail <= old) -> ok = false; break
	   :: else
	   fi;
	   atomic {
		   if
		   :: (cons_head == old) -> cons_head = old + 1; ok = true
		   :: else -> ok = false
		   fi
	   };
	   if
	   :: ok -> break
	   :: else
	   fi
	od;
	if
	:: ok ->
	   atomic {
		   assert(slot[old % CAPACITY] != 0);
		   job = slot[old % CAPACITY] - 1;
		   slot[old % CAPACITY] = 0
	   };
	   (cons_tail == old);
	   atomic { cons_tail = old + 1; old = 0 }
	:: else -> old = 0
	fi
}

proctype lcore(byte me)
{
	byte old, job, back;
	byte sent, in_flight;
	bool ok;
	do
	:: (!shutdown && sent < JOBS) ->
	   job = me * JOBS + sent;
	   sent++;
	   push(job, ok);
	   if
	   :: ok -> atomic { accepted[job] = true; in_flight++; ok = false; job = 0 }
	   :: else -> job = 0 /* answered 429 */
	   fi
	:: done[me] ? back ->
	   assert(back / JOBS == me && !returned[back]);
	   d_step { returned[back] = true; in_flight--; back = 0 }
	:: shutdown -> break
	od;
#if BROKEN != 3
	do
	:: (in_flight > 0) ->
	   done[me] ? back;
	   assert(back / JOBS == me && !returned[back]);
	   d_step { returned[back] = true; in_flight--; back = 0 }
	:: else -> break
	od;
#endif
	signed_off++
}

proctype worker()
{
	byte old, job;
	bool ok, stop;
	do
	::
#if BROKEN == 1
	   stop = shutdown;
	   if
	   :: stop -> break
	   :: else
	   fi;
#else
	   /* Read before the look at the ring: the other way round a job could slip in between. */
	   stop = (signed_off == LCORES);
#endif
	   pop(job, ok);
	   if
	   :: ok ->
	      atomic {
		      done_times[job]++;
		      assert(done_times[job] == 1)
	      };
	      atomic {
		      assert(nfull(done[job / JOBS]));
		      done[job / JOBS] ! job;
		      job = 0;
		      ok = false
	      }
	   :: (!ok && stop) -> break
	   :: else ->
	      /* Polls on; nothing changes for it until one of these does. */
	      (prod_tail > cons_head || signed_off == LCORES || (BROKEN == 1 && shutdown))
	   fi
	od;
	ended++
}

/* A signal comes at any time. */
proctype asker()
{
	shutdown = true; /* a second signal writes the same value: no new state */
}

init
{
	byte i;
	atomic {
		run lcore(0);
		run lcore(1);
		run worker();
#if WORKERS == 2
		run worker();
#endif
		run asker()
	};
	(signed_off == LCORES && ended == WORKERS);
	d_step {
		for (i : 0 .. ALL - 1) {
			assert(done_times[i] == accepted[i]);
			assert(returned[i] == accepted[i])
		};
		assert(prod_tail == cons_tail)
	}
}

ltl seen { [] (shutdown -> <> (signed_off == LCORES && ended == WORKERS)) }
