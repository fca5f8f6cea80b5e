// The store of secrets, driven as a user does: the built `sub`, real files, a real terminal, a real
// server that tells its environment, and every byte that was written searched for what was planted.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { everythingServer } from '../bundled.ts';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { commandLines, environmentBelow } from './environment.ts';
import {
  type Ended,
  ended,
  ensureBuilt,
  HAS_TERMINAL,
  ROOT,
  runSub,
  SUB,
  startOnTerminal,
  startSub,
} from './sub.ts';

const EVERYTHING = everythingServer();
const VALUE = 'tok-5f0c1d9e7a33b2';
const NEWER = 'zq-81ddf02c6b95e4';
const PASSPHRASE = 'correct horse battery';

let folder: string;
let home: string;
let env: { readonly [name: string]: string };
beforeAll(() => ensureBuilt());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-cli-secrets-'));
  home = join(folder, 'sub');
  env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name = 'vault.db') => join(home, name);

function secrets(words: string, input = '', more: { readonly [name: string]: string } = {}) {
  return askSub(['secrets', ...words.split(' ')], {
    cwd: folder,
    env: { ...env, ...more },
    input,
  });
}

async function get(name: string, more: { readonly [name: string]: string } = {}): Promise<string> {
  const { stdout } = await secrets(`get ${name} --reveal`, '', more);
  return stdout;
}

function config(...bindings: readonly string[]): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const tables = bindings.map(
    (lines) => `[[servers.everything.secret_bindings]]\n${lines.replaceAll('; ', '\n')}\n`,
  );
  writeFileSync(file('config.toml'), tables.join('\n'));
}

/** Every file that the product has written. */
function everythingStored(): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const own = files.filter((one) => one.isFile() && one.name !== 'passphrase');
  return own.map((one) => readFileSync(join(one.parentPath, one.name), 'latin1')).join('\n');
}

function shapesOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inner = [bytes.toString('base64'), Buffer.from(`x${secret}`).toString('base64url')];
  return [secret, bytes.toString('hex'), ...inner.map((text) => text.slice(4, 16))];
}

function expectNowhere(text: string, ...planted: readonly string[]): void {
  for (const shape of planted.flatMap(shapesOf)) expect(text).not.toContain(shape);
}

