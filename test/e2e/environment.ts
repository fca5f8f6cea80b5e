// What a server behind a shim was given, as the system tells it: its agent must not be able to.
import { readdirSync, readFileSync } from 'node:fs';

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** The environment of the process below another one whose command line holds the word. */
export function environmentBelow(parentPid: number | null, word: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const server = pids.find((pid) => {
    const [, parent] = /^PPid:\t(\d+)$/m.exec(readOr(`/proc/${pid}/status`)) ?? [];
    return Number(parent) === parentPid && readOr(`/proc/${pid}/cmdline`).includes(word);
  });
  return readOr(`/proc/${server}/environ`).split('\0');
}

/** What everybody can see of all processes. */
export function commandLines(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readOr(`/proc/${pid}/cmdline`)).join('\n');
}
