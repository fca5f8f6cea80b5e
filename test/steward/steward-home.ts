// A home of its own for the built `sub` and its Steward.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';

export const SUB = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'sub.mjs');

export interface RunningChild {
  readonly child: ChildProcess;
  /** Whether it came so far as to answer. */
  readonly isReady: boolean;
}

export class StewardHome {
  readonly subHome: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #children = new Set<ChildProcess>();

  constructor(top: string) {
    mkdirSync(join(top, 'home'), { recursive: true });
    this.subHome = join(top, 'sub');
    const { PATH } = process.env;
    this.env = {
      ...{ PATH, HOME: join(top, 'home'), SUB_HOME: this.subHome, NO_COLOR: '1' },
      MAIL_PASSWORD: 'correct horse battery',
    };
  }

  get socket(): string {
    return controlSocket(join(this.subHome, 'run'));
  }

  spawn(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(process.execPath, [SUB, ...args], {
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async sub(...args: readonly string[]) {
    const child = this.spawn(args);
    const { stdout, stderr } = child;
    const [out, err] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
    return { code: child.exitCode, out, err };
  }

  /** Steward in the foreground, as a child; resolves when it answers or has ended. */
  async start(configFolder: string, env: NodeJS.ProcessEnv = {}): Promise<RunningChild> {
    const args = ['steward', 'start', '--foreground', '--config', configFolder];
    const child = this.spawn(args, env);
    const lines = createInterface({ input: child.stderr });
    const isReady = await new Promise<boolean>((resolve) => {
      lines.on('line', (line) => {
        if (line.includes('It answers on')) resolve(true);
      });
      child.once('exit', () => resolve(false));
    });
    return { child, isReady };
  }

  /** Approves each request that comes, and gives the tools that were asked about. */
  approveAll(): { readonly asked: readonly string[]; stop(): void } {
    const desk = this.#approvals();
    const asked: string[] = [];
    const following = desk.queue.follow({
      onRequest: ({ request: { id, call }, sha256 }) => {
        asked.push(`${call.server}.${call.tool}`);
        desk.decide(id, { state: 'approved', by: 'ada', channel: 'test', sha256 });
      },
      onEnd: () => undefined,
    });
    return { asked, stop: () => following.stop() };
  }

  /** The next request about a tool that waits for a person, other than this one. */
  asked(tool: string, besides?: string): Promise<{ readonly id: string; approve(): void }> {
    const desk = this.#approvals();
    return new Promise((resolve) => {
      const following = desk.queue.follow({
        onRequest: ({ request: { id, call }, sha256 }) => {
          if (call.tool !== tool || id === besides) return;
          following.stop();
          const verdict = { state: 'approved', by: 'ada', channel: 'test', sha256 } as const;
          resolve({ id, approve: () => void desk.decide(id, verdict) });
        },
        onEnd: () => undefined,
      });
    });
  }

  #approvals() {
    const warn = () => undefined;
    const ports = { nowMs: () => Date.now(), uuid: () => crypto.randomUUID(), warn };
    const desk = openDesk({ home: this.subHome, ports, pollMs: 20 });
    if (isFailure(desk)) throw new Error(desk.message);
    return desk;
  }

  /** Says it, unless it was taken before. Gives the conversation; undefined when Steward went away. */
  async say(request: string): Promise<string | undefined> {
    const known = await this.#conversation();
    if (known !== undefined) return known;
    const input = { channel: 'terminal', person: 'ada', text: request } as const;
    const taken = await askSteward(this.socket, 'send', { input });
    return isFailure(taken) ? undefined : taken.conversation_id;
  }

  async #conversation(): Promise<string | undefined> {
    const listed = await askSteward(this.socket, 'conversations', { input: {} });
    if (isFailure(listed)) return undefined;
    const [first] = listed.conversations;
    if (first === undefined) return undefined;
    const input = { conversation_id: first.id, after: 0 };
    const seen = await askSteward(this.socket, 'updates', { input });
    return isFailure(seen) || seen.messages.length === 0 ? undefined : first.id;
  }

  /** What there is when nothing is left to do; a failure when Steward went away before. */
  async idle(conversation_id: string) {
    let version = 0;
    for (;;) {
      const input = { conversation_id, after: 0, version, wait_ms: 10_000 };
      const seen = await askSteward(this.socket, 'updates', { input });
      if (isFailure(seen)) return seen;
      if (seen.is_idle) return seen;
      ({ version } = seen);
    }
  }

  /** The same of the only conversation. */
  async onlyConversation() {
    const listed = await askSteward(this.socket, 'conversations', { input: {} });
    if (isFailure(listed)) throw new Error(listed.message);
    const [only, ...others] = listed.conversations;
    if (only === undefined || others.length > 0) throw new Error('not one conversation');
    const seen = await this.idle(only.id);
    if (isFailure(seen)) throw new Error(seen.message);
    return seen;
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await this.sub('ledgerd', '--stop');
  }
}
