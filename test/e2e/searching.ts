// A home whose commands, daemon and API are used with everything that they say kept, to be searched.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Home, homeOf } from '../contract/gated.ts';
import { until } from '../contract/proc.ts';
import { personSub } from '../person.ts';
import type { Place } from './planted.ts';
import { ended, startSub } from './sub.ts';

export interface Search {
  readonly home: Home;
  readonly env: { readonly [name: string]: string };
  /** Everything that was said so far. */
  readonly said: Place[];
  readonly sub: (...args: readonly string[]) => Promise<string>;
}

/** Commands, each of them with all that it prints kept. */
export function searching(): Search {
  const home = homeOf();
  const env = { HOME: home.folder, ...home.env, SUB_RUN_ID: '', ENV_SOURCE: '' };
  const said: Place[] = [];
  const sub = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr, code } = await personSub(args, { cwd: home.folder, env });
    // 1 is an answer of some commands, such as `sub replay`; 2 says that nothing was done.
    expect(code, `sub ${args.join(' ')}: ${stderr}`).toBeLessThan(2);
    said.push({ name: `sub ${args.join(' ')}`, bytes: `${stdout}\n${stderr}` });
    return stdout;
  };
  return { home, env, said, sub };
}

/** The daemon, in the foreground: what it says is searched as well. */
export async function serveLedger({ home, env, said }: Search): Promise<() => Promise<void>> {
  const child = startSub(['ledgerd', '--foreground'], { cwd: home.folder, env });
  const over = ended(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => addressIn(home), 'the ledger to serve');
  return async () => {
    child.kill('SIGTERM');
    const { stdout, stderr } = await over;
    said.push({ name: 'sub ledgerd', bytes: `${stdout}\n${stderr}` });
  };
}

interface Address {
  readonly url: string;
  readonly token: string;
}

function addressIn(home: Home): Address | undefined {
  try {
    const text = readFileSync(join(home.path, 'run', 'ledger.json'), 'utf8');
    const { url, token } = JSON.parse(text) as Partial<Address>;
    return url === undefined || token === undefined ? undefined : { url, token };
  } catch {
    return undefined;
  }
}

export async function fetched({ home, said }: Search, path: string): Promise<unknown> {
  const { url = '', token = '' } = addressIn(home) ?? {};
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  const bytes = await response.text();
  expect(response.status, path).toBe(200);
  said.push({ name: `GET ${path}`, bytes });
  return path.includes('/events') ? undefined : (JSON.parse(bytes) as unknown);
}

interface Looked {
  /** A word that is to be found. */
  readonly control: string;
  /** The last run has made more calls than this. */
  readonly callsMin: number;
}

/** Every command and every path that shows what happened. */
export async function lookAtAll(search: Search, { control, callsMin }: Looked): Promise<void> {
  const { sub, home } = search;
  const runs = (await fetched(search, '/api/v1/runs')) as { rows: { run_id: string }[] };
  const id = runs.rows[0]?.run_id ?? '';
  const calls = (await fetched(search, `/api/v1/calls?limit=1000&run_id=${id}`)) as {
    rows: { call_id: string }[];
  };
  expect(calls.rows.length).toBeGreaterThan(callsMin);
  for (const path of ['', '/summary', '/events'])
    await fetched(search, `/api/v1/runs/${id}${path}`);
  for (const { call_id } of calls.rows) await fetched(search, `/api/v1/calls/${id}/${call_id}`);
  for (const path of ['health', 'stats', 'policies', 'approvals', 'grants', 'hints', 'secrets']) {
    await fetched(search, `/api/v1/${path}`);
  }
  const servers = (await fetched(search, '/api/v1/servers')) as {
    rows: { server_name: string }[];
  };
  expect(servers.rows.length).toBeGreaterThan(0);
  for (const { server_name: name } of servers.rows) {
    for (const path of [`servers/${name}`, `servers/${name}/series`, `pins/${name}/diff`]) {
      await fetched(search, `/api/v1/${path}`);
    }
  }
  await sub('query', '--json', '--limit', '1000');
  await sub('query', '--csv', '--limit', '1000');
  await sub('query', '--runs', '--json');
  await sub('query', '--text', control);
  await sub('tail', '--json', '--no-follow', '--backlog', '1000');
  await sub('tail', '--no-follow', '--backlog', '1000');
  await sub('export', 'run', 'last', '-o', join(home.folder, 'exported'));
  await sub('replay', 'last', '--policy', join(home.path, 'policy.yaml'), '--json');
  await sub('hints', 'list', '--json');
  await sub('grants', 'list', '--json');
  await sub('pins', 'list', '--json');
  await sub('secrets', 'list');
  await sub('status', '--json');
  await sub('doctor', '--json');
  await sub('ledger', 'verify');
}
