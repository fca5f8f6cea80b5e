// What `sub steward` says before Steward runs: about its flags, and about a configuration that is missing or broken.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { ensureBuilt } from './sub.ts';

const LOCAL = ['--model-url', 'http://127.0.0.1:11434/v1', '--model', 'm'];

let root = '';
let folder = '';
let count = 0;
beforeAll(() => {
  ensureBuilt();
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sub-steward-cli-')));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  mkdirSync(folder);
});

function steward(...args: readonly string[]) {
  const env = { SUB_HOME: join(folder, 'home'), HOME: folder };
  return askSub(['steward', ...args], { cwd: folder, env });
}

function change(name: string, from: string, to: string): void {
  const path = join(folder, 'home', 'steward', 'config', name);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

test.each(['chat', 'start'])(
  '%s without a configuration names the command that writes one',
  async (name) => {
    const { code, stderr } = await steward(name, ...(name === 'chat' ? ['Hi.'] : []));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sub: There is no configuration .* Run `sub steward init` first\./);
    expect(existsSync(join(folder, 'home'))).toBe(false);
  },
);

test.each([
  ['ftp://127.0.0.1/v1', 'm', 'no http or https URL'],
  ['http://ada:word@127.0.0.1/v1', 'm', 'without a password'],
  ['http://127.0.0.1/v1', '', 'name of the model'],
])('init takes no model that cannot be asked: %s %s', async (url, model, words) => {
  const { code, stderr } = await steward('init', '--model-url', url, '--model', model);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain('word@');
  expect(existsSync(join(folder, 'home'))).toBe(false);
});

test('init names the folder in what comes next, and tells what is there from what is a configuration', async () => {
  const made = await steward('init', '--config', 'mine', ...LOCAL);
  expect(made.stdout).toContain(`Next: sub steward chat --config ${join(folder, 'mine')}\n`);
  const again = await steward('init', '--config', 'mine', ...LOCAL);
  expect(again.stderr).toContain('There is a configuration already in');
  mkdirSync(join(folder, 'notes'));
  writeFileSync(join(folder, 'notes', 'a.txt'), 'a');
  const other = await steward('init', '--config', 'notes', ...LOCAL);
  expect(other.stderr).toContain('notes is not empty. Name an empty folder');
});

test('a broken configuration is told whole, with file and line, and without what may be a secret', async () => {
  expect((await steward('init', ...LOCAL)).code).toBe(0);
  change(
    'integrations.yaml',
    'servers: {}',
    'servers: {}\nweb: { search: { provider: brave, key_ref: hunter2 } }',
  );
  change('guardrails.yaml', 'every: 1h', 'every: often');
  const { code, stderr } = await steward('chat', 'Hi.');
  expect(code).toBe(2);
  const [first, second, last] = stderr.trimEnd().split('\n');
  expect(first).toMatch(/\/integrations\.yaml:\d+:\d+: error: expected a reference to a secret/);
  expect(second).toMatch(
    /\/guardrails\.yaml:\d+:\d+: error: `every` is no duration\. Write it like/,
  );
  expect(last).toMatch(/^sub: The configuration of Steward has 2 errors\..*\[SUB_STEWARD_VALUE\]$/);
  expect(stderr).not.toContain('hunter2');
});
