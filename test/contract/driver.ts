// Drives the built `sub shim` from outside: raw bytes in, lines out, and a server that obeys.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Event, parseEventLine } from '@subluminal/contracts';
import { expect, onTestFinished } from 'vitest';
import { SUB } from '../e2e/sub.ts';
import { type Lines, linesOf } from './lines.ts';
import { answer, ping } from './messages.ts';
import { endBearing, noneBearing, stateOf } from './proc.ts';
import { createStage, type Puppet, type Stage } from './puppet.ts';

export interface RigOptions {
  readonly policy?: string;
  readonly profile?: 'production' | 'development';
  readonly env?: { readonly [name: string]: string };
  /** More flags of the shim. */
  readonly flags?: readonly string[];
  /** The command of the server; a puppet unless given. */
  readonly command?: readonly string[];
  /** An agent process between the test and the shim. */
  readonly agent?: 'pipes' | 'inherit';
  /** The shim's stdin, when it is not a pipe of the test. */
  readonly stdin?: Readable;
  /** The server appears, but does not read yet. */
  readonly isDeaf?: boolean;
  /** The shim has no terminal, even where the tests have one. */
  readonly hasNoTerminal?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Rig {
  /** What the test started: the shim, or the agent above it. */
  readonly shim: ChildProcess;
  readonly folder: string;
  readonly policyPath: string;
  readonly stage: Stage;
  /** Stands in the environment of everything that the test has started, as `NAME=value`. */
  readonly mark: string;
  /** Lines that the agent gets. */
  readonly heard: Lines;
  readonly exit: Promise<Exit>;
  /** Writes raw bytes as the agent. */
  readonly say: (bytes: string | Buffer) => void;
  readonly stderr: () => string;
  /** Resolves when stderr holds it. */
  readonly told: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Resolves when nobody holds the shim's stderr any more. */
  readonly silent: Promise<void>;
  /** The events written so far. */
  readonly events: () => readonly Event[];
}

export interface ServedRig extends Rig {
  readonly server: Puppet;
}

const AGENT = fileURLToPath(new URL('servers/agent.mjs', import.meta.url));
/** Another build, such as an installed one, may be put to the same tests. */
export const UNDER_TEST = process.env['SUB_UNDER_TEST'] ?? SUB;
/** For servers that go by force only. */
export const QUICK = { SUB_GRACE_MS: '50', SUB_TERM_GRACE_MS: '50' };
export const PATIENT = { SUB_GRACE_MS: '600000', SUB_TERM_GRACE_MS: '600000' };

/** A shim with a server that listens. Everything that the test leaves is ended with it. */
export async function startServed(options: RigOptions = {}): Promise<ServedRig> {
  const rig = await startRig(options);
  const over = rig.exit.then(() => Promise.reject(new Error(`the shim ended:\n${rig.stderr()}`)));
  const server = await Promise.race([rig.stage.next(), over]);
  over.catch(() => undefined);
  if (options.isDeaf !== true) await server.tell('listen');
  return { ...rig, server };
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-rig-'));
  const policyPath = join(folder, 'policy.yaml');
  const eventsPath = join(folder, 'events.jsonl');
  const mark = `CONTRACT_MARK=${randomUUID()}`;
  const stage = await createStage();
  if (options.policy !== undefined) writeFileSync(policyPath, options.policy);
  const shim = spawnShim(options, { folder, policyPath, eventsPath, mark, stage });
  onTestFinished(() => {
    shim.kill('SIGKILL');
    endBearing([mark]);
    stage.close();
    rmSync(folder, { recursive: true, force: true });
  });
  if (shim.stdout === null || shim.stderr === null) throw new Error('the shim has pipes');
  shim.stdin?.on('error', () => undefined);
  const errors = listenTo(shim.stderr);
  return {
    shim,
    folder,
    policyPath,
    stage,
    mark,
    heard: linesOf(shim.stdout, "the shim's stdout"),
    exit: new Promise((resolve) => {
      shim.once('exit', (code, signal) => resolve({ code, signal }));
    }),
    say: (bytes) => void shim.stdin?.write(bytes),
    ...errors,
    events: () => readEvents(eventsPath),
  };
}

interface Place {
  readonly folder: string;
  readonly policyPath: string;
  readonly eventsPath: string;
  readonly mark: string;
  readonly stage: Stage;
}

function spawnShim(options: RigOptions, place: Place): ChildProcess {
  const { policy, profile, command = place.stage.command, agent, stdin } = options;
  const [name = '', value = ''] = place.mark.split('=');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: place.folder,
    SUB_HOME: join(place.folder, 'home'),
    [name]: value,
    ...PATIENT,
    ...options.env,
  };
  const shim = [process.execPath, UNDER_TEST, 'shim', '--server-name', 'puppet'];
  const flags = [
    ...(policy === undefined ? [] : ['--policy', place.policyPath]),
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...['--events', `file:${place.eventsPath}`],
    ...(options.flags ?? []),
  ];
  const above = agent === undefined ? [] : [process.execPath, AGENT, agent];
  const [program = '', ...args] = [...above, ...shim, ...flags, '--', ...command];
  return spawn(program, args, {
    cwd: place.folder,
    env,
    stdio: [stdin ?? 'pipe', 'pipe', 'pipe'],
    detached: options.hasNoTerminal === true,
  });
}

function listenTo(stream: Readable): Pick<Rig, 'stderr' | 'told' | 'silent'> {
  let text = '';
  const watchers = new Set<() => void>();
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (const watcher of watchers) watcher();
  });
  const silent = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  const told = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text);
        if (found === null) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
      void silent.then(() => reject(new Error(`stderr never held ${pattern}:\n${text}`)));
    });
  return { stderr: () => text, told, silent };
}

function readEvents(path: string): readonly Event[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`not an event: ${line}`);
    return parsed.event;
  });
}

/** Ends the session as an agent does, and gives what the agent had not read yet. */
export async function hangUp(
  rig: Rig,
): Promise<{ readonly exit: Exit; readonly rest: readonly string[] }> {
  rig.shim.stdin?.end();
  const rest = await rig.heard.rest();
  return { exit: await rig.exit, rest: rest.map(String) };
}

/** The next thing that both sides hear is this: whatever came before has gone nowhere. */
export async function expectStillWorks(rig: ServedRig, id = 990): Promise<void> {
  rig.say(ping(id));
  expect(String(await rig.server.heard.next())).toBe(ping(id));
  await rig.server.write(answer(id));
  expect(String(await rig.heard.next())).toBe(answer(id));
}

/** Nothing of the session runs: not the server, not what it started, not our own guard. */
export async function expectNothingLeft(rig: Rig): Promise<void> {
  const puppets = rig.stage.puppets();
  await Promise.all([rig.silent, ...puppets.map(({ gone }) => gone)]);
  const words = [rig.mark, ...puppets.map(({ shimId }) => shimId)];
  // The guard looks around for a moment longer than what it guards.
  await noneBearing(words);
  // What fell to init is for init to wait for; everything else had to be waited for by now.
  const zombies = puppets.map(({ pid }) => stateOf(pid)).filter((seen) => seen?.ppid !== 1);
  expect(zombies.filter((seen) => seen !== undefined)).toEqual([]);
}
