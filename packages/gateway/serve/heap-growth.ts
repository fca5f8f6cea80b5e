// How much memory a process takes that serves turns without end.
import { setFlagsFromString } from 'node:v8';

/** The V8 of Node 20, 22 and 24. Another may not know the flag, and would say so on stderr. */
const V8_TRIED = /^1[123]\./;

/**
 * Nearly all that a turn allocates is garbage when it ends. V8 would let the heap grow to four times of what is in use
 * before it collects it: 120 MB more for a gateway under load, and no turn sooner. Call it when all code is loaded:
 * V8 takes no code that was compiled under other flags.
 */
export function limitHeapGrowth(): void {
  if (V8_TRIED.test(process.versions.v8)) setFlagsFromString('--heap-growing-percent=50');
}