describe('a secret', () => {
  test('is stored, listed, printed, rotated and removed', async () => {
    verifies('T-F', 'SL-6-next');
    config('inject_as = "TOKEN"; secret_ref = "sub://github_token"');
    const none = await secrets('list');
    expect(none.stdout).toContain('There is no store of secrets yet');
    const added = await secrets('add github_token', `${VALUE}\n`);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toContain(`the key is in ${file('vault.key')}`);
    const listed = await secrets('list');
    expect(listed.stdout).toMatch(/^github_token +\d{4}-\d\d-\d\d \d\d:\d\d +- +everything$/m);
    expect(await get('github_token')).toBe(`${VALUE}\n`);
    const rotated = await secrets('rotate github_token', NEWER);
    expect(rotated.stdout).toBe('`github_token` has a new value. Start again: everything.\n');
    expect(await get('github_token')).toBe(`${NEWER}\n`);
    const json: unknown = JSON.parse((await secrets('list --json')).stdout);
    expect(json).toMatchObject({
      protection: 'file',
      secrets: [{ name: 'github_token', used_by: ['everything'] }],
    });
    expect(JSON.stringify(json)).toMatch(/"rotated_at":"\d{4}-/);
    const removed = await secrets('remove github_token --yes');
    expect(removed).toMatchObject({ code: 0, stdout: 'Removed `github_token`.\n' });
    expect((await secrets('get github_token --reveal')).stderr).toContain('[SUB_SECRET_UNKNOWN]');
    expectNowhere([none, added, listed, rotated, removed].map(saidBy).join(''), VALUE, NEWER);
    expectNowhere(everythingStored(), VALUE, NEWER);
  });

  test('keeps its bytes, line breaks and all', async () => {
    const text = ' -----BEGIN\r\n\tKEY é\u001b[31m\n\nEND ';
    await secrets('add pem', `${text}\n`);
    expect(await get('pem')).toBe(`${text}\n`);
    const { stdout } = await secrets('get pem --reveal --json');
    expect(JSON.parse(stdout)).toEqual({ name: 'pem', value: text });
    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    ['add a b', VALUE, 'too many arguments'],
    [`add ${VALUE}!`, VALUE, 'not a valid name for a secret'],
    ['add empty', '\n', 'is empty'],
    ['add large', 'x'.repeat(70_000), 'too long'],
    ['rotate none', VALUE, 'has no secret `none`'],
    ['rotate', VALUE, 'no secret was named'],
    ['rotate a --key', VALUE, '--key is about the whole store'],
    ['rotate a --protect file', VALUE, 'Add --key'],
    ['rotate --key', VALUE, 'no store of secrets yet'],
    ['remove none --yes', '', 'has no secret `none`'],
    ['remove none', '', 'Add --yes'],
    ['get none', '', 'Add --reveal'],
    ['add a --protect keychain', VALUE, 'no keychain here'],
  ])('`sub secrets %s` is refused, and nothing is made or repeated', async (words, input, said) => {
    const { code, stderr, stdout } = await secrets(words, input);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expectNowhere(stdout + stderr, VALUE);
    expect(existsSync(file())).toBe(false);
  });

  test('takes a value that no server would get by default, and says so', async () => {
    const added = await secrets('add tiny', 'abc');
    expect(added.code).toBe(0);
    expect(added.stderr).toContain('`tiny` is too short to be told from other text');
    expect((await secrets('rotate tiny', 'abcd')).stderr).toBe('');
    expect((await secrets('rotate tiny', ' a ')).stderr).toContain('too short');
  });

  test('is looked for without making anything', async () => {
    expect((await secrets('list --json')).stdout).toContain('"protection": null');
    expect(existsSync(home)).toBe(false);
  });

  test('is not looked for with a broken configuration', async () => {
    config('inject_as = "TOKEN"; secret_ref = "sub://a/b"', 'inject_as = "A"; source = "file"');
    const { code, stderr } = await secrets('list');
    expect(code).toBe(2);
    expect(stderr).toMatch(/config\.toml:3:1: .*is no name of a secret \(and 1 other problem\)/);
  });

  test('is not replaced by another one of its name', async () => {
    await secrets('add one', VALUE);
    const again = await secrets('add one', NEWER);
    expect(again.stderr).toContain('`sub secrets rotate one`');
    expect(await get('one')).toBe(`${VALUE}\n`);
  });

  test('that is no text is refused', async () => {
    const child = startSub(['secrets', 'add', 'binary'], { cwd: folder, env });
    const done = ended(child);
    child.stdin?.end(Buffer.from([0xff, 0xfe, 0x80]));
    expect((await done).stderr).toContain('not valid UTF-8');
  });
});

function saidBy({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}

describe('the key', () => {
  const fileOfPassphrase = (text = PASSPHRASE) => {
    const path = join(folder, 'passphrase');
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return { SUB_VAULT_PASSPHRASE_FILE: path };
  };

  test('comes from a passphrase where one is set, and a wrong one opens nothing', async () => {
    const right = fileOfPassphrase();
    const added = await secrets('add one', VALUE, right);
    expect(added.stdout).toContain('the key comes from a passphrase');
    expect(existsSync(file('vault.key'))).toBe(false);
    expect((await secrets('get one --reveal')).stderr).toContain('needs its passphrase');
    expect(await get('one', right)).toBe(`${VALUE}\n`);
    const before = readFileSync(file());
    const wrong = await secrets('add two', NEWER, fileOfPassphrase('another passphrase'));
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain('the passphrase is wrong');
    expect(readFileSync(file())).toEqual(before);
    expectNowhere(everythingStored() + saidBy(wrong), VALUE, PASSPHRASE, 'another passphrase');
  });

  test('is changed, and the secrets stay', async () => {
    await secrets('add one', VALUE);
    const key = readFileSync(file('vault.key'), 'utf8');
    const [copy] = [readFileSync(file())];
    const again = await secrets('rotate --key');
    expect(again.stdout).toContain('The store has a new key');
    expect(await get('one')).toBe(`${VALUE}\n`);
    expect(readFileSync(file('vault.key'), 'utf8')).not.toContain(key.trim());
    const right = fileOfPassphrase();
    const moved = await secrets('rotate --key --protect passphrase --json', '', right);
    expect(JSON.parse(moved.stdout)).toMatchObject({ rotated: true, protection: 'passphrase' });
    expect(await get('one', right)).toBe(`${VALUE}\n`);
    writeFileSync(file(), copy);
    expect((await secrets('list')).stderr).toContain('[SUB_VAULT_KEY]');
  });

  test('that is lost, and a store that is damaged or newer, are told and left alone', async () => {
    await secrets('add one', VALUE);
    const whole = readFileSync(file());
    const cases = [
      [Buffer.from(whole).fill('!', 300, 301), 'SUB_VAULT_DAMAGED'],
      [whole.subarray(0, 100), 'SUB_VAULT_DAMAGED'],
      [Buffer.from(whole).fill('9', 17, 18), 'SUB_VAULT_NEWER'],
    ] as const;
    for (const [bytes, code] of cases) {
      writeFileSync(file(), bytes);
      for (const words of ['list', 'get one --reveal', 'add two', 'rotate one', 'rotate --key']) {
        const { code: exit, stderr } = await secrets(words, NEWER);
        expect({ words, exit, code: /\[(\w+)\]/.exec(stderr)?.[1] }).toEqual({
          words,
          exit: 2,
          code,
        });
      }
      expect(readFileSync(file())).toEqual(Buffer.from(bytes));
    }
    writeFileSync(file(), whole);
    rmSync(file('vault.key'));
    expect((await secrets('add two', NEWER)).stderr).toContain('[SUB_VAULT_KEY]');
    expect(readFileSync(file())).toEqual(whole);
  });
});

describe('a server', () => {
  const SERVER = [process.execPath, EVERYTHING, 'stdio'];
  const shimArgs = (flags: readonly string[] = []) => [
    ...['shim', '--server-name', 'everything'],
    ...['--events', `file:${join(folder, 'events.jsonl')}`, ...flags, '--', ...SERVER],
  ];

  async function withServer(more: { readonly [name: string]: string }) {
    const client = new Client({ name: 'secrets', version: '1' });
    const args = [SUB, ...shimArgs()];
    const all = { ...env, ...more };
    const command = process.execPath;
    const transport = new StdioClientTransport({ command, args, env: all, stderr: 'ignore' });
    await client.connect(transport);
    try {
      const { content } = await client.callTool({ name: 'get-env', arguments: {} });
      // The agent can neither read nor send it.
      const sent = client.callTool({ name: 'echo', arguments: { message: VALUE } });
      await expect(sent).rejects.toThrow(/holds? a secret that was entrusted/);
      const told = JSON.stringify(content);
      expectNowhere(told, VALUE);
      return { told, given: environmentBelow(transport.pid, EVERYTHING), commands: commandLines() };
    } finally {
      await client.close();
    }
  }

  test('gets what it is bound to from the store, by its environment alone', async () => {
    verifies('T-F', 'IP-4.1', 'IP-6.4', 'SL-7.4');
    await secrets('add github_token', VALUE);
    config(
      'inject_as = "ONE_TOKEN"; secret_ref = "github_token"; source = "vault"',
      'inject_as = "TWO_TOKEN"; secret_ref = "sub://github_token"',
    );
    const { told, given, commands } = await withServer({});
    for (const name of ['ONE_TOKEN', 'TWO_TOKEN']) {
      expect(told).toContain(name);
      expect(given).toContain(`${name}=${VALUE}`);
    }
    expect(commands).toContain(EVERYTHING);
    expectNowhere(commands, VALUE);
    const events = readFileSync(join(folder, 'events.jsonl'), 'utf8');
    expect(events).toMatch(/"secret_ref":"github_token","source":"vault","success":true/);
    await askSub(['ingest', join(folder, 'events.jsonl')], { cwd: folder, env });
    expectNowhere(everythingStored(), VALUE);
  });

  test('gets it under a passphrase too, and never the way to it', async () => {
    const path = join(folder, 'passphrase');
    writeFileSync(path, PASSPHRASE, { mode: 0o600 });
    const more = { SUB_VAULT_PASSPHRASE_FILE: path };
    await secrets('add github_token', VALUE, more);
    config('inject_as = "ONE_TOKEN"; secret_ref = "sub://github_token"');
    const { given } = await withServer(more);
    expect(given).toContain(`ONE_TOKEN=${VALUE}`);
    expect(given.join('\n')).not.toContain('PASSPHRASE');
    expectNowhere(everythingStored(), VALUE, PASSPHRASE);
  });

  test('gets it from HashiCorp Vault, and never the token that opens it', async () => {
    const token = 'hvs-made-up-0815-4711';
    const vault = createServer((request, response) => {
      const isOurs = request.headers['x-vault-token'] === token;
      const data = { data: { token: VALUE }, metadata: { version: 1, deletion_time: '' } };
      response.writeHead(isOurs && request.url === '/v1/kv/data/team/app' ? 200 : 403);
      response.end(JSON.stringify(isOurs ? { data } : { errors: ['permission denied'] }));
    });
    await once(vault.listen(0, '127.0.0.1'), 'listening');
    try {
      const place = vault.address();
      const port = typeof place === 'object' ? place?.port : undefined;
      config('inject_as = "ONE_TOKEN"; secret_ref = "vault://kv/team/app#token"');
      const more = { VAULT_ADDR: `http://127.0.0.1:${port}`, VAULT_TOKEN: token };
      const { given, commands } = await withServer(more);
      expect(given).toContain(`ONE_TOKEN=${VALUE}`);
      expectNowhere(given.join('\n'), token);
      expectNowhere(commands + everythingStored(), VALUE, token);
    } finally {
      vault.close();
    }
  });

  test('does not start without it in production, and nothing of it is told', async () => {
    await secrets('add github_token', VALUE);
    config('inject_as = "ONE_TOKEN"; secret_ref = "sub://github_token"');
    chmodSync(file('vault.key'), 0o644);
    const refused = await runSub(shimArgs(), { cwd: folder, env });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('secret `github_token` for ONE_TOKEN');
    expect(refused.stderr).toContain('chmod 600');
    chmodSync(file('vault.key'), 0o600);
    await secrets('remove github_token --yes');
    const missing = await runSub(shimArgs(), { cwd: folder, env });
    expect(missing.stderr).toContain('[SUB_SECRET_MISSING]');
    expectNowhere(saidBy(refused) + saidBy(missing), VALUE);
  });

  test('that has no such secret starts without loading the store', () => {
    const bundle = readFileSync(join(ROOT, 'packages/cli/dist/shim.js'), 'utf8');
    const inputs = [...bundle.matchAll(/^\/\/ (\S+\.ts)$/gm)].map(([, path = '']) => path);
    expect(inputs).toContain('packages/plane/stores/vault/resolve-bindings.ts');
    const heavy = [
      'vault-store.ts',
      'vault-format.ts',
      'vault-key.ts',
      'external-sources.ts',
      'secret-service.ts',
      'hashicorp.ts',
      'onepassword-connect.ts',
      'vault/keychain.ts',
    ];
    expect(inputs.filter((path) => heavy.some((part) => path.includes(part)))).toEqual([]);
  });

  test('is named by `sub doctor` when its secret cannot be given', async () => {
    config('inject_as = "ONE_TOKEN"; secret_ref = "sub://github_token"');
    const before = await askSub(['doctor'], { cwd: folder, env });
    expect(before.stdout).toContain('`sub secrets add github_token`');
    await secrets('add github_token', VALUE);
    const after = await askSub(['doctor'], { cwd: folder, env });
    expect(after.stdout).toContain('1 secret can be given');
    expectNowhere(saidBy(before) + saidBy(after), VALUE);
  });
});

describe('a change that does not come to its end', () => {
  test('because files may not grow: the old store stays', async () => {
    await secrets('add one', VALUE);
    const before = readdirSync(home).toSorted();
    const line = `ulimit -f 0; exec "${process.execPath}" "${SUB}" secrets rotate one`;
    const child = spawn('sh', ['-c', line], { cwd: folder, env: { ...process.env, ...env } });
    const done = ended(child);
    child.stdin.end(NEWER);
    const { code, stderr } = await done;
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_FILE_WRITE]');
    expect(await get('one')).toBe(`${VALUE}\n`);
    expect(readdirSync(home).toSorted()).toEqual(before);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'because the disk is full or read-only: the old store stays',
    async (t) => {
      mkdirSync(home, { mode: 0o700 });
      const mount = (...words: readonly string[]) => spawnSync('mount', [...words]).status === 0;
      if (!mount('-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', home)) t.skip();
      try {
        await secrets('add one', VALUE);
        expect(() => writeFileSync(file('fill'), Buffer.alloc(1_000_000))).toThrow('ENOSPC');
        const full = await secrets('rotate one', 'x'.repeat(60_000));
        expect(full).toMatchObject({ code: 2 });
        expect(full.stderr).toMatch(/ENOSPC.*\[SUB_FILE_WRITE\]/);
        expect((await secrets('rotate --key')).code).toBe(2);
        expect(await get('one')).toBe(`${VALUE}\n`);
        rmSync(file('fill'));
        mount('-o', 'remount,ro', home);
        const denied = await secrets('rotate one', NEWER);
        expect(denied).toMatchObject({ code: 2 });
        expect(denied.stderr).toMatch(/EROFS.*\[SUB_FILE_WRITE\]/);
        expect(await get('one')).toBe(`${VALUE}\n`);
      } finally {
        spawnSync('umount', ['-l', home]);
      }
    },
  );

  test('because it is killed while it writes: the store has the old value or the new', async () => {
    const large = (at: number) => `${at} ${NEWER.repeat(3_000)}`;
    await secrets('add one', large(0));
    writeFileSync(file('vault.db.0123456789ab.draft'), 'what a killed process has left');
    for (const [at, changes] of [1, 1, 2, 2, 3, 4].entries()) {
      const stop = new AbortController();
      const child = startSub(['secrets', 'rotate', 'one'], { cwd: folder, env });
      const done = ended(child).finally(() => stop.abort());
      child.stdin?.end(large(at + 1));
      let seen = 0;
      watch(home, { signal: stop.signal }, (_, name) => {
        if (name?.startsWith('vault.db') === true && ++seen === changes) child.kill('SIGKILL');
      });
      const before = await get('one');
      await done;
      expect([before.trimEnd(), large(at + 1)]).toContain((await get('one')).trimEnd());
    }
    expect((await secrets('add two', VALUE)).code).toBe(0);
    expect(readdirSync(home).toSorted()).toEqual(['run', 'vault.db', 'vault.key']);
    expect(readdirSync(file('run'))).toEqual([]);
  });

  test('because another comes at the same time: both are made, one after the other', async () => {
    await secrets('add first', VALUE);
    const names = ['a', 'b', 'c', 'd'];
    const adding = (name: string) =>
      runSub(['secrets', 'add', name], { cwd: folder, env, input: `${VALUE}-${name}` });
    const all = await Promise.all(names.map(adding));
    expect(all.map(({ code }) => code)).toEqual(names.map(() => 0));
    for (const name of names) expect(await get(name)).toBe(`${VALUE}-${name}\n`);
  });
});

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  /** Types each answer when its question has come; gives all that the terminal showed. */
  async function dialog(words: string, answers: readonly (readonly [string, string])[]) {
    const child = startOnTerminal([process.execPath, SUB, 'secrets', words], {
      cwd: folder,
      env: { ...process.env, ...env, NO_COLOR: '1' },
    });
    const rest = [...answers];
    let shown = '';
    let seen = 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const [question, answer] = rest[0] ?? [];
      if (question === undefined || !shown.slice(seen).includes(question)) return;
      seen = shown.length;
      rest.shift();
      child.stdin.write(answer ?? '');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, shown, unasked: rest };
  }

  test('values and passphrases are asked for and not shown', async () => {
    const added = await dialog('add one', [
      ['Value of one', `${VALUE}x\u007f\r`],
      ['New passphrase', `${PASSPHRASE}\r`],
      ['again', `${PASSPHRASE}\r`],
    ]);
    expect(added).toMatchObject({ code: 0, unasked: [] });
    expect(added.shown).toContain('the key comes from a passphrase');
    const got = await dialog('get one', [
      ['Passphrase of the store', `${PASSPHRASE}\r`],
      ['Print the value', 'y\r'],
    ]);
    expect(got).toMatchObject({ code: 0, unasked: [] });
    expect(got.shown).toContain(VALUE);
    const kept = await dialog('get one', [
      ['Passphrase of the store', `${PASSPHRASE}\r`],
      ['Print the value', '\r'],
    ]);
    expect(kept.shown).toContain('not printed');
    const wrong = await dialog('add two', [['Passphrase of the store', 'not this one\r']]);
    expect(wrong).toMatchObject({ code: 2, unasked: [] });
    expectNowhere(added.shown + kept.shown + wrong.shown, VALUE, 'not this one');
    expectNowhere(added.shown + got.shown + kept.shown, PASSPHRASE);
  });

  test('Ctrl-C stores nothing, and several lines are not cut to one', async () => {
    const stopped = await dialog('add one', [['Value of one', `${VALUE}\u0003`]]);
    expect(stopped).toMatchObject({ code: 130 });
    expect(stopped.shown).toContain('nothing was changed');
    const pasted = await dialog('add one', [['Value of one', `${VALUE}\rsecond line\r`]]);
    expect(pasted.shown).toContain('several lines');
    expectNowhere(stopped.shown + pasted.shown, VALUE);
    expect(existsSync(file())).toBe(false);
  });

  test('an empty passphrase chooses a key file, and removing is asked for', async () => {
    const added = await dialog('add one', [
      ['Value of one', `${VALUE}\r`],
      ['New passphrase', '\r'],
    ]);
    expect(added).toMatchObject({ code: 0, unasked: [] });
    expect(statSync(file('vault.key')).mode & 0o777).toBe(0o600);
    await dialog('remove one', [['for good', 'n\r']]);
    expect(await get('one')).toBe(`${VALUE}\n`);
    await dialog('remove one', [['for good', 'y\r']]);
    expect((await secrets('list')).stdout).toContain('0 secrets');
  });
});
