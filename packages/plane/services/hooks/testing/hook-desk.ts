// A desk with a real governor, hub and policy, and a client that is made up; for tests only.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isFailure, isObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import {
  DIALECTS,
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  type HookInput,
  type ToolUse,
} from '@subluminal/core/hooks';
import { onTestFinished } from 'vitest';
import { sha256 } from '../../../os/crypto/index.ts';
import { monotonicClock } from '../../../os/index.ts';
import { loadConfig } from '../../../stores/config/index.ts';
import { identify } from '../../../stores/identity/index.ts';
import { startPolicy } from '../../governor/policy-start.ts';
import { Hub } from '../../hub/index.ts';
import type { BatchingSink } from '../../sink/index.ts';
import { HookDesk } from '../hook-desk.ts';

/** Bodies are the neutral form itself, and so are the replies. */
export const MADE_UP: HookDialect = {
  client: 'made-up',
  read(body) {
    const input: unknown = JSON.parse(body);
    return isInput(input) ? input : 'no event';
  },
  write: (_event, answer) => ({ stdout: JSON.stringify(answer), stderr: '', exitCode: 0 }),
  refuseUnread: (name, reason) => ({
    stdout: '',
    stderr: `${name ?? '?'}: ${reason}`,
    exitCode: 2,
  }),
  writtenServerName: (name) => name.replaceAll('.', '_'),
  isToolOf: (tool, server) => tool.startsWith(`${server}-`),
  canRewrite: (_use, argsText) => !argsText.includes('unwritable'),
  question: {
    isOpenedBy: (event) => event.kind === 'before_tool' && event.use.tool === 'Skill',
  },
  // `use ID TOOL` and `ran ID`.
  transcriptLine(line) {
    const [what, id = '', tool = ''] = line.split(' ');
    if (what === 'use') return { uses: [{ useId: id, tool }], ran: [] };
    return { uses: [], ran: what === 'ran' ? [id] : [] };
  },
  // `args ID JSON`.
  transcriptArgs(line, useId) {
    const [what, id, text = '{}'] = line.split(' ');
    return what === 'args' && id === useId ? (JSON.parse(text) as JsonObject) : undefined;
  },
};

const KINDS: { readonly [kind in HookEvent['kind']]: readonly string[] } = {
  session_start: [],
  session_end: [],
  prompt: ['text', 'isFromUser', 'files'],
  before_tool: ['use'],
  after_tool: ['use', 'output', 'isError', 'isReplaceable'],
  before_model: ['uses'],
  included_file: ['path'],
  config_change: [],
  other: ['name'],
};

function isInput(input: unknown): input is HookInput {
  if (!isObject(input) || !isObject(input['sender']) || !isObject(input['event'])) return false;
  const { event, sender } = input;
  const members = Object.entries(KINDS).find(([kind]) => kind === event['kind'])?.[1];
  return (
    typeof sender['sessionId'] === 'string' &&
    typeof sender['cwd'] === 'string' &&
    members?.every((name) => Object.hasOwn(event, name)) === true
  );
}

/** What tests look at in events. */
export interface RecordedEvent {
  readonly type: string;
  readonly run_id: string;
  readonly call?: {
    readonly tool_name: string;
    readonly server_name: string;
    readonly transport?: string;
    readonly tool_use_id?: string;
  };
  readonly decision?: { readonly action: string; readonly rule_id: string | null };
  readonly status?: string;
  readonly health?: { readonly status: string; readonly reason?: string };
  readonly approval?: {
    readonly id: string;
    readonly state: string;
    readonly rule_id: string;
    readonly by?: string;
    readonly channel?: string;
  };
}

export interface DeskSetup {
  readonly policy?: string;
  /** Files below the home, by their paths in it. */
  readonly files?: { readonly [path: string]: string };
  readonly flags?: { readonly [flag: string]: string };
  readonly shimServers?: () => readonly string[];
  readonly trustsPrompts?: boolean;
  /** A file that could answer in place of the user. */
  readonly answerer?: () => string | undefined;
}

