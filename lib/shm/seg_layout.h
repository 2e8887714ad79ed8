/* seg_layout: one number that differs whenever two builds would read the segment differently: the
 * names, sizes and offsets of its parts, the registries whose entries are positions in it, and the
 * configuration's keys. Pure. */
#ifndef LIB_SHM_SEG_LAYOUT_H
#define LIB_SHM_SEG_LAYOUT_H

#include "lib/base/base.h"

uint64_t seg_layout_hash(void);

#endif
