// The CPU time of processes, as the kernel counts it: in steps of 10 ms, which even out over a fleet.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;
/** Behind the name of the program, which may hold anything. */
const [OWN, WAITED_FOR] = [11, 13];

/** What a process has used itself; 0 for one that is gone. */
export function ownCpuMs(pid) {
  return cpuMs(pid, OWN);
}

/** What its children had used, and theirs, when it waited for their end. */
export function endedCpuMs(pid) {
  return cpuMs(pid, WAITED_FOR);
}

function cpuMs(pid, at) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    return (Number(fields[at]) + Number(fields[at + 1])) * TICK_MS;
  } catch {
    return 0;
  }
}

/** The child of a process that runs this script. */
export function childRunning(pid, script) {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean),
    );
    return children.find((child) =>
      readFileSync(`/proc/${child}/cmdline`, 'latin1').split('\0').includes(script),
    );
  } catch {
    return undefined;
  }
}
