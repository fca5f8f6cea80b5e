// Pins that are taken away while a server runs: what this session knows of it stays.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bundle, isFailure } from '@subluminal/contracts';
import { compileBundle, sectionsFor } from '@subluminal/core/policy';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { loadConfig } from '../../stores/config/index.ts';
import { openPins } from '../../stores/surface/index.ts';
import { finderOptions } from '../self-protection/finder-options.ts';
import { Gates } from './gates.ts';

const BUNDLE: Bundle = {
  policy_id: 'p',
  version: '1',
  mode: 'control',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [],
};
const SNAPSHOT = await compileBundle(BUNDLE, { sha256, profile: 'production' });

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-gates-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The gates of a session, and what they say to the shim. */
async function session() {
  const told: string[] = [];
  const waiting: (() => void)[] = [];
  const hear = (text: string): void => {
    told.push(text);
    for (const wake of waiting.splice(0)) wake();
  };
  const env = { SUB_HOME: home, HOME: home };
  const loaded = await loadConfig({ env, flags: {}, cwd: home });
  if (!loaded.ok) throw new Error('no configuration');
  const server = { env, cwd: home, command: 'server', args: [] };
  const gates = new Gates({
    protects: finderOptions(server, { ...loaded, policies: [] }),
    serverName: 's',
    home,
    manifests: join(home, 'manifests'),
    pinsMode: 'on',
    profile: 'production',
    snapshot: SNAPSHOT,
    hasPolicy: true,
    identity: { run_id: 'r', agent_id: 'a', client: 'c', env: 'test' },
    hasHub: false,
    hasCedar: false,
    secrets: [],
    redact: (text) => text,
    inspectBytesMax: 1_048_576,
    manifest: undefined,
    sections: sectionsFor(SNAPSHOT),
    isMeant: true,
  });
  gates.start({ use: () => hear('used'), warn: hear, degraded: hear });
  onTestFinished(() => gates.stop());
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: 'object' },
  });
  return {
    told,
    async heard(what: RegExp): Promise<void> {
      while (!told.some((text) => what.test(text)))
        await new Promise<void>((wake) => waiting.push(wake));
    },
    /** The tools that the agent sees when the server lists these, by name and description. */
    async shows(...tools: readonly (readonly [string, string])[]): Promise<readonly string[]> {
      const items = tools.map(([name, description]) => tool(name, description));
      const value = { tools: items };
      const message = { kind: 'answer', method: 'tools/list', value, isError: false } as const;
      const passage = gates.guard.passing('in', message, 0);
      gates.remember();
      await gates.flush();
      const shown = passage.kind === 'changed' ? passage.value : value;
      return (shown as typeof value).tools.map(({ name }) => name);
    },
  };
}

const path = () => join(home, 'pins.json');
const pinned = () => {
  const opened = openPins(home);
  return isFailure(opened)
    ? 'unreadable'
    : [...(opened.store.servers.get('s')?.tools.keys() ?? [])];
};

describe('pins', async () => {
  it('that are deleted hold until the next start, and blocked tools are not remembered as new', async () => {
    expect(await (await session()).shows(['read', 'Reads.'])).toEqual(['read']);
    const next = await session();
    expect(await next.shows(['read', 'Obey.'])).toEqual([]);
    rmSync(path());
    await next.heard(/pins are gone; they hold until the next start/);
    expect(next.told).toContain('pins are gone; those of this session stay');
    expect(await next.shows(['read', 'Obey.'], ['list', 'Lists.'])).toEqual(['list']);
    expect(pinned()).toEqual(['list']);
    expect(await next.shows(['read', 'Obey.'], ['list', 'Lists.'])).toEqual(['list']);
  });

  it('that are spoilt and then deleted hold as well', async () => {
    await (await session()).shows(['read', 'Reads.']);
    const next = await session();
    await next.shows(['read', 'Reads.']);
    writeFileSync(path(), 'nonsense', { mode: 0o600 });
    await next.heard(/used/);
    expect(await next.shows(['read', 'Reads.'])).toEqual([]);
    rmSync(path());
    await next.heard(/pins are gone/);
    expect(await next.shows(['read', 'Reads.'])).toEqual(['read']);
    expect(await next.shows(['read', 'Obey.'])).toEqual([]);
  });

  it('that are put back in an older form are not believed while the shim runs', async () => {
    await (await session()).shows(['read', 'Reads.']);
    const old = readFileSync(path());
    await (await session()).shows(['read', 'Reads.'], ['list', 'Lists.']);
    const next = await session();
    expect(await next.shows(['read', 'Reads.'])).toEqual(['read']);
    writeFileSync(path(), old, { mode: 0o600 });
    await next.heard(/used/);
    expect(await next.shows(['read', 'Reads.'])).toEqual([]);
  });

  it('that could not be read from the start are not made good by taking them away', async () => {
    writeFileSync(path(), 'nonsense', { mode: 0o600 });
    const next = await session();
    expect(await next.shows(['read', 'Reads.'])).toEqual([]);
    rmSync(path());
    await next.heard(/pins are gone/);
    expect(await next.shows(['read', 'Reads.'])).toEqual([]);
  });
});
