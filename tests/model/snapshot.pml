/* snapshot: one writer, readers that never lock, and a writer that may die at any step
 * (lib/shm/snap.h).
 *
 *   version v is in slot v & 1.  writer: fill slot (v+1) & 1 word by word, then version = v + 1.
 *                                reader: v = version; copy slot v & 1 word by word;
 *                                        version still v: the copy is whole, else again.
 *
 * A writer that dies leaves what it had filled. A new one may come, or never: it goes on from the
 * published version with a value of its own. One reader is enough: readers write nothing that another
 * process reads. Each filling has a stamp, so that words of two fillings
 * of one version are told apart.
 *
 * The model is sequentially consistent. That the real code's memory order gives the same is shown by
 * tests/stress/snap_stress.c under ThreadSanitizer.
 *
 * Claims:
 *   - a reader never returns a torn value, nor another version's
 *   - versions never go back for a reader
 *   - a reader tries again at most once for each publication
 *   - ltl ends: the reader ends, also when the writer is dead for good
 *
 * Mutants, each of which must be caught: BROKEN=1 a single slot; BROKEN=2 no second look at the version;
 * BROKEN=3 the version is published before the slot is filled; BROKEN=4 a sequence lock, whose readers
 * wait for a dead writer for ever. */
#ifndef BROKEN
#define BROKEN 0
#endif

#define WORDS	 2
#define VERSIONS 4 /* publications in all */
#define DEATHS	 2
#define READS	 2

#if BROKEN == 1 || BROKEN == 4
#define SLOT(v) 0
#else
#define SLOT(v) ((v) & 1)
#endif

byte version;
byte words[2 * WORDS];	   /* slot 0, then slot 1; the stamp of the filling */
byte stamp_of[VERSIONS + 1]; /* ghost: the stamp that was published as this version */
byte stamps;		   /* ghost: fillings so far */
bool is_locked;		   /* only the sequence lock has it */
bool reader_ended;

#define PUBLISH(v) \
	atomic { \
		stamp_of[v] = stamps; \
		version = v \
	}

/* Dies at any step of a filling, and is started anew or never again; a new life knows what is shared
 * and nothing else. */
proctype writer()
{
	byte next, i, deaths;
life:
	do
	:: (version == VERSIONS) -> goto end
	:: else ->
	   atomic { next = version + 1; stamps++; i = 0 };
#if BROKEN == 3
	   PUBLISH(next);
#endif
#if BROKEN == 4
	   is_locked = true;
#endif
	   do
	   :: (i < WORDS) -> atomic { words[SLOT(next) * WORDS + i] = stamps; i++ }
	   :: (i == WORDS) -> break
	   :: (deaths < DEATHS) -> atomic { deaths++; next = 0; i = 0 }; goto dead
	   od;
#if BROKEN != 3
	   PUBLISH(next);
#endif
#if BROKEN == 4
	   is_locked = false
#endif
	od;
dead:
	if
	:: goto life
	:: goto end
	fi;
end:
	skip
}

proctype reader()
{
	byte v, i, last, reads, tries;
	byte copy[WORDS];
	do
	:: (reads < READS) ->
	   tries = 0;
again:
	   tries++;
	   assert(tries <= VERSIONS + 1);
#if BROKEN == 4
	   (!is_locked);
#endif
	   v = version;
	   if
	   :: (v == 0) -> skip /* nothing published yet is an answer too */
	   :: else ->
	      for (i : 0 .. WORDS - 1) {
		      copy[i] = words[SLOT(v) * WORDS + i]
	      };
	      i = 0;
#if BROKEN != 2
	      if
	      :: (version != v) -> goto again
	      :: else
	      fi;
#endif
#if BROKEN == 4
	      if
	      :: is_locked -> goto again
	      :: else
	      fi;
#endif
	      d_step {
		      for (i : 0 .. WORDS - 1) {
			      assert(copy[i] == stamp_of[v])
		      };
		      assert(v >= last);
		      last = v
	      }
	   fi;
	   reads++
	:: else -> break
	od;
	reader_ended = true
}

init
{
	atomic {
		run writer();
		run reader()
	}
}

ltl ends { <> (reader_ended) }
