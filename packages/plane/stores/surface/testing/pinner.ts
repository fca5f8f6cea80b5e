// A process that pins servers, to be run beside others or to be killed at one of its steps.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isFailure } from '@subluminal/contracts';
import { pinOf, type ServerPins } from '@subluminal/core/surface';
import { sha256 } from '../../../os/crypto/index.ts';
import { rememberPins, savePins } from '../pins-file.ts';

/** What the process does to its draft, in order; it can be killed when one of these is done. */
const STEPS = ['openSync', 'writeFileSync', 'fsyncSync', 'closeSync', 'renameSync'] as const;
export type Step = (typeof STEPS)[number];

function pinsOf(server: string): ServerPins {
  const definition = { name: `tool of ${server}`, description: 'x'.repeat(2_000) };
  const pinned = pinOf(definition, sha256);
  if (!pinned.ok) throw new Error('a definition that cannot be pinned');
  const pin = { hash: pinned.hash, definition, seenAtMs: 1, acceptedAtMs: null };
  return { instructions: undefined, tools: new Map([[definition.name, pin]]) };
}

/** From the moment that the draft is opened, the first such step is the last. */
function dieAfter(step: Step): void {
  const { openSync } = fs;
  let isOpen = false;
  fs.openSync = (path, flags, mode) => {
    const fd = openSync(path, flags, mode);
    isOpen ||= /pins\.json\..*draft$/.test(String(path));
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

const [home = '', killAt = '', ...servers] = process.argv.slice(2);
const step = STEPS.find((one) => one === killAt);
if (step !== undefined) dieAfter(step);
for (const server of servers) {
  const saved = await savePins(home, (store) => rememberPins(store, server, pinsOf(server)));
  process.stdout.write(`${isFailure(saved) ? saved.code : 'saved'} ${server}\n`);
}
