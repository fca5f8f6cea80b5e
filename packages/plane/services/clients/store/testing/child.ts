// One process of a test: does what it is told by its argument, and kills itself where it is told to.

import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ConfigFile } from '../../types.ts';
import { applyChange } from '../apply-change.ts';
import { lockConfig } from '../change-store.ts';
import type { ChangeStep } from '../config-file.ts';
import { governing, storeIn } from './bench.ts';
import { restoreConfig } from './find.ts';

export interface Task {
  readonly does: 'apply' | 'restore' | 'lock' | 'fight';
  readonly home: string;
  readonly file: ConfigFile;
  readonly kind: 'import' | 'wrap';
  readonly flags: readonly string[];
  readonly names?: readonly string[];
  readonly key: string;
  readonly killAt?: ChangeStep;
  /** Goes on as a user without the rights of root. */
  readonly uid?: number;
}

function run(task: Task): void {
  const store = storeIn(task.home);
  const onStep = (step: ChangeStep): void => {
    if (step === task.killAt) process.kill(process.pid, 'SIGKILL');
  };
  if (task.uid !== undefined) process.setuid?.(task.uid);
  switch (task.does) {
    case 'apply': {
      const { file, kind, flags, names } = task;
      const rewrite = governing(file, flags, names);
      say(applyChange({ ...store, file, kind, rewrite, onStep }));
      break;
    }
    case 'restore':
      say(restoreConfig({ ...store, path: task.file.path, onStep }));
      break;
    case 'lock':
      say(lockConfig(task.key, task.file.path, store));
      break;
    case 'fight':
      fight(task);
      break;
  }
}

/** At each line: takes the lock; holds it until the next one. */
function fight({ home, key }: Task): void {
  const store = storeIn(home);
  const inside = join(home, 'inside');
  let release = (): void => undefined;
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'release') {
      release();
      release = () => undefined;
      say('released');
      return;
    }
    const lock = lockConfig(key, inside, store);
    if (lock.kind !== 'locked') {
      say(lock.code === 'SUB_CLIENT_LOCKED' ? 'held' : lock.kind);
      return;
    }
    const isAlone = isFirst(inside);
    release = () => {
      if (isAlone) rmSync(inside);
      lock.release();
    };
    say(isAlone ? 'locked' : 'two');
  });
  say('ready');
}

/** Whether nobody else is where only one may be. */
function isFirst(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch {
    return false;
  }
}

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

run(JSON.parse(process.argv[2] ?? '{}') as Task);
