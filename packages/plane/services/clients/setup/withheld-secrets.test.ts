// A restore puts secrets back in plain text. An entry whose command somebody has changed meanwhile
// would hand them to another program.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rotateSecret } from '../../../stores/vault/index.ts';
import { applyRestore, planRestore, type RestoreFile } from './restore.ts';
import { importMoving, Machine } from './testing/machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.end());

const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';
const NEWER = 'tk-3Wd6Jp0Ys5Uc2Ka9-newer';
const SECRET = 'claude-code.hub.HUB_TOKEN';

interface Entry {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}
interface Config {
  readonly mcpServers: { readonly [name: string]: Entry };
}

function configOf(servers: Config['mcpServers']): string {
  return `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`;
}

const HUB = { command: 'npx', args: ['-y', 'hub'], env: { HUB_TOKEN: TOKEN } };

function current(): Config {
  return JSON.parse(machine.read()) as Config;
}

function change(edit: (entry: Entry) => Entry, name = 'hub'): void {
  const { mcpServers } = current();
  const { hub = { command: '' }, ...others } = mcpServers;
  machine.write(configOf({ ...others, [name]: edit(hub) }));
}

/** What stands behind the shim is another command now. */
function behind(...words: readonly string[]): (entry: Entry) => Entry {
  return (entry) => {
    const { args = [] } = entry;
    return { ...entry, args: [...args.slice(0, args.indexOf('--') + 1), ...words] };
  };
}

async function rotate(): Promise<void> {
  const vault = { home: join(machine.folder, 'sub'), nowMs: () => Date.now() + 1_000 };
  await rotateSecret({ ...vault, keychain: null }, { name: SECRET, value: NEWER });
}

async function restored(): Promise<RestoreFile> {
  const plan = await planRestore({ ...machine.options(), isProjectOnly: false });
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.problems).toEqual([]);
  const [file] = plan.files;
  if (file === undefined) throw new Error('there is nothing to put back');
  expect((await applyRestore(file)).kind).toBe('restored');
  return file;
}

const WITHHELD = [{ server: 'hub', variable: 'HUB_TOKEN', secret: SECRET }];

describe('an entry that starts something else by now is left without its secret', () => {
  test.each([
    ['behind its shim', behind('./evil.sh')],
    ['with another argument', behind('npx', '-y', 'evil')],
    ['with no shim', () => ({ command: './evil.sh' })],
    ['in another folder', (entry: Entry) => ({ ...entry, cwd: '/evil' })],
    ['by another PATH', (entry: Entry) => ({ ...entry, env: { PATH: '/evil' } })],
  ])('%s', async (_, edit) => {
    machine.write(configOf({ hub: HUB }));
    await importMoving(machine.options());
    await rotate();
    change(edit);
    const file = await restored();
    expect(file).toMatchObject({ withheld: WITHHELD, secrets: [], rotated: [] });
    expect(machine.read()).not.toContain('tk-');
  });

  test('also when its value is the one that was moved', async () => {
    machine.write(configOf({ hub: HUB }));
    await importMoving(machine.options());
    change(behind('./evil.sh'));
    expect(await restored()).toMatchObject({ withheld: WITHHELD });
    expect(machine.read()).not.toContain(TOKEN);
  });

  test('also under another name', async () => {
    machine.write(configOf({ hub: HUB, other: { command: 'x' } }));
    await importMoving(machine.options());
    change(behind('./evil.sh'), 'evil');
    await restored();
    expect(machine.read()).not.toContain(TOKEN);
  });

  test('also when a later import has taken the change over', async () => {
    machine.write(configOf({ hub: HUB }));
    await importMoving(machine.options());
    change(behind('docker', 'run'));
    machine.write(
      configOf({ ...current().mcpServers, more: { command: 'y', env: { MY_KEY: NEWER } } }),
    );
    await importMoving(machine.options());
    const file = await restored();
    expect(file.withheld).toEqual(WITHHELD);
    expect(current().mcpServers['hub']).toEqual({ command: 'docker', args: ['run'], env: {} });
    expect(current().mcpServers['more']?.env).toEqual({ MY_KEY: NEWER });
  });
});

describe('an entry that starts the same gets its secret back', () => {
  test('with its newer value, whatever else has changed', async () => {
    machine.write(configOf({ hub: HUB }));
    await importMoving(machine.options());
    await rotate();
    change((entry) => ({ ...entry, env: { MODE: 'fast' } }));
    machine.write(configOf({ ...current().mcpServers, more: { command: 'y' } }));
    const file = await restored();
    expect(file).toMatchObject({ withheld: [], secrets: [SECRET], rotated: [SECRET] });
    expect(current().mcpServers['hub']).toEqual({
      ...HUB,
      env: { MODE: 'fast', HUB_TOKEN: NEWER },
    });
  });

  test('beside another one of the file that does not', async () => {
    const more = { command: 'x', env: { MY_KEY: 'pw-5Tg8Hn2Kq7Wd' } };
    machine.write(configOf({ hub: HUB, more }));
    await importMoving(machine.options());
    change(behind('./evil.sh'));
    const file = await restored();
    expect(file.withheld).toEqual(WITHHELD);
    expect(current().mcpServers['more']).toEqual(more);
  });
});
