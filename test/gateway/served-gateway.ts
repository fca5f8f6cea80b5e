// `sub gateway serve` as a process, and how its API is asked.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SUB, subEnvironment } from '../e2e/sub.ts';

export type Json = { readonly [name: string]: unknown };

export interface ServedGateway {
  readonly url: string;
  /** The setup token that it printed; undefined once there is an admin. */
  readonly setupToken: string | undefined;
  /** What its log says so far, line by line. */
  readonly log: readonly string[];
  /** Whether it was killed, or has ended by itself. */
  readonly isGone: () => boolean;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface ServeOptions {
  /** What follows `sub gateway serve`. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Has the process before it listens: whoever starts one must be able to end it. */
  readonly started?: (kill: ServedGateway['kill']) => void;
}

const DEADLINE_MS = 10_000;

/** Its log when it ends before it listens: the database may just be away. */
export async function serveGateway(
  options: ServeOptions,
): Promise<ServedGateway | { readonly ended: string }> {
  const { args, cwd, env, started } = options;
  const child = spawn(process.execPath, [SUB, 'gateway', 'serve', ...args, '--port', '0'], {
    cwd,
    env: subEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
    if (!hasEnded(child)) await once(child, 'exit');
    clearTimeout(force);
  };
  started?.(kill);
  const log: string[] = [];
  const url = await new Promise<string | undefined>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const listens = /It listens on (\S+)\.$/.exec(line);
      if (listens !== null) resolve(listens[1]);
    });
    child.once('exit', () => resolve(undefined));
  });
  if (url === undefined) return { ended: log.join('\n') };
  const setupToken = /--setup (\S+)/.exec(log.join('\n'))?.[1];
  return { url, setupToken, log, isGone: () => hasEnded(child), kill };
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The key of the first admin, whose user id is `ada`. */
export async function firstKey({
  url,
  setupToken,
}: Pick<ServedGateway, 'url' | 'setupToken'>): Promise<string> {
  const body = { setup_token: setupToken, user_id: 'ada' };
  return textIn(await ask(`${url}/api/v1/setup/exchange`, { body }), 'api_key');
}

export async function ask(
  url: string,
  { key, body }: { readonly key?: string; readonly body?: Json },
): Promise<Json> {
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as Json;
}

export function textIn(value: Json, name: string): string {
  const found = value[name];
  if (typeof found !== 'string') throw new Error(`no ${name}: ${JSON.stringify(value)}`);
  return found;
}
