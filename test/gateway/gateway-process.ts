// A gateway as an admin runs it: the folder of `sub gateway init`, a process of its own, SQLite, real keys.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askSub } from '../e2e/ask-sub.ts';
import type { Ended } from '../e2e/sub.ts';
import {
  ask,
  firstKey,
  type Json,
  type ServedGateway,
  serveGateway,
  textIn,
} from './served-gateway.ts';

export interface GatewayProcess {
  readonly url: string;
  /** Of the admin, whose user id is `ada`. */
  readonly key: string;
  /** Asks the API, by default with the key of the admin. */
  api(path: string, asked?: { readonly key?: string; readonly body?: Json }): Promise<Json>;
  /** An invite for a user of identity/users.yaml. */
  invite(userId: string, role?: string): Promise<string>;
  /** The key of such a user, who comes by an invite. */
  invited(userId: string): Promise<string>;
  /** Logs the admin in where `sub` is called. */
  loginAdmin(): Promise<void>;
  /** The ids of turns that wait for an admin, as they come, until it is aborted. */
  waiting(signal: AbortSignal): AsyncIterable<string>;
  sub(...args: readonly string[]): Promise<Ended>;
  /** What its log says so far. */
  readonly log: () => string;
  close(): Promise<void>;
}

export interface GatewayProcessOptions {
  /** Without a path: all endpoints of the example are there. */
  readonly upstream: string;
  /** Rules before those of the example, as lines of its list. */
  readonly rules?: string;
  readonly budgets?: string;
  /** Changes gateway.yaml of the example. */
  readonly settings?: (text: string) => string;
}

/** The keys that the providers get. */
export const PROVIDER_KEYS = { anthropic: 'key-of-anthropic', openai: 'key-of-openai' };

/** A pool for each endpoint of the example, so that a rule can say where a turn goes. */
const POOLS = `
  only_anthropic:
    members: [{ endpoint_id: anthropic-prod, model: claude-sonnet-4-6, weight: 1 }]
  only_openai:
    members: [{ endpoint_id: openai-prod, model: gpt-5.4, weight: 1 }]
  only_local:
    members: [{ endpoint_id: local, model: qwen2.5-coder, weight: 1 }]
`;

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-gateway-process-'));
  const env = {
    HOME: folder,
    SUB_HOME: join(folder, 'sub'),
    SUB_RUN_ID: '',
    ANTHROPIC_API_KEY: PROVIDER_KEYS.anthropic,
    OPENAI_API_KEY: PROVIDER_KEYS.openai,
  };
  const sub: GatewayProcess['sub'] = (...args) => askSub(args, { cwd: folder, env });
  const written = await sub('gateway', 'init', 'config');
  if (written.code !== 0) throw new Error(written.stderr);
  configure(join(folder, 'config'), options);
  let kill: ServedGateway['kill'] = () => Promise.resolve();
  const close = async () => {
    await kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const served = await serveGateway({
      args: ['config'],
      cwd: folder,
      env,
      started: (end) => (kill = end),
    });
    if ('ended' in served) throw new Error(`The gateway has ended:\n${served.ended}`);
    const { url } = served;
    const log = () => served.log.map((line) => `${line}\n`).join('');
    const key = await firstKey(served);
    const api: GatewayProcess['api'] = (path, asked = {}) => ask(url + path, { key, ...asked });
    const invite: GatewayProcess['invite'] = (userId, role) => newInvite(api, userId, role);
    const invited = (userId: string) => exchangedInvite(api, userId);
    const loginAdmin = async () => {
      const token = await invite('ada', 'platform_admin');
      const told = await sub('login', '--gateway', url, '--invite', token);
      if (told.code !== 0) throw new Error(told.stderr);
    };
    const waiting = (signal: AbortSignal) => pendingApprovals(url, { key, signal });
    return { url, key, api, invite, invited, loginAdmin, waiting, sub, log, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

function configure(dir: string, options: GatewayProcessOptions): void {
  const { upstream, rules, budgets, settings } = options;
  const edit = (name: string, change: (text: string) => string) => {
    const path = join(dir, name);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  };
  edit('pools.yaml', (text) => {
    const moved = text
      .replace('https://api.anthropic.com', upstream)
      .replace('https://api.openai.com/v1', `${upstream}/v1`)
      .replace('http://127.0.0.1:11434/v1', `${upstream}/v1`);
    return moved + POOLS;
  });
  if (rules !== undefined) {
    edit('policies/main.yaml', (text) => text.replace('\nrules:\n', `\nrules:\n${rules}\n`));
  }
  if (budgets !== undefined) edit('budgets.yaml', () => budgets);
  if (settings !== undefined) edit('gateway.yaml', settings);
}

async function newInvite(
  api: GatewayProcess['api'],
  userId: string,
  role = 'developer',
): Promise<string> {
  const invite = await api('/api/v1/admin/invites', { body: { user_id: userId, role } });
  return textIn(invite, 'invite_token');
}

async function exchangedInvite(api: GatewayProcess['api'], userId: string): Promise<string> {
  const token = await newInvite(api, userId);
  const told = await api('/api/v1/lp/exchange-invite', {
    body: { invite_token: token, machine_id: 'machine-of-the-test' },
  });
  return textIn(told, 'api_key');
}

async function* pendingApprovals(
  url: string,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const headers = { authorization: `Bearer ${key}` };
  try {
    const { body } = await fetch(`${url}/sse/v1/approvals/stream`, { headers, signal });
    let text = '';
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const [, data] = /^data: (.*)$/m.exec(event) ?? [];
        const told = data === undefined ? {} : (JSON.parse(data) as Json);
        if (told['state'] === 'pending') yield textIn(told, 'id');
      }
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}
