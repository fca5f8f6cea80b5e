// The environment of an entry is that of its shim: whatever tells the shim who acts must not be
// settable there.
import { expect, test } from 'vitest';
import { thisSystem } from '../../../os/system.ts';
import { ciJob, pod } from '../../../stores/identity/workload.ts';
import { clientOf, type ReadConfig } from '../index.ts';

type Env = { readonly [name: string]: string | undefined };

/** An environment that notes which variables somebody looks at. */
function watched(set: Env, seen: Set<string>): Env {
  return new Proxy(set, {
    get: (target, name) => {
      seen.add(String(name));
      return target[String(name)];
    },
  });
}

/** Every variable that says who acts: the signs of all systems first, then what each one tells. */
function namesOfIdentity(): readonly string[] {
  const signs = new Set<string>();
  ciJob(watched({}, signs));
  const seen = new Set(signs);
  for (const sign of signs) ciJob(watched({ [sign]: '1' }, seen));
  const system = { ...thisSystem(), readFile: () => undefined };
  pod(watched({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, seen), system);
  return [...seen];
}

const FILE = {
  client: 'claude-code',
  scope: 'user',
  path: '/h/c.json',
  format: 'json',
} as const;

function readWith(name: string): ReadConfig {
  const mcpServers = { files: { command: 'x', env: { [name]: 'x' } } };
  return configOf(JSON.stringify({ mcpServers }));
}

function configOf(text: string): ReadConfig {
  const read = clientOf('claude-code').read(FILE, text);
  if (read.kind !== 'config') throw new Error('it cannot be read');
  return read;
}

test('variables of CI systems and clusters go to the server alone, and a shim must know them', () => {
  const names = namesOfIdentity().filter((name) => !name.startsWith('SUB_'));
  expect(names).toEqual(expect.arrayContaining(['GITHUB_ACTOR', 'TRAVIS_BRANCH', 'POD_NAME']));
  const call = { program: ['/usr/bin/node', '/opt/sub.mjs'], flags: [] };
  for (const name of names) {
    const open = readWith(name);
    const { text } = clientOf('claude-code').plan(open, open.entries, call);
    const [told] = configOf(text).entries;
    expect([name, told?.governed?.serverOnly]).toEqual([name, [name]]);
    // A shim that is not told of it would believe it.
    const [untold] = configOf(text.replace(`"--server-env","${name}",`, '')).entries;
    expect([name, untold?.transport, untold?.governed, untold?.obstacle]).toEqual([
      name,
      'unknown',
      undefined,
      expect.stringContaining(name),
    ]);
  }
});

test('no entry can set the identity that sub reports', () => {
  const names = namesOfIdentity().filter((name) => name.startsWith('SUB_'));
  expect(names).toContain('SUB_K8S_NAMESPACE');
  for (const name of names) expect(readWith(name).entries[0]?.obstacle).toContain(name);
});
