// A run under the built `sub run`: an agent that does what the test says, and servers with a script.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Event, parseEventLine } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import { bundled } from '../bundled.ts';
import { SUB, startSub } from '../e2e/sub.ts';
import { endAll, type Home } from './gated.ts';
import { type Lines, linesOf, nextJson } from './lines.ts';

const AGENT = bundled(fileURLToPath(new URL('servers/driven-agent.mjs', import.meta.url)));
export const SCRIPTED = fileURLToPath(new URL('servers/scripted.mjs', import.meta.url));

/** What an agent hears of a call. */
export interface Heard {
  readonly ok: boolean;
  readonly text?: string;
  readonly message?: string;
  readonly reason_code?: string;
  readonly rule_id?: string;
  readonly action?: string;
}

interface RunOptions {
  readonly home: Home;
  /** The texts that the tools of each server answer, or its address. */
  readonly servers: { readonly [server: string]: { readonly [tool: string]: string } | string };
  /** Flags of `sub run`. */
  readonly flags?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** Events go to a file beside the home, unless they go to the ledger. */
  readonly toLedger?: boolean;
}

export interface Run {
  readonly child: ChildProcess;
  /** Stands in the environment of everything that the run has started, as `NAME=value`. */
  readonly mark: string;
  call(server: string, tool: string, args?: object): Promise<Heard>;
  /** The calls that a server has got. */
  asked(server: string): readonly unknown[];
  events(): readonly Event[];
  stdout(): string;
  stderr(): string;
  /** The agent leaves; the exit code of the run. */
  end(): Promise<number | null>;
}

/** Resolves when the agent has listed the tools of all its servers. */
export async function startRun(options: RunOptions): Promise<Run> {
  const { home, servers, flags = [], env = {}, toLedger = false } = options;
  const at = (name: string) => join(home.folder, name);
  const words = Object.entries(servers).map(([name, script]): [string, string[]] => {
    if (typeof script === 'string') return [name, ['--url', script]];
    writeFileSync(at(`${name}.json`), JSON.stringify(script));
    const command = [process.execPath, SCRIPTED, at(`${name}.json`), at(`${name}.log`)];
    return [name, ['--', ...command]];
  });
  const plan = { sub: SUB, servers: Object.fromEntries(words) };
  const mark = `RUN_MARK=${randomUUID()}`;
  const own = { HOME: home.folder, ...home.env, RUN_MARK: mark.slice('RUN_MARK='.length) };
  const sink = toLedger ? [] : ['--events', at('events.jsonl')];
  const agent = ['--', process.execPath, AGENT, JSON.stringify(plan)];
  const child = startSub(['run', ...sink, ...flags, ...agent], {
    cwd: home.folder,
    env: { ...own, ...env },
  });
  onTestFinished(() => endAll(mark));
  const said = linesFrom(child);
  child.stdin?.on('error', () => undefined);
  await said.lines.next().catch((cause: unknown) => {
    throw new Error(`the agent did not start: ${said.stderr()}`, { cause });
  });
  return {
    child,
    mark,
    call: async (server, tool, args = {}) => {
      child.stdin?.write(`${JSON.stringify({ server, tool, args })}\n`);
      const told = nextJson(said.lines).catch((cause: unknown) => {
        throw new Error(`${server}/${tool} was not answered: ${said.stderr()}`, { cause });
      });
      return (await told) as Heard;
    },
    asked: (server) => jsonLines(at(`${server}.log`)),
    events: () => eventsIn(at('events.jsonl')),
    stdout: said.stdout,
    stderr: said.stderr,
    end: () => {
      const over = new Promise<number | null>((resolve) => {
        child.once('close', (code) => resolve(code));
      });
      child.stdin?.end();
      return over;
    },
  };
}

interface Said {
  readonly lines: Lines;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

function linesFrom(child: ChildProcess): Said {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the run has pipes');
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  const lines = linesOf(stdout, "the run's stdout");
  stdout.on('data', (chunk: Buffer) => out.push(chunk));
  stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const textOf = (chunks: readonly Buffer[]) => () => Buffer.concat(chunks).toString('latin1');
  return { lines, stdout: textOf(out), stderr: textOf(errors) };
}

function jsonLines(path: string): readonly unknown[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line): unknown => JSON.parse(line));
}

function eventsIn(path: string): readonly Event[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`not an event: ${line}`);
    return parsed.event;
  });
}
