// What sessions that were killed have left in the folder of runs.
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readWrapFile, removeWrapFile } from '../../../stores/runs/wrap-file.ts';

/** With an ending of its own while it is being written. */
const NAME = /^wrap-([a-z0-9-]{1,64})\.json(\.[0-9a-f-]{36})?$/;
/** What is being written is not a minute old. */
const DRAFT_MS = 60_000;
const ENTRIES_MAX = 500;

/** Removes the files of sessions whose owner is gone; nobody waits for it. */
export function dropStaleWraps(runDir: string, nowMs: number): void {
  for (const name of namesIn(runDir)) {
    const [, id, draft] = NAME.exec(name) ?? [];
    if (id === undefined) continue;
    try {
      if (draft === undefined) {
        if (readWrapFile(runDir, id).kind === 'over') removeWrapFile(runDir, id);
      } else if (nowMs - lstatSync(join(runDir, name)).mtimeMs > DRAFT_MS) {
        rmSync(join(runDir, name), { force: true });
      }
    } catch {
      // It is there for the next one.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, ENTRIES_MAX);
  } catch {
    return [];
  }
}
