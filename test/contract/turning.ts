// A server that turns: it shows what a file says, and the next time something else.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Ended, ROOT } from '../e2e/sub.ts';
import { openTerminal, personSub } from '../person.ts';
import { QUICK, type Rig, type RigOptions, startRig } from './driver.ts';
import { type Home, homeOf, reasonOf, type Talk, talkTo } from './gated.ts';

const SERVER = `${ROOT}test/e2e/rug-pull-server.mjs`;
/** The server knows no calls: whoever hears this has reached it. */
export const REACHED = -32601;

export function tool(name: string, description: string): object {
  return { name, description, inputSchema: { type: 'object' } };
}

// Whoever accepts a change was there before the session.
await openTerminal();

export interface Place {
  readonly home: Home;
  readonly command: readonly string[];
  /** What the server shows from its next start on. */
  readonly show: (tools: readonly object[], more?: object) => void;
  sub(...args: readonly string[]): Promise<Ended>;
}

export function placeOf(): Place {
  const home = homeOf();
  const script = join(home.folder, 'script.json');
  const env = { HOME: home.folder, SUB_HOME: home.path, SUB_RUN_ID: '' };
  return {
    home,
    command: [process.execPath, SERVER, script],
    show: (tools, more = {}) => writeFileSync(script, JSON.stringify({ tools, ...more })),
    sub: (...args) => personSub(args, { cwd: home.folder, env }),
  };
}

interface Begun extends Talk {
  readonly rig: Rig;
}

/** A session that has begun, as `puppet`. */
export async function begin({ home, command }: Place, options: RigOptions = {}): Promise<Begun> {
  const { env = {}, ...rest } = options;
  const rig = await startRig({ command, ...rest, env: { ...QUICK, ...home.env, ...env } });
  const talk = talkTo(rig);
  await talk.open();
  return { rig, ...talk };
}

export async function expectReaches(talk: Talk, name: string): Promise<void> {
  expect(await talk.call(name)).toMatchObject({ error: { code: REACHED } });
}

export async function expectRefused(talk: Talk, name: string, reason: string): Promise<string> {
  const told = await talk.call(name);
  expect(reasonOf(told), JSON.stringify(told)).toBe(reason);
  return told.error?.message ?? '';
}
