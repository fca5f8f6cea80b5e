// A process that changes the store: again and again, or to be killed at one of its steps.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { addSecret, rotateSecret } from '../vault-store.ts';

/** What the process does to files, in order; it can be killed when one of these is done. */
const STEPS = ['openSync', 'writeFileSync', 'fsyncSync', 'closeSync', 'renameSync'] as const;
export type Step = (typeof STEPS)[number];
const TIMES_MAX = 10_000;

export interface Task {
  readonly home: string;
  /** One secret gets a new value again and again, or each of these is added once. */
  readonly rotates: string;
  readonly adds: readonly string[];
  /** Only what is done to the draft of the store counts. */
  readonly killAt: string;
}

async function work({ home, rotates, adds, killAt }: Task): Promise<void> {
  const options = { home, nowMs: Date.now, keychain: null };
  for (const name of adds) {
    const changed = await addSecret(options, { name, value: `value of ${name}`, protect: 'file' });
    process.stdout.write(`${changed.kind} ${name}\n`);
  }
  const step = STEPS.find((one) => one === killAt);
  if (step !== undefined) dieAfter(step);
  // One that is not killed at its step, as it should be, must end all the same.
  const timesMax = step === undefined ? TIMES_MAX : 1;
  for (let at = 1; rotates !== '' && at <= timesMax; at++) {
    const value = `${'x'.repeat(20_000)} ${at}`;
    const changed = await rotateSecret(options, { name: rotates, value });
    // Blocks: what was told was done.
    process.stdout.write(`${changed.kind} ${at}\n`);
  }
}

/** From the moment that the draft is opened, the first such step is the last. */
function dieAfter(step: Step): void {
  const { openSync } = fs;
  let isOpen = false;
  fs.openSync = (path, flags, mode) => {
    const fd = openSync(path, flags, mode);
    isOpen ||= /vault\.db\..*draft$/.test(String(path));
    if (isOpen && step === 'openSync') process.kill(process.pid, 'SIGKILL');
    return fd;
  };
  if (step !== 'openSync') {
    const original: unknown = Reflect.get(fs, step);
    Reflect.set(fs, step, (...args: readonly unknown[]): unknown => {
      if (typeof original !== 'function') throw new Error(`no ${step}`);
      const result: unknown = Reflect.apply(original, fs, args);
      if (isOpen) process.kill(process.pid, 'SIGKILL');
      return result;
    });
  }
  syncBuiltinESMExports();
}

const [home = '', rotates = '', killAt = '', ...adds] = process.argv.slice(2);
await work({ home, rotates, adds, killAt });
