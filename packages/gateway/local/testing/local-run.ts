// The model plane of a run without an agent: a hub, a policy, a scripted upstream, and events in memory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, isFailure, type Producer, parseEventLine } from '@subluminal/contracts';
import { compileBundle, parseBundle } from '@subluminal/core/policy';
import { loadConfig } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import { openHub } from '@subluminal/plane/hub';
import type { AgentLaunch } from '@subluminal/plane/run';
import type { BatchingSink } from '@subluminal/plane/sink';
import { onTestFinished } from 'vitest';
import { localModels } from '../index.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedUpstream {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly type: string;
  readonly text: string;
}

/** An upstream that answers each request as it is told, and keeps what came. */
export async function scriptedUpstream(
  answer: (request: SeenRequest) => ScriptedAnswer,
): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      const { status = 200, type, text } = answer(one);
      response.writeHead(status, { 'content-type': type }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen };
}

export interface LocalRun {
  readonly home: string;
  readonly ready: AgentLaunch;
  readonly events: readonly Event[];
  /** The events of one type, by what they say. */
  readonly of: <T extends Event['type']>(type: T) => readonly Extract<Event, { type: T }>[];
  /** Why turns go on by less than they should. */
  readonly degraded: readonly string[];
  /** Changes the file of the policy. */
  readonly writeRules: (rules: string) => void;
  readonly end: () => Promise<{ readonly calls_total: number; readonly calls_blocked: number }>;
}

interface LocalRunOptions {
  readonly rules: string;
  readonly env: { readonly [name: string]: string };
  readonly client?: Producer['client'];
  readonly command?: readonly string[];
  readonly sections?: string;
  /** The text of config.toml. */
  readonly config?: string;
  readonly reload?: 'any' | 'tighten' | 'off';
}

const CHECKS = { regex: () => undefined, glob: () => undefined, when: () => undefined };

export async function startLocalRun(options: LocalRunOptions): Promise<LocalRun> {
  const home = mkdtempSync(join(tmpdir(), 'sub-local-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const textOf = (rules: string) =>
    `policy_id: local\nversion: "1"\nmode: control\n${options.sections ?? ''}rules:\n${rules}`;
  const text = textOf(options.rules);
  const path = join(home, 'policy.yaml');
  const writeRules = (rules: string) => writeFileSync(path, textOf(rules), { mode: 0o600 });
  writeRules(options.rules);
  const parsed = parseBundle({ file: 'p.yaml', text }, { checks: CHECKS });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  const snapshot = await compileBundle(parsed.bundle, { sha256, profile: 'production' });
  if (options.config !== undefined) {
    writeFileSync(join(home, 'config.toml'), options.config, { mode: 0o600 });
  }
  const loaded = await loadConfig({
    env: { SUB_HOME: home, HOME: home, SUB_POLICY_RELOAD: options.reload ?? 'tighten' },
    flags: {},
    cwd: home,
  });
  if (!loaded.ok) throw new Error('the configuration is broken');
  const hub = await openHub({
    runId: 'run-1',
    listen: { kind: 'unix', path: join(home, 'hub.sock') },
    nowMs: () => Date.now(),
    sha256,
  });
  if (isFailure(hub)) throw new Error(hub.message);
  const events: Event[] = [];
  const degraded: string[] = [];
  const { config, paths, prices } = loaded;
  const tell = (): void => {};
  const models = localModels({ config, paths, prices, cwd: home, hasChannel: true, tell });
  const ready = await models.begin({
    producer: {
      run_id: 'run-1',
      agent_id: 'agent',
      client: options.client ?? 'claude',
      env: 'dev',
      source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
    },
    hub,
    sink: memorySink(events),
    snapshot,
    policyFiles: {
      sources: [{ path, role: 'user' }],
      home,
      mark: '',
      hashes: [sha256(text)],
      loosening: undefined,
    },
    degraded: (reason) => void degraded.push(reason),
    env: { HOME: home, ...options.env },
    command: options.command ?? ['agent'],
  });
  onTestFinished(async () => {
    await models.end();
    await hub.close();
  });
  if (isFailure(ready)) throw new Error(`${ready.message} [${ready.code}]`);
  const of: LocalRun['of'] = (type) =>
    events.filter((event): event is Extract<Event, { type: typeof type }> => event.type === type);
  return { home, ready, events, of, degraded, writeRules, end: () => models.end() };
}

function memorySink(events: Event[]): BatchingSink {
  const stats = { queued: 0, spooled: 0, previewsDropped: 0, linesLost: 0 };
  return {
    write({ line }) {
      const parsed = parseEventLine(line);
      if (!parsed.ok) throw new Error(`no event: ${line}`);
      events.push(parsed.event);
    },
    push() {},
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
    stats: () => stats,
  };
}