export async function openHookDesk({
  policy,
  files = {},
  flags = {},
  shimServers = () => [],
  trustsPrompts = true,
  answerer = () => undefined,
}: DeskSetup = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'sub-hooks-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, path), text, { mode: 0o600 });
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  if (policy !== undefined) write('policy.yaml', policy);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    SUB_HOME: join(home, '.subluminal'),
    SUB_RUN_ID: 'run-1',
  };
  mkdirSync(env.SUB_HOME, { recursive: true, mode: 0o700 });
  const cwd = join(home, 'work');
  mkdirSync(cwd, { recursive: true });
  const all = { ...(policy !== undefined && { policy: join(home, 'policy.yaml') }), ...flags };
  const loaded = await loadConfig({ env, cwd, flags: all });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config, paths } = loaded;
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const started = await startPolicy({ env, cwd, flags: all }, loaded, warn);
  if (isFailure(started)) throw new Error(JSON.stringify(started));
  const lines: string[] = [];
  const sink: BatchingSink = {
    write: ({ line }) => void lines.push(line),
    push: () => {},
    flush: () => Promise.resolve(),
    stats: () => ({ queued: 0, spooled: 0, previewsDropped: 0, linesLost: 0 }),
    close: () => Promise.resolve(),
  };
  const { producer } = identify({ env, cwd, paths, nowMs: Date.now() });
  const hub = new Hub({ runId: producer.run_id, nowMs: monotonicClock(), sha256 });
  const degraded: string[] = [];
  let inForce = { snapshot: started.snapshot, files: started.files };
  const desk = new HookDesk({
    clients: [
      {
        dialect: MADE_UP,
        settings: ({ cwd: at }) => [join(at, '.made-up', 'settings.json')],
        answerer,
      },
      ...DIALECTS.map((dialect) => ({ dialect, settings: () => [] })),
    ],
    producer,
    hub,
    sink,
    config,
    paths,
    env,
    policy: () => inForce,
    hasChannel: false,
    warn,
    shimServers,
    trustsPrompts,
    degraded: (reason) => void degraded.push(reason),
  });
  onTestFinished(() => desk.close());
  const tell = async (
    event: HookEvent,
    more: {
      session?: string;
      cwd?: string;
      signal?: AbortSignal;
      subAgent?: { id: string };
      ageMs?: number;
    } = {},
  ): Promise<HookAnswer> => {
    const { session = 's1', signal, subAgent, ageMs } = more;
    const transcriptPath = join(home, 'transcript.jsonl');
    const sender = { sessionId: session, cwd: more.cwd ?? cwd, transcriptPath, subAgent };
    const body = JSON.stringify({ sender, event });
    const { stdout, stderr } = await desk.handle('made-up', body, { signal, ageMs });
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as HookAnswer;
  };
  const events = (type: string): readonly RecordedEvent[] =>
    lines.map((line) => JSON.parse(line) as RecordedEvent).filter((event) => event.type === type);
  const usePolicy = (snapshot: typeof inForce.snapshot) => {
    inForce = { ...inForce, snapshot };
    return desk.usePolicy(snapshot);
  };
  return {
    desk,
    producer,
    sink,
    started,
    hub,
    tell,
    events,
    lines,
    degraded,
    warnings,
    home,
    cwd,
    env,
    config,
    paths,
    loaded,
    usePolicy,
    write,
  };
}

let uses = 0;

export function useOf(tool: string, args: object, more: Partial<ToolUse> = {}): ToolUse {
  return { useId: `use_${++uses}`, tool, argsText: JSON.stringify(args), ...more };
}

export function before(use: ToolUse): HookEvent {
  return { kind: 'before_tool', use };
}

export function after(use: ToolUse, output: JsonValue, isError = false): HookEvent {
  return { kind: 'after_tool', use, output, isError, isReplaceable: !isError };
}
