// The space in which the numbers of processes mean something: a container has its own, and does not
// see the processes outside of it.
import { type System, thisSystem } from '../identity/index.ts';

/** Undefined where nobody tells. */
export function pidSpace(system: System = thisSystem()): string | undefined {
  return system.space?.();
}
