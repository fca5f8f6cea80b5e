// Taint with a real file server under the built `sub run`: what an agent does with its own files.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, SUB, startSub } from '../e2e/sub.ts';
import { homeOf } from './gated.ts';
import { linesOf, nextJson } from './lines.ts';
import { bundle } from './messages.ts';
import type { Heard } from './running.ts';

beforeAll(ensureBuilt);

const AGENT = fileURLToPath(new URL('servers/driven-agent.mjs', import.meta.url));
const FILES = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
);

interface Files {
  readonly folder: string;
  readonly call: (tool: string, args?: object) => Promise<Heard>;
}

/** A run whose agent has a file server for one folder; `taint` is made of that folder. */
async function filesBy(taint: (folder: string) => string): Promise<Files> {
  const home = homeOf();
  const folder = join(realpathSync(home.folder), 'work-a1b2c3d4', 'data');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'old.txt'), 'old');
  const policy = home.write('policy.yaml', `${bundle(' []\n')}taint: ${taint(folder)}\n`);
  const plan = { sub: SUB, servers: { files: ['--', process.execPath, FILES, folder] } };
  const agent = [process.execPath, AGENT, JSON.stringify(plan)];
  const events = join(home.folder, 'events.jsonl');
  const child = startSub(['run', '--policy', policy, '--events', events, '--', ...agent], {
    cwd: home.folder,
    env: { HOME: home.folder, ...home.env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  if (child.stdout === null) throw new Error('the run has pipes');
  const lines = linesOf(child.stdout, "the run's stdout");
  await lines.next();
  return {
    folder,
    call: async (tool, args = {}) => {
      child.stdin?.write(`${JSON.stringify({ server: 'files', tool, args })}\n`);
      return (await nextJson(lines)) as Heard;
    },
  };
}

describe('an agent with a file server', () => {
  it('reads what is in a folder that it named, and writes no file that only an answer named', async () => {
    const { folder, call } = await filesBy(() => '{ on_taint: block }');
    const [mine, other] = [join(folder, 'w.txt'), join(folder, 'v.txt')];
    expect(await call('write_file', { path: mine, content: 'x' })).toMatchObject({ ok: true });
    expect(await call('write_file', { path: other, content: 'yy' })).toMatchObject({ ok: true });
    expect(await call('write_file', { path: mine, content: 'z' })).toMatchObject({ ok: true });
    expect(await call('read_text_file', { path: mine })).toMatchObject({ ok: true, text: 'z' });

    const found = await call('search_files', { path: folder, pattern: 'old*' });
    expect(found).toMatchObject({ ok: true, text: join(folder, 'old.txt') });
    const old = join(folder, 'old.txt');
    expect(await call('read_text_file', { path: old })).toMatchObject({ ok: true, text: 'old' });
    const refused = await call('write_file', { path: old, content: 'new' });
    expect(refused).toMatchObject({ ok: false, reason_code: 'TAINTED_SINK' });
    expect(refused.message).toContain('The argument `path` (…/old.txt)');
  });

  it('may use everything in a folder that the policy allows, whoever named it', async () => {
    const { folder, call } = await filesBy((allowed) => {
      const paths = JSON.stringify([allowed, `${allowed}/*`]);
      return `{ on_taint: block, allow: { paths: ${paths} } }`;
    });
    await call('search_files', { path: folder, pattern: 'old*' });
    const denied = await call('read_text_file', { path: '/etc/hostname' });
    expect(denied.text).toContain(`not in ${folder}`);
    await call('list_allowed_directories');
    const old = await call('read_text_file', { path: join(folder, 'old.txt') });
    expect(old).toMatchObject({ ok: true, text: 'old' });
    const notes = { path: join(folder, 'my notes.txt'), content: 'n' };
    expect(await call('write_file', notes)).toMatchObject({ ok: true });
    expect(await call('list_directory', { path: folder })).toMatchObject({ ok: true });
    expect(await call('read_text_file', { path: notes.path })).toMatchObject({ ok: true });
    // Nothing outside of it is allowed by that.
    const outside = await call('read_text_file', { path: `${folder}/../../../etc/hostname` });
    expect(outside.ok).toBe(false);
  });
});
