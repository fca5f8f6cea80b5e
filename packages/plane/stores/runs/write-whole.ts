// A file that is there whole or not at all.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** A full disk must not leave half of it under the name that shims look for. */
export function writeWhole(path: string, text: string, suffix: string): void {
  write(path, text, { suffix, isLasting: true });
}

/** The same, for what says nothing any more once this machine has started again. */
export function writeForBoot(path: string, text: string, suffix: string): void {
  write(path, text, { suffix, isLasting: false });
}

interface How {
  readonly suffix: string;
  readonly isLasting: boolean;
}

function write(path: string, text: string, { suffix, isLasting }: How): void {
  const draft = `${path}.${suffix}`;
  try {
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      if (isLasting) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
