// `sub steward` at a terminal: changes are decided in the chat, and every command that needs a person does what it says.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Conversation, kindGuardian, type Reply } from './model-script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { StewardHome } from './steward-home.ts';
import { Terminal } from './terminal.ts';

const TIMEOUT_MS = 60_000;
const TEA = '---\nname: tea\ndescription: Brew tea.\n---\nBoil water.\n';

let top: string;
let home: StewardHome;
let model: ScriptedModel;
beforeAll(async () => {
  top = mkdtempSync(join(tmpdir(), 'sub-terminal-'));
  home = new StewardHome(top);
  model = await startScriptedModel((said) => kindGuardian(said) ?? answer(said));
  await home.sub('steward', 'init', '--model-url', model.url, '--model', 'm');
  await home.sub('steward', 'start');
}, TIMEOUT_MS);
afterAll(async () => {
  await home.sub('steward', 'stop');
  await home.close();
  await model.close();
  rmSync(top, { recursive: true, force: true });
}, TIMEOUT_MS);

function answer({ asked, results }: Conversation): Reply {
  if (results.length > 0) return { text: 'That is all.' };
  const reasoning = 'The user wants it.';
  const write = { path: 'a.txt', content: 'hi\nthere\u001b[2J\n', reasoning };
  if (asked.startsWith('Write')) return { uses: [{ name: 'files.propose_write', args: write }] };
  const forget = { containing: 'Ghent', reason: 'It was asked for.', reasoning };
  return { uses: [{ name: 'memory.forget_request', args: forget }] };
}

/** What a command of `sub steward` shows at a terminal, once it has ended well. */
async function shown(...args: readonly string[]): Promise<string> {
  const { code, seen } = await new Terminal(home.env, ['steward', ...args]).end();
  expect(code, seen).toBe(0);
  return seen;
}

test(
  'a proposed file is shown as a diff in the chat, left for later, and made by one message with a yes',
  async () => {
    const file = join(home.env['HOME'] ?? '', 'Steward', 'a.txt');
    const chat = new Terminal(home.env, ['steward', 'chat']);
    await chat.sees(/> /);
    chat.type('Write hi.');
    await chat.sees(/^\+hi$\n^\+there\\u\{1b\}\[2J$/m);
    await chat.sees(/Apply this\?[^\n]*: /);
    await chat.answers('l', /It stays open: sub steward review show change-\w+\n> /);
    chat.type('/quit');
    expect(await chat.end()).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
    const id = /change-\w+/.exec(await shown('review'))?.[0] ?? '';
    for (const words of [
      ['list', id],
      ['show', id, '--all'],
      ['reject', id, '--force'],
    ]) {
      const { code, seen } = await new Terminal(home.env, ['steward', 'review', ...words]).end();
      expect(seen).toMatch(/takes no id|goes with/);
      expect(code).toBe(2);
    }
    expect(await shown('review', 'reject', id)).toContain(`${id} is rejected.`);

    const single = new Terminal(home.env, ['steward', 'chat', 'Write hi.']);
    await single.sees(/Apply this\?[^\n]*: /);
    await single.answers('y', /is committed\./);
    expect(await single.end()).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain('hi\n');
    // Without a terminal it says where the change is, and ends.
    rmSync(file);
    const piped = await home.sub('steward', 'chat', 'Write hi.');
    expect(piped).toMatchObject({ code: 0, out: 'That is all.\n' });
    expect(piped.err).toMatch(/A change waits for you: sub steward review show change-\w+\n/);
  },
  TIMEOUT_MS,
);

test(
  'skills of others come, and go again, by commands',
  async () => {
    const folder = join(top, 'tea');
    mkdirSync(folder);
    writeFileSync(join(folder, 'SKILL.md'), TEA);
    const added = await shown('skills', 'add', folder);
    const id = /^(change-\w+): skill, open$/m.exec(added)?.[1] ?? '';
    expect(added).toContain(`sub steward review show ${id}`);
    const approved = await shown('review', 'approve', id);
    expect(approved).toMatch(/^\+Boil water\.$[^]*is committed\.$/m);
    expect(await shown('review', 'list', '--active')).toContain('skill  tea  Brew tea.');
    const revoked = await shown('review', 'revoke', 'skill', 'tea');
    const undo = /review rollback (change-\w+)/.exec(revoked)?.[1] ?? '';
    expect(await shown('review', 'list', '--active')).toContain('No skill, server or tool');
    expect(await shown('review', 'rollback', undo)).toContain(`${undo} is rolled back.`);
    expect(await shown('review', 'list', '--active')).toContain('skill  tea');
  },
  TIMEOUT_MS,
);

test(
  'facts are set and forgotten, and what Steward asks for is decided, by commands',
  async () => {
    expect(await shown('memory', 'set', 'city', 'Ghent')).toBe('city: Ghent\n');
    expect(await home.sub('steward', 'chat', 'Please forget Ghent.')).toMatchObject({ code: 0 });
    const review = await shown('memory', 'review');
    const [, id = ''] = /^(\S+) {2}asks to forget: Ghent/m.exec(review) ?? [];
    expect(await shown('memory', 'reject', id)).toBe('Done.\n');
    const missing = new Terminal(home.env, ['steward', 'memory', 'forget', '--id', 'absent']);
    expect(await missing.end()).toMatchObject({
      ...{ code: 2, seen: expect.stringContaining('`absent` names no entry.') as unknown },
    });
    expect(await shown('memory', 'forget', 'Ghent')).toMatch(/^Forgotten: .* 1 core fact, /);
    expect(await shown('memory', 'core')).toBe('No fact is set.\n');
    expect(await shown('memory', 'audit')).toMatch(/checked, 0 findings\.\n$/);
    const status = await shown('status', '--ack');
    expect(status).toContain('One model, m, is both agent and guardian');
  },
  TIMEOUT_MS,
);
