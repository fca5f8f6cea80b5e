// The space in which the numbers of processes mean something: a container has its own, and does not
// see the processes outside of it.
import { readlinkSync } from 'node:fs';
import { type System, thisSystem } from '../../identity/index.ts';

/** Of this boot, so that what is left from an earlier one is known as such; undefined without any. */
function pidSpace(system: System = thisSystem()): string | undefined {
  const boot = system.readFile('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? '';
  const number = spaceNumber();
  return number === undefined || !/^[0-9a-f]{8}$/.test(boot) ? undefined : `${boot}-${number}`;
}

function spaceNumber(): string | undefined {
  try {
    return /\d{1,20}/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

export { pidSpace };
