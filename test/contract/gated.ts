// What the tests of the gates share: a home that is there before the shim, and an agent that asks
// and awaits its answer.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EventOf } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import type { Rig } from './driver.ts';
import { nextJson, PATIENCE_MS } from './lines.ts';
import { endBearing } from './proc.ts';

export interface Home {
  /** `$SUB_HOME`. */
  readonly path: string;
  /** Beside the home: for scripts and policies. */
  readonly folder: string;
  readonly env: { readonly [name: string]: string };
  /** A private file below the home. */
  write(name: string, text: string | Buffer): string;
}

export interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: { readonly [name: string]: unknown };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: {
      readonly subluminal?: { readonly reason_code?: string; readonly rule_id?: string };
    };
  };
}

export interface Talk {
  ask(method: string, params?: object): Promise<Answer>;
  call(tool: string, args?: object): Promise<Answer>;
  /** The names of the tools that the agent is shown. */
  tools(): Promise<readonly string[]>;
  /** Begins the session as every client does. */
  open(): Promise<Answer>;
}

export function homeOf(): Home {
  const folder = mkdtempSync(join(tmpdir(), 'sub-gated-'));
  const path = join(folder, 'home');
  mkdirSync(path, { mode: 0o700 });
  onTestFinished(() => {
    // A ledger that was started on the way would make its home again.
    endAll(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    path,
    folder,
    env: { SUB_HOME: path },
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    },
  };
}

/** Ends everything that bears this word in its environment or on its command line. */
export function endAll(word: string): void {
  endBearing([word]);
}

export function talkTo(rig: Rig): Talk {
  let last = 0;
  const ask = async (method: string, params: object = {}): Promise<Answer> => {
    last += 1;
    const id = last;
    rig.say(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const told = (await nextJson(rig.heard)) as Answer;
      if (told.id === id && told.method === undefined) return told;
    }
  };
  return {
    ask,
    call: (name, args = {}) => ask('tools/call', { name, arguments: args }),
    tools: async () => namesIn(await ask('tools/list')),
    open: () => {
      const clientInfo = { name: 'gated', version: '1' };
      return ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    },
  };
}

function namesIn({ result }: Answer): readonly string[] {
  const tools = (result?.['tools'] ?? []) as readonly { readonly name: string }[];
  return tools.map(({ name }) => name);
}

/** Why a call did not reach the server; undefined when it did. */
export function reasonOf({ error }: Answer): string | undefined {
  return error?.data?.subluminal?.reason_code;
}

/** Tries again and again until it is so; for what the product looks at in turns. A function says what was seen last. */
export async function eventually<T>(
  look: () => Promise<T | undefined>,
  what: string | (() => string),
): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) {
      throw new Error(`waited too long for ${typeof what === 'string' ? what : what()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export type Notice = EventOf<'surface'>['surface'];

/** What the shim has put on record about what the server shows. */
export function noticesOf(rig: Rig): readonly Notice[] {
  return rig.events().flatMap((event) => (event.type === 'surface' ? [event.surface] : []));
}

/** The decisions on record: the tool, what was done, and why. */
export function decisionsOf(rig: Rig): readonly string[] {
  return rig.events().flatMap((event) => {
    if (event.type !== 'tool_call_decision') return [];
    const { action, explain } = event.decision;
    return [`${event.call.tool_name} ${action} ${explain.reason_code}`];
  });
}
