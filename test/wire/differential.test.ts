// Two readers, two calls: whatever any common reader would execute was decided as exactly that.
import { isObject } from '@subluminal/contracts';
import { argsHash } from '@subluminal/core/json';
import type { Guard, MessageVerdict } from '@subluminal/core/session';
import { describe, expect, it } from 'vitest';
import { runs } from '../runs.ts';
import { EVIL, hostileLine, hostileList, type Random, randomFrom } from './hostile-messages.ts';
import { callsReadBy, definitionsReadBy, READERS, type ReadCall } from './readers.ts';
import { type Decided, type SessionRig, sessionRig, sha256 } from './session-rig.ts';

/** What is longer is streamed: most generated messages are near it. */
const LIMIT = 300;
const SEED = 20_261_116;
const CALLS = runs(20_000).numRuns;
const LISTS = runs(8_000).numRuns;

/** Allowed messages that follow: they must not complete what was broken off before them. */
const FOLLOWERS = Buffer.from(
  [
    '{"}}}":1,"jsonrpc":"2.0","id":201,"method":"ping"}\n',
    '{"jsonrpc":"2.0","id":202,"method":"tools/call","params":{"name":"read_x","arguments":{"n":1}}}\n',
  ].join(''),
);

function trimmed(text: string): string {
  return text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

/** The messages that were sent, by the hash of their bytes. */
function messagesByHash(bytes: Buffer): ReadonlyMap<string, string> {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at);
    lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return new Map(lines.map((line) => [sha256(line), trimmed(line.toString())]));
}

/** Whether the session has allowed exactly this call, and not for another execution already. */
function take(open: Decided[], sent: ReadonlyMap<string, string>, call: ReadCall): boolean {
  const hashed = argsHash(JSON.stringify(call.args), sha256);
  const at = open.findIndex(({ tool, argsHash: hash, isAllowed }) => {
    // A call over the limit is decided without its arguments, and known by the hash of its bytes.
    const isSame = (hashed.ok && hash === hashed.hash) || sent.get(hash) === trimmed(call.text);
    return isAllowed && tool === call.name && isSame;
  });
  if (at === -1) return false;
  open.splice(at, 1);
  return true;
}

/** What readers would execute although it was not decided as that. */
async function undecided(seed: number): Promise<readonly string[]> {
  const rig = await sessionRig(LIMIT);
  const random = randomFrom(seed);
  if (random.chance(0.2)) negotiateBatches(rig, random);
  const sent = Buffer.concat([hostileLine(seed, LIMIT), FOLLOWERS]);
  rig.say('agent', sent, random);
  const bytes = rig.got('server');
  const byHash = messagesByHash(sent);
  return READERS.flatMap((reader) => {
    const open = [...rig.decided];
    return callsReadBy(reader, bytes)
      .filter((call) => !take(open, byHash, call))
      .map(({ name, args }) => shortened(`seed ${seed}: ${reader.name} executes ${name}`, args));
  });
}

/** Batches are taken where this revision was negotiated. */
function negotiateBatches(rig: SessionRig, random: Random): void {
  const protocolVersion = '2025-03-26';
  const opens = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion } };
  const opened = { jsonrpc: '2.0', id: 0, result: { protocolVersion } };
  rig.say('agent', Buffer.from(`${JSON.stringify(opens)}\n`), random);
  rig.say('server', Buffer.from(`${JSON.stringify(opened)}\n`), random);
}

function shortened(what: string, value: unknown): string {
  return `${what} ${JSON.stringify(value)}`.slice(0, 300);
}

/** Takes the evil definition out of lists, and lets none pass unseen. */
const surface: Guard = {
  surface: () => ({ kind: 'pass' }),
  content: () => ({ kind: 'pass' }),
  passed: () => {},
  ended: () => {},
  notices: () => [],
  wants: (way, kind, method) => way === 'in' && kind === 'answer' && method === 'tools/list',
  unseen: (way, kind, method): MessageVerdict =>
    way === 'in' && kind === 'answer' && method === 'tools/list'
      ? { kind: 'refused', reason_code: 'UNSEEN', summary: 'It was not seen.' }
      : { kind: 'same' },
  passing: (_way, { value }): MessageVerdict => {
    const shown = isObject(value) ? value : {};
    const all: unknown = shown['tools'];
    if (!Array.isArray(all)) return { kind: 'same' };
    const isEvil = (tool: unknown): boolean =>
      [EVIL.name, EVIL.description].some((word) => JSON.stringify(tool ?? null).includes(word));
    const tools = all.filter((tool) => !isEvil(tool));
    return tools.length === all.length
      ? { kind: 'same' }
      : { kind: 'changed', value: { ...shown, tools } };
  },
};

async function unseen(seed: number): Promise<readonly string[]> {
  const rig = await sessionRig(LIMIT, surface);
  const random = randomFrom(seed);
  rig.say('agent', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'), random);
  rig.say('server', hostileList(seed, LIMIT), random);
  rig.say('server', Buffer.from('{"}}}}":1,"jsonrpc":"2.0","method":"notifications/x"}\n'), random);
  const bytes = rig.got('agent');
  return READERS.flatMap((reader) =>
    definitionsReadBy(reader, bytes)
      .filter((one) => one.name === EVIL.name || one.description === EVIL.description)
      .map((one) => `seed ${seed}: ${reader.name} shows ${JSON.stringify(one)}`),
  );
}

const TIMEOUT_MS = 600_000;

describe('hostile messages', () => {
  it(
    'towards the server are executed by no reader unless the session has allowed exactly that call',
    async () => {
      const found: string[] = [];
      for (let index = 0; index < CALLS; index++) found.push(...(await undecided(SEED + index)));
      expect(found.slice(0, 20)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'towards the agent show no reader a definition that the surface gate has taken out',
    async () => {
      const found: string[] = [];
      for (let index = 0; index < LISTS; index++) found.push(...(await unseen(SEED + index)));
      expect(found.slice(0, 20)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('include many that readers disagree about, and many that pass', async () => {
    let disagreed = 0;
    let passed = 0;
    for (let index = 0; index < 1_000; index++) {
      const seed = SEED + index;
      const line = hostileLine(seed, LIMIT);
      const views = READERS.map((reader) =>
        JSON.stringify(callsReadBy(reader, line).map(({ name, args }) => [name, args])),
      );
      if (new Set(views).size > 1) disagreed++;
      const rig = await sessionRig(LIMIT);
      rig.say('agent', line, randomFrom(seed));
      if (rig.decided.some(({ isAllowed }) => isAllowed)) passed++;
    }
    expect(disagreed).toBeGreaterThan(200);
    expect(passed).toBeGreaterThan(50);
  });
});
