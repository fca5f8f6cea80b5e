// Settings of the clients' own sandboxes, as `sub policy sandbox --write` makes them: the real clients take
// them, and hold what they say.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, type TestContext, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { REAL_CLIENTS } from './real-client.ts';
import { DONE, type Scene, setScene, writeConfigs } from './scene.ts';
import { calls, text } from './script.ts';

const POLICY = `policy_id: sandbox
version: "1"
mode: control
rules:
  - { rule_id: never-env, kind: deny, match: { any_arg: { path_matches: [".env*"] } }, effect: { action: BLOCK } }
  - { rule_id: no-keys, kind: deny, match: { any_arg: { path_under: ["~/keys"] } }, effect: { action: BLOCK } }
  - { rule_id: no-dist, kind: deny, match: { tool_name: { glob: ["Edit", "Write", "apply_patch"] }, any_arg: { path_under: [dist] } }, effect: { action: BLOCK } }
  - { rule_id: stay, kind: deny, match: { command: { not_writes_under: ["\${project}"] } }, effect: { action: BLOCK } }
`;
const SECRET = 'nobody-reads-this';
const OPEN = 'everybody-reads-this';

beforeAll(ensureBuilt);

interface SandboxScene extends Scene {
  readonly path: (name: string) => string;
}

async function sceneOf(id: string, skip: TestContext['skip']): Promise<SandboxScene> {
  const client = REAL_CLIENTS.find((one) => one.id === id);
  if (client === undefined) throw new Error(`there is no ${id}`);
  const scene = await setScene(client, skip);
  const { stage, model } = scene;
  const configs = writeConfigs(scene, model.url);
  const path = (name: string) =>
    join(name.startsWith('~') ? stage.home : stage.project, name.replace('~', ''));
  for (const [name, content] of Object.entries({
    '.env': SECRET,
    'deep/er/.env.local': SECRET,
    '~/keys/id': SECRET,
    '~/other/open': OPEN,
    'src/open': OPEN,
    'dist/made': OPEN,
    'policy.yaml': POLICY,
  })) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
  }
  // What governs the other client is closed, too; the project lacks it.
  const other = id === 'codex' ? 'claude' : 'codex';
  const imported = await stage.sub('import', other, '--hooks', '--yes');
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  const before = configs.map((config) => readFileSync(config.path, 'utf8'));
  expect(before).toEqual(configs.map((config) => config.text));
  const written = await stage.sub('policy', 'sandbox', id, '--write', '--yes');
  expect(written, written.stderr).toMatchObject({ code: 0 });
  return { ...scene, path };
}

test('Claude Code takes the settings, and keeps its tools from the files', async ({ skip }) => {
  const { stage, model, path } = await sceneOf('claude-code', skip);
  const doctor = await stage.run(['claude', 'doctor']);
  expect(doctor.stdout).toContain('Claude Code doctor');
  expect(doctor.stdout).not.toContain('Invalid settings');
  const names = ['.env', 'deep/er/.env.local', '~/keys/id', '~/other/open', 'src/open'];
  const edited = ['dist/made', '~/.subluminal/x', 'src/new'];
  model.play([
    ...names.map((name) => calls({ tool: 'Read', args: { file_path: path(name) } })),
    ...edited.map((name) =>
      calls({ tool: 'Write', args: { file_path: path(name), content: 'x' } }),
    ),
    text(DONE),
  ]);
  const allowed = ['--allowedTools', 'Read,Write,Edit', '--add-dir', stage.home];
  const { stdout, stderr } = await stage.run(['claude', '-p', 'Read them.', ...allowed]);
  expect(stdout, stderr).toContain(DONE);
  const seen = model.seen();
  expect(seen.slice(0, 3).map((one) => one.includes('denied'))).toEqual([true, true, true]);
  expect(seen.join('\n')).not.toContain(SECRET);
  expect(seen.slice(3, 5).map((one) => one.includes(OPEN))).toEqual([true, true]);
  expect(seen.slice(5, 7).map((one) => one.includes('denied'))).toEqual([true, true]);
  expect(readFileSync(path('dist/made'), 'utf8')).toBe(OPEN);
  expect(readFileSync(path('src/new'), 'utf8')).toBe('x');
});

test('Codex takes the profile, and keeps commands from the files', async ({ skip }) => {
  const { stage, path } = await sceneOf('codex', skip);
  const run = async (script: string) => {
    const { code, stdout, stderr } = await stage.run([
      'codex',
      'sandbox',
      '--',
      'sh',
      '-c',
      script,
    ]);
    return { code, said: `${stdout}${stderr}` };
  };
  const works = await run('cat src/open');
  expect(works.said).not.toContain('mount source on destination');
  // Without user namespaces and Landlock it runs nothing at all.
  if (!works.said.includes(OPEN)) skip(`the sandbox of Codex does not run here: ${works.said}`);
  for (const name of ['.env', 'deep/er/.env.local', path('~/keys/id')]) {
    const { code, said } = await run(`cat '${name}'`);
    expect(code, name).not.toBe(0);
    expect(said).toMatch(/denied|No such file/);
    expect(said).not.toContain(SECRET);
  }
  for (const name of ['dist/made', 'policy.yaml', path('~/.codex/config.toml'), path('~/x')]) {
    expect((await run(`echo changed >> '${name}'`)).code, name).not.toBe(0);
  }
  expect(await run('echo new > src/new && cat src/new')).toMatchObject({ code: 0 });
  expect(readFileSync(path('policy.yaml'), 'utf8')).toBe(POLICY);
});
