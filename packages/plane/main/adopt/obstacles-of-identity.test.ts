// The environment of an entry is that of its shim: whatever tells the shim who acts must not be
// settable there.
import { expect, test } from 'vitest';
import { CLIENTS } from '../../clients/index.ts';
import { ciJob } from '../../identity/ci.ts';
import { pod } from '../../identity/kubernetes.ts';
import { thisSystem } from '../../identity/system.ts';

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

test('no entry can set what its shim takes for the identity of its caller', () => {
  const names = namesOfIdentity();
  expect(names).toContain('GITHUB_ACTOR');
  expect(names).toContain('TRAVIS_BRANCH');
  expect(names).toContain('POD_NAME');
  const [client] = CLIENTS;
  const file = { client: 'claude-code', scope: 'user', path: '/h/c.json', format: 'json' } as const;
  for (const name of names) {
    const mcpServers = { files: { command: 'x', env: { [name]: 'x' } } };
    const read = client?.read(file, JSON.stringify({ mcpServers }));
    const entry = read?.kind === 'config' ? read.entries[0] : undefined;
    expect([name, entry?.transport, entry?.obstacle]).toEqual([
      name,
      'unknown',
      expect.stringContaining(name),
    ]);
  }
});
