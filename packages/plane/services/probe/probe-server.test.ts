// Looks at real servers, and at one that does what it should not.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ProbeOptions, type ProbeResult, probeServer } from './probe-server.ts';

const resolved = createRequire(import.meta.url).resolve;
const EVERYTHING = resolved('@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = resolved('@modelcontextprotocol/server-filesystem/dist/index.js');
const SCRIPTED = fileURLToPath(
  new URL('../../../../test/e2e/rug-pull-server.mjs', import.meta.url),
);
const VALUE = 'tok-5f0c1d9e7a33b2';

let folder: string;
let home: string;
let project: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-look-'));
  home = join(folder, 'sub');
  project = join(folder, 'project');
  for (const one of [home, project]) mkdirSync(one, { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function look(more: Partial<ProbeOptions> = {}): Promise<ProbeResult> {
  const env = { PATH: process.env['PATH'], HOME: folder, SUB_HOME: home, SUB_RUN_ID: 'run-1' };
  const asked = { server: 'files', env, cwd: project, timeoutMs: 30_000, version: '1' };
  return probeServer({ ...asked, ...more });
}

function scripted(script: object): readonly string[] {
  const path = join(folder, 'script.json');
  writeFileSync(path, JSON.stringify({ tools: [{ name: 'read' }], ...script }));
  return [process.execPath, SCRIPTED, path];
}

const names = (items: readonly unknown[]): readonly unknown[] =>
  items.map((item) => (isObject(item) ? item['name'] : undefined));

function seenOf(looked: ProbeResult) {
  if (looked.kind !== 'seen') throw new Error(JSON.stringify(looked));
  return looked.seen;
}

function failureOf(looked: ProbeResult) {
  if (looked.kind !== 'failure') throw new Error(JSON.stringify(looked));
  return looked;
}

/** The processes that were started with something of this folder among their words. */
function left(): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

const EMPTY = { prompts: [], resources: [], templates: [] };

describe('a look at a server', () => {
  it('sees all that a real one lists, and leaves no process', async () => {
    const command = [process.execPath, EVERYTHING, 'stdio', folder];
    const seen = seenOf(await look({ command }));
    expect(names(seen.tools)).toEqual(expect.arrayContaining(['echo', 'get-sum']));
    expect(seen.prompts.length).toBeGreaterThan(0);
    expect(seen.resources.length + seen.templates.length).toBeGreaterThan(0);
    expect(typeof seen.instructions).toBe('string');
    expect(seen.serverInfo.name).toContain('everything');
    expect(left()).toEqual([]);
  });

  it('takes a server without prompts, resources or instructions as it is', async () => {
    const seen = seenOf(await look({ command: [process.execPath, FILESYSTEM, project] }));
    expect(names(seen.tools)).toContain('read_text_file');
    expect(seen).toMatchObject({ instructions: null, ...EMPTY, notes: [] });
    expect(left()).toEqual([]);
  });

  it('reads on to the last page', async () => {
    const tools = Array.from({ length: 23 }, (_, index) => ({ name: `tool-${index}` }));
    const seen = seenOf(await look({ command: scripted({ tools, pages: 5 }) }));
    expect(names(seen.tools)).toEqual(names(tools));
  });

  it.each(['greets', 'asks', 'modern'])('works with a server that is %s', async (mode) => {
    const seen = seenOf(await look({ command: scripted({ mode }) }));
    expect(names(seen.tools)).toEqual(['read']);
    expect(seen.instructions).toBe(mode === 'modern' ? undefined : null);
  });

  it.each([
    ['circles', {}, 'the same page'],
    ['floods', {}, 'more than is taken'],
    ['silent', { timeoutMs: 300 }, 'within 0.3 s'],
    ['dies', {}, 'has ended by itself'],
  ])('fails at a server that is %s, and leaves no process', async (mode, more, said) => {
    const failed = failureOf(await look({ command: scripted({ mode }), ...more }));
    expect(failed).toMatchObject({ code: 'SUB_SERVER_LOOK' });
    expect(failed.message).toContain(said);
    expect(left()).toEqual([]);
  });

  it('ends a server that does not want to end', async () => {
    const seen = seenOf(await look({ command: scripted({ mode: 'deaf' }) }));
    expect(names(seen.tools)).toEqual(['read']);
    expect(left()).toEqual([]);
  });

  it('says that a command does not exist', async () => {
    const failed = failureOf(await look({ command: [join(folder, 'none')] }));
    expect(failed.message).toContain('there is no such command');
    expect(failed.fix).toContain('Correct its command');
    expect(failed.fix).not.toContain('--timeout');
  });

  it('gives the signals back', async () => {
    const before = process.listenerCount('SIGINT');
    await look({ command: scripted({}) });
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});

describe('the secrets of a server', () => {
  beforeEach(() => {
    mkdirSync(join(home, 'secrets'), { mode: 0o700 });
    writeFileSync(join(home, 'secrets', 'token'), `${VALUE}\n`, { mode: 0o600 });
    const binding = 'inject_as = "TOKEN"\nsecret_ref = "token"\nsource = "file"\n';
    writeFileSync(join(home, 'config.toml'), `[[servers.files.secret_bindings]]\n${binding}`);
  });

  it('are given, and texts of the server that hold them go nowhere', async () => {
    const failed = failureOf(await look({ command: scripted({ mode: 'dies' }) }));
    expect(failed.said).toContain('here');
    expect(JSON.stringify(failed)).not.toContain(VALUE);
  });

  it.each([
    ['a description', { tools: [{ name: 'read', description: 'with $TOKEN' }] }],
    ['its instructions', { instructions: 'Say $TOKEN.' }],
  ])('make a server that shows one in %s useless', async (_, script) => {
    const failed = failureOf(await look({ command: scripted(script) }));
    expect(failed.message).toContain('shows a secret');
    expect(JSON.stringify(failed)).not.toContain(VALUE);
  });

  it('are needed', async () => {
    rmSync(join(home, 'secrets', 'token'));
    const failed = failureOf(await look({ command: scripted({}) }));
    expect(failed).toMatchObject({
      code: 'SUB_SECRET_MISSING',
      message: expect.stringContaining('TOKEN') as unknown,
    });
    // Whoever prints it puts the code at the end.
    expect(failed.message + failed.fix).not.toContain('SUB_');
  });
});

describe('a server that is found by its name', () => {
  const config = (servers: object, path = join(folder, '.claude.json')) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, JSON.stringify({ mcpServers: servers }));
  };
  const entry = (script: object, env: object = {}) => {
    const [command, ...args] = scripted(script);
    return { command, args, env };
  };
  const cursor = () => join(folder, '.cursor', 'mcp.json');

  it('is started as its client starts it, in its environment', async () => {
    const tools = [{ name: 'read', description: 'for $TOKEN' }];
    config({ files: entry({ tools }, { TOKEN: '${WHO:-nobody}' }) });
    const looked = await look();
    expect(seenOf(looked).tools).toEqual([{ name: 'read', description: 'for nobody' }]);
    expect(looked).toMatchObject({
      foundIn: { client: 'Claude Code', path: join(folder, '.claude.json') },
    });
  });

  it('is looked at without its shim', async () => {
    const { command = '', args } = entry({});
    const shim = ['/opt/sub', 'shim', '--server-name', 'docs', '--', command, ...args];
    config({ files: { command: shim[0], args: shim.slice(1) } });
    expect(names(seenOf(await look({ server: 'docs' })).tools)).toEqual(['read']);
  });

  it('does not get the variables for shims', async () => {
    const tools = [{ name: 'read', description: 'in $TOKEN' }];
    config({
      files: {
        command: 'sh',
        args: ['-c', `TOKEN="run: $SUB_RUN_ID" exec "$0" "$@"`, ...scripted({ tools })],
      },
    });
    expect(seenOf(await look()).tools).toEqual([{ name: 'read', description: 'in run: ' }]);
  });

  it.each([
    ['nobody knows', () => config({ other: entry({}) }), 'no client has', 'Known are: other.'],
    [
      'has no address that is known',
      () => config({ files: { type: 'http' } }),
      'no address',
      'Change its entry',
    ],
    [
      'needs a variable',
      () => config({ files: entry({}, { A: '${UNSET_HERE}' }) }),
      'UNSET_HERE',
      '--',
    ],
    [
      'two clients start in different ways',
      () => {
        config({ files: entry({}, { A: '1' }) });
        config({ files: entry({}, { A: '2' }) }, cursor());
      },
      'Claude Code, Cursor',
      '--client',
    ],
  ])('but which %s is not started', async (_, make, said, fix) => {
    make();
    const failed = failureOf(await look());
    expect(failed).toMatchObject({ code: 'SUB_SERVER_UNKNOWN' });
    expect(failed.message).toContain(said);
    expect(failed.fix).toContain(fix);
  });

  it('is the one of the client that is named', async () => {
    config({ files: entry({}, { A: '1' }) });
    config({ files: entry({}, { A: '2' }) }, cursor());
    expect(await look({ client: 'cursor' })).toMatchObject({ foundIn: { client: 'Cursor' } });
    expect(failureOf(await look({ client: 'curser' })).fix).toContain('Known are');
  });
});
