// A machine of its own for the tests of adoption: a home, a project, configs of clients in them.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundled } from '../bundled.ts';
import { bearing, endBearing } from '../contract/proc.ts';
import { askSub } from './ask-sub.ts';
import { type Ended, ended, ROOT, SUB, startOnTerminal, startSub } from './sub.ts';

const AGENT = bundled(`${ROOT}test/e2e/wrap-agent.mjs`);
/** A real MCP server, as a config starts it. */
export const SERVER = {
  command: process.execPath,
  args: [`${ROOT}test/e2e/small-server.mjs`, 'stdio'],
};
/** What nobody may see, in no output. */
export const SECRET = 'hunter2-of-the-config';

export interface Plan {
  readonly calls?: readonly (readonly [server: string, tool: string, args: object])[];
  /** A server whose shim it kills before it calls anything. */
  readonly kills?: string;
  /** A server that it adds to its config meanwhile. */
  readonly adds?: string;
  readonly bare?: boolean;
  readonly linger?: boolean;
  /** Does not end when it is told to. */
  readonly deaf?: boolean;
  readonly exit?: number;
  /** What it kills itself with. */
  readonly signal?: NodeJS.Signals;
}

export interface Told {
  readonly outcomes: readonly string[];
  readonly active?: string;
  readonly run?: string;
  readonly mark?: string;
  readonly endpoint?: string;
  /** The command of each server, as the agent has found it in its config. */
  readonly started: { readonly [name: string]: readonly string[] };
}

export const CTRL_C = '\u0003';
export const ECHO = ['files', 'echo', { message: 'hello' }] as const;

export class AdoptHome {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-adopt-'));
  readonly home = join(this.folder, 'home');
  /** Inside of the home: the policy of a project is found nowhere else. */
  readonly project = join(this.home, 'project');
  /** The config of Claude Code, which most tests work on. */
  readonly config = join(this.home, '.claude.json');
  readonly #mark = randomUUID();

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.project);
  }

  get subHome(): string {
    return join(this.home, '.subluminal');
  }

  get env(): { readonly [name: string]: string } {
    // Whatever the one who runs the tests has set must not reach into them.
    const unset = { SUB_HOME: '', CLAUDE_CONFIG_DIR: '', CODEX_HOME: '', XDG_CONFIG_HOME: '' };
    return { ...unset, HOME: this.home, SUB_TEST_MARK: this.#mark };
  }

  sub(...args: readonly string[]): Promise<Ended> {
    return askSub(args, { cwd: this.project, env: this.env });
  }

  start(args: readonly string[], env: { readonly [name: string]: string } = {}): ChildProcess {
    const child = startSub(args, { cwd: this.project, env: { ...this.env, ...env } });
    child.stdin?.end();
    return child;
  }

  wrap(args: readonly string[], plan: Plan = {}): Promise<Ended> {
    return ended(this.start(['wrap', ...args, ...this.agent(plan)]));
  }

  /** Types each answer when its question has come; gives all that the terminal showed. */
  typed(args: string, answers: readonly (readonly [string, string])[]): Promise<string> {
    const child = startOnTerminal([process.execPath, SUB, args], {
      cwd: this.project,
      env: { PATH: process.env['PATH'] ?? '', TERM: 'dumb', ...this.env },
    });
    const left = [...answers];
    let shown = '';
    let from = 0;
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
        const [question = '', answer] = left[0] ?? [];
        const at = answer === undefined ? -1 : shown.indexOf(question, from);
        if (at === -1 || answer === undefined) return;
        from = at + question.length;
        left.shift();
        child.stdin.write(answer === CTRL_C ? answer : `${answer}\r`);
      });
      child.on('close', () => resolve(shown));
    });
  }

  /** The command of an agent that reads `config`. */
  agent(plan: Plan = {}, config = this.config): readonly string[] {
    return ['--', process.execPath, AGENT, JSON.stringify({ calls: [], config, ...plan })];
  }

  /** Writes a config of servers, among other things; gives its text. */
  servers(servers: object = { files: SERVER }, path = this.config): string {
    const others = { theme: 'dark', token: SECRET };
    return this.write(path, `${JSON.stringify({ ...others, mcpServers: servers }, null, 2)}\n`);
  }

  write(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return text;
  }

  read(path = this.config): string {
    return readFileSync(path, 'utf8');
  }

  /** What is left in a folder of the home of sub. */
  left(folder: 'run' | 'backups'): readonly string[] {
    const path = join(this.subHome, folder);
    const names = existsSync(path) ? readdirSync(path) : [];
    return names.filter((name) => !name.startsWith('ledger'));
  }

  /** The processes that this machine has started and that still run. */
  running(): readonly number[] {
    return bearing([this.#mark, this.folder]);
  }

  killAll(): void {
    endBearing([this.#mark, this.folder]);
  }

  end(): void {
    this.killAll();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function told(stdout: string): Told {
  const line = /^agent: (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`the agent told nothing: ${stdout}`);
  return JSON.parse(line) as Told;
}

/** Resolves with all that was printed, once it holds the text. */
export function said(child: ChildProcess, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = '';
    child.stdout?.on('data', (chunk: Buffer | string) => {
      all += String(chunk);
      if (all.includes(text)) resolve(all);
    });
    child.once('close', () => reject(new Error(`it never said ${text}: ${all}`)));
  });
}
