// The real session with its framing and its pump, in process: bytes in, bytes out, decisions on record.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { compileBundle } from '@subluminal/core/policy';
import {
  BROKEN_LINE_END,
  type Command,
  type Guard,
  Session,
  type SessionConfig,
} from '@subluminal/core/session';
import { SessionDirection } from '@subluminal/plane/govern';
import { decodeBytes, LineSplitter } from '@subluminal/plane/stdio';
import type { Transport } from '@subluminal/plane/transports';
import { DENIED, type Random } from './hostile-messages.ts';

/** A decision of the session, as its record tells it. */
export interface Decided {
  readonly tool: string;
  readonly argsHash: string;
  readonly isAllowed: boolean;
}

export interface SessionRig {
  /** Feeds bytes from a side in chunks that the seed chooses. */
  readonly say: (side: 'agent' | 'server', bytes: Buffer, random: Random) => void;
  /** Everything that has left towards a side. */
  readonly got: (side: 'agent' | 'server') => Buffer;
  readonly decided: readonly Decided[];
  /** The reasons that were reported to the operator. */
  readonly reports: readonly string[];
}

const IDENTITY = { run_id: 'run', agent_id: 'agent', client: 'claude', env: 'dev' };
const SNAPSHOT = compileBundle(
  {
    policy_id: 'wire',
    version: '1',
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [
      {
        rule_id: 'no-delete',
        kind: 'deny',
        enabled: true,
        severity: 'critical',
        match: { tool_name: { glob: [DENIED] } },
        effect: { action: 'BLOCK' },
      },
    ],
  },
  { sha256, profile: 'production' },
);

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function transportTo(chunks: Buffer[]): Transport {
  const write = (bytes: Uint8Array) => void chunks.push(Buffer.from(bytes));
  return {
    read: () => {},
    hold: () => {},
    release: () => {},
    stop: () => {},
    write,
    writePart: write,
    endParts: () => write(Buffer.from('\n')),
    abortParts: () => write(Buffer.from(BROKEN_LINE_END)),
    holds: () => {},
    end: () => {},
    close: () => Promise.resolve(true),
  };
}

/** Where the next chunk ends: byte by byte, behind each closing brace, or anywhere. */
const CUTS: readonly ((bytes: Buffer, from: number, random: Random) => number)[] = [
  (_bytes, from) => from + 1,
  (bytes, from) => {
    const brace = bytes.indexOf('}', from);
    return brace === -1 ? bytes.length : brace + 1;
  },
  (_bytes, from, random) => from + 1 + random.below(40),
  (_bytes, from, random) => from + 1 + random.below(4_096),
];

/** A session whose messages are inspected up to `limit` bytes. */
export async function sessionRig(limit: number, guard?: Guard): Promise<SessionRig> {
  const decided: Decided[] = [];
  const reports: string[] = [];
  const chunks: { readonly agent: Buffer[]; readonly server: Buffer[] } = { agent: [], server: [] };
  let calls = 0;
  const config: SessionConfig = {
    serverName: 'files',
    profile: 'production',
    snapshot: await SNAPSHOT,
    identity: IDENTITY,
    callId: () => `call-${++calls}`,
    sha256,
    sha256Bytes: sha256,
    isUtf8,
    decode: decodeBytes,
    guard,
    decided: ({ tool_name, args_hash }, { action }) =>
      void decided.push({ tool: tool_name, argsHash: args_hash, isAllowed: action === 'ALLOW' }),
  };
  const session = new Session(config);
  const transports = { agent: transportTo(chunks.agent), server: transportTo(chunks.server) };
  const act = (command: Command): void => {
    if (command.do === 'answer') transports[command.to].write(Buffer.from(command.text));
    else if (command.do === 'report') reports.push(command.report.reason);
  };
  const limits = { inspectBytesMax: limit, messageBytesMax: 100_000 };
  const now = (): number => 0;
  const settled = (): void => {};
  const feedFrom = (from: 'agent' | 'server') => {
    const direction = new SessionDirection({ from, session, transports, now, act, settled });
    const splitter = new LineSplitter(limits);
    return (chunk: Buffer): void => direction.incoming(splitter.feed(chunk));
  };
  const feeds = { agent: feedFrom('agent'), server: feedFrom('server') };
  return {
    say(side, bytes, random) {
      const nextCut = random.pick(CUTS);
      for (let at = 0; at < bytes.length; ) {
        const end = nextCut(bytes, at, random);
        // As from a pipe: memory of its own.
        feeds[side](Buffer.from(bytes.subarray(at, end)));
        at = end;
      }
    },
    got: (side) => Buffer.concat(chunks[side]),
    decided,
    reports,
  };
}
