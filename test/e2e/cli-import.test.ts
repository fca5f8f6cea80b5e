// An agent that is set up already comes under governance by the built `sub import`.
import { chmodSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, SECRET, SERVER } from './adopt-home.ts';
import { ensureBuilt, ROOT, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const CODEX = `# my own words\nmodel = "o5"\n\n[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "server-files"] # all of it\n[mcp_servers.files.env]\nTOKEN = "${SECRET}"\n`;
const DENY = `policy_id: e2e\nversion: "1"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:\n  - rule_id: no-sums\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["get-sum"] } }\n    effect: { action: BLOCK, reason_code: NO_SUMS, message: No sums here. }\n`;

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}

function entryOf(name: string): Entry {
  const { mcpServers } = JSON.parse(machine.read()) as { mcpServers: Record<string, Entry> };
  const entry = mcpServers[name];
  if (entry === undefined) throw new Error(`no ${name} in the config`);
  return entry;
}

/** Calls a tool of a server as a client does that finds it in its config. */
async function callOf({ command, args }: Entry, tool: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const env = { ...machine.env, PATH: process.env['PATH'] ?? '' };
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env, cwd: '/', stderr: 'ignore' }),
  );
  try {
    await client.callTool({ name: tool, arguments: { message: 'x', a: 1, b: 2 } });
    return 'ok';
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  } finally {
    await client.close();
  }
}

describe('what it shows', () => {
  test('a dry run prints a unified diff and touches no file', async () => {
    verifies('F-007a', 'SL-13');
    const before = machine.servers();
    const { code, stdout } = await machine.sub('import', 'claude', '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^--- a\/.*\.claude\.json$/m);
    expect(stdout).toMatch(/^\+ +"shim",\n\+ +"--server-name",\n\+ +"files",\n\+ +"--",$/m);
    expect(machine.read()).toBe(before);
    expect([...machine.left('run'), ...machine.left('backups')]).toEqual([]);
  });

  test.each([
    ['JSON on many lines', (text: string) => text],
    ['JSON on one line', (text: string) => JSON.stringify(JSON.parse(text))],
  ])('no value of the config is shown but those that change: %s', async (_, form) => {
    const secrets = { env: { TOKEN: SECRET }, headers: { authorization: SECRET } };
    const entry = { ...secrets, command: 'serve', ...secrets };
    machine.write(machine.config, form(machine.servers({ files: entry, other: entry })));
    const { stdout, stderr } = await machine.sub('import', 'claude', '--yes', '--server', 'files');
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout).toContain('"…"');
    expect(machine.read()).toContain(SECRET);
  });

  test('a secret among the arguments that change is not shown either', async () => {
    const token = `ghp_${'a1B2c3D4'.repeat(5).slice(0, 36)}`;
    machine.servers({ files: { command: 'serve', args: ['--take', token] } });
    const { stdout } = await machine.sub('import', 'claude', '--dry-run');
    expect(stdout).not.toContain(token);
    expect(stdout).toContain('REDACTED');
  });

  test('nor is one that only its name tells, nor what people note beside it', async () => {
    const args = ['--api-key', SECRET, '-e', `ACME_KEY=${SECRET}`, `--key=${SECRET}`, 'last-word'];
    const path = join(machine.project, '.vscode', 'mcp.json');
    const list = args.map((word) => JSON.stringify(word)).join(', ');
    machine.write(
      path,
      `{ "servers": {\n\t// my key is ${SECRET}\n\t"w": { "command": "w", "args": [${list}] } } }\n`,
    );
    const { stdout } = await machine.sub('import', 'vscode', '--dry-run');
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toContain('last-word');
    // A tab is shown as one.
    expect(stdout).toContain(' \t// …');
    expect(stdout).not.toContain('u{9}');
  });

  test('a config in TOML shows its form, and no value of its environment', async () => {
    machine.write(join(machine.home, '.codex', 'config.toml'), CODEX);
    const { stdout } = await machine.sub('import', 'codex', '--dry-run');
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toMatch(/^\+command = "/m);
  });

  test('names that act on a terminal are made harmless', async () => {
    machine.servers({ '\u001b[2Jboo': SERVER });
    const { stdout } = await machine.sub('import', 'claude', '--dry-run');
    expect(stdout).not.toContain('\u001b');
  });

  test('a server with an address goes through a shim, and the file comes back byte for byte', async () => {
    const url = 'https://mcp.example.com/mcp';
    const headers = { Authorization: 'Bearer ${LINEAR_TOKEN}' };
    machine.servers({ files: SERVER, linear: { type: 'http', url }, far: { url, headers } });
    const before = readFileSync(machine.config, 'utf8');
    const { stdout, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(stdout).toMatch(/linear +to be governed/);
    expect(stdout).toMatch(/^-.*"type": "http"(?:.|\n)*^\+.*"type": "stdio"/m);
    expect(`${stdout}${stderr}`).toContain('`sub auth login linear`');
    expect(`${stdout}${stderr}`).not.toContain('sub auth login far');
    expect(entryOf('linear')).toMatchObject({
      type: 'stdio',
      args: expect.arrayContaining(['shim', '--server-name', 'linear', '--url', url]) as unknown,
    });
    expect(entryOf('far')).toMatchObject({
      env: { MCP_HEADER_AUTHORIZATION: headers.Authorization },
    });
    await machine.sub('restore', 'claude', '--yes');
    expect(readFileSync(machine.config, 'utf8')).toBe(before);
  });

  test('an address with a secret is said to stay in plain text', async () => {
    const url = 'https://mcp.example.com/mcp?api_key=ghp_0123456789abcdefghijklmnopqrstuvwxyz';
    machine.servers({ linear: { type: 'http', url } });
    const { stdout, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(stderr).toContain('linear: the address seems to hold a secret. It stays in plain text');
    expect(`${stdout}${stderr}`).not.toContain('ghp_');
    expect(entryOf('linear')).toMatchObject({ env: { MCP_URL: url } });
  });

  test('JSON says the same for programs', async () => {
    machine.servers({ files: SERVER, linear: { url: 'https://mcp.example.com' } });
    const { stdout } = await machine.sub('import', 'claude', '--json', '--yes');
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        {
          client: 'claude-code',
          path: machine.config,
          governs: ['files', 'linear'],
          applied: true,
          servers: [
            { name: 'files', state: 'open', disabled: false },
            { name: 'linear', state: 'open', origin: 'https://mcp.example.com' },
          ],
        },
      ],
      problems: [],
    });
    expect(stdout).not.toMatch(/"[a-z]+[A-Z]\w*":/);
  });
});

describe('what it does', () => {
  test('without a terminal and without --yes it changes nothing and says what to do', async () => {
    const before = machine.servers();
    const { code, stderr } = await machine.sub('import', 'claude');
    expect(code).toBe(2);
    expect(stderr).toContain('--yes');
    expect(machine.read()).toBe(before);
  });

  test('an imported server starts behind the shim from any folder, and is governed', async () => {
    verifies('F-006', 'F-007', 'EC-STDIO-029', 'SL-13');
    machine.servers();
    const policy = join(machine.project, 'policy.yaml');
    machine.write(policy, DENY);
    const { code, stdout } = await machine.sub(
      'import',
      'claude',
      '--yes',
      '--policy',
      'policy.yaml',
    );
    expect(code).toBe(0);
    expect(stdout).toContain('sub restore claude-code');
    const entry = entryOf('files');
    expect(entry.command).toBe(process.execPath);
    expect(entry.args).toEqual(
      [SUB, 'shim', '--server-name', 'files', '--policy', policy, '--'].concat(
        SERVER.command,
        SERVER.args,
      ),
    );
    expect(await callOf(entry, 'echo')).toBe('ok');
    expect(await callOf(entry, 'get-sum')).toContain('No sums here.');
  });

  test('variables of CI reach the server, and do not tell its shim who acts', async () => {
    verifies('SL-13');
    const env = { CI: '', GITHUB_ACTIONS: 'true', GITHUB_ACTOR: 'release-bot' };
    const args = ['-e', 'process.stderr.write(`actor ${process.env.GITHUB_ACTOR}`)'];
    const mcpServers = { build: { command: process.execPath, args, env } };
    machine.write(machine.config, JSON.stringify({ mcpServers }));
    expect(await machine.sub('import', 'claude', '--yes')).toMatchObject({ code: 0 });
    const entry = entryOf('build');
    expect(entry.args.join(' ')).toContain('--server-env CI,GITHUB_ACTIONS,GITHUB_ACTOR --');
    const events = join(machine.folder, 'events.jsonl');
    const { spawnSync } = await import('node:child_process');
    const { stderr } = spawnSync(entry.command, [...entry.args], {
      env: { ...machine.env, ...env, SUB_EVENTS: `file:${events}` },
      encoding: 'utf8',
    });
    expect(stderr).toContain('actor release-bot');
    const lines = readFileSync(events, 'utf8');
    expect(lines).toContain('run_start');
    expect(lines).not.toContain('release-bot');
  });

  test('a link to sub is followed, so that a link that changes breaks nothing', async () => {
    verifies('F-007');
    const link = join(machine.folder, 'sub');
    symlinkSync(SUB, link);
    machine.servers();
    const { spawnSync } = await import('node:child_process');
    const { status } = spawnSync(process.execPath, [link, 'import', 'claude', '--yes'], {
      cwd: machine.project,
      env: { ...process.env, ...machine.env },
    });
    expect(status).toBe(0);
    expect(entryOf('files').args[0]).toBe(`${ROOT}packages/cli/bin/sub.mjs`);
  });

  test('a second time changes nothing, and a new server is added to the first', async () => {
    const before = machine.servers();
    await machine.sub('import', 'claude', '--yes', '--profile', 'development');
    const once = machine.read();
    const again = await machine.sub('import', 'claude', '--yes');
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('Nothing to do.');
    expect(machine.read()).toBe(once);
    const config = JSON.parse(once) as { mcpServers: Record<string, unknown> };
    config.mcpServers['more'] = { command: 'more' };
    machine.write(machine.config, JSON.stringify(config, null, 2));
    await machine.sub('import', 'claude', '--yes');
    expect(entryOf('files').args).toContain('development');
    expect(entryOf('more').args).toEqual([SUB, 'shim', '--server-name', 'more', '--', 'more']);
    await machine.sub('restore', 'claude', '--yes');
    const last = JSON.parse(before) as { mcpServers: object };
    expect(JSON.parse(machine.read())).toEqual({
      ...last,
      mcpServers: { ...last.mcpServers, more: { command: 'more' } },
    });
  });

  test('another policy and profile reach what is governed already, and restore undoes it', async () => {
    const before = machine.servers({ one: SERVER, two: SERVER });
    machine.write(join(machine.project, 'a.yaml'), DENY);
    machine.write(join(machine.project, 'b.yaml'), DENY);
    await machine.sub('import', 'claude', '--yes', '--policy', 'a.yaml');
    const again = ['import', 'claude', '--yes', '--policy', 'b.yaml', '--profile', 'development'];
    const { code, stdout } = await machine.sub(...again, '--server', 'two');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\+.*b\.yaml/m);
    expect(stdout).toMatch(/^ {2}two +governed, to be started otherwise$/m);
    expect(stdout).toContain('Done: 1 governed server is brought up to date');
    expect(entryOf('one').args).toContain(join(machine.project, 'a.yaml'));
    const two = entryOf('two').args;
    expect(two).toContain(join(machine.project, 'b.yaml'));
    expect(two).toContain('development');
    expect(two).not.toContain(join(machine.project, 'a.yaml'));
    const third = await machine.sub(...again, '--server', 'two');
    expect(third.stdout).toContain('Nothing to do.');
    await machine.sub('restore', 'claude', '--yes');
    expect(machine.read()).toBe(before);
  });

  test('a shim without a record keeps its options, and that is told', async () => {
    machine.servers();
    machine.write(join(machine.project, 'a.yaml'), DENY);
    await machine.sub('import', 'claude', '--yes');
    rmSync(machine.subHome, { recursive: true });
    const { stderr } = await machine.sub('import', 'claude', '--yes', '--policy', 'a.yaml');
    expect(stderr).toMatch(/files of .*no record of this shim is left/);
  });

  test('only the servers that are named are governed', async () => {
    machine.servers({ one: SERVER, two: SERVER });
    await machine.sub('import', 'claude', '--yes', '--server', 'two');
    expect(entryOf('one')).toEqual(SERVER);
    expect(entryOf('two').args).toContain('shim');
  });

  test('a link stays a link, and the mode of the file stays', async () => {
    const real = join(machine.home, 'dotfiles', 'claude.json');
    machine.servers({ files: SERVER }, real);
    chmodSync(real, 0o640);
    symlinkSync(real, machine.config);
    expect((await machine.sub('import', 'claude', '--yes')).code).toBe(0);
    expect(lstatSync(machine.config).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readFileSync(real, 'utf8')).toContain('"shim"');
  });

  test('without a client it offers all that it finds, in the home and in the project', async () => {
    verifies('F-002');
    machine.servers();
    machine.write(join(machine.home, '.codex', 'config.toml'), CODEX);
    machine.servers({ own: SERVER }, join(machine.project, '.mcp.json'));
    machine.write(
      join(machine.project, '.vscode', 'mcp.json'),
      '// mine\n{ "servers": { "w": { "type": "stdio", "command": "w", }, }, }\n',
    );
    const { code, stdout } = await machine.sub('import', '--yes');
    expect(code).toBe(0);
    for (const name of ['Claude Code', 'Codex CLI', 'VS Code'])
      expect(stdout).toContain(`${name}: `);
    expect(machine.read(join(machine.home, '.codex', 'config.toml'))).toContain('# all of it');
    expect(machine.read(join(machine.project, '.mcp.json'))).toContain('"--server-name"');
    expect(machine.read(join(machine.project, '.vscode', 'mcp.json'))).toContain('// mine');
  });

  test('a config of any client is named by its path', async () => {
    verifies('F-002');
    const path = join(machine.project, 'mcp.json');
    machine.servers({ files: SERVER }, path);
    const { code, stdout } = await machine.sub('import', '--config-path', 'mcp.json', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain(`sub restore custom --config-path ${path}`);
    expect(machine.read(path)).toContain('"shim"');
  });
});

describe('what it warns of', () => {
  test('a file that the project shares, which --user-only leaves out', async () => {
    const own = join(machine.project, '.mcp.json');
    const before = machine.servers({ own: SERVER }, own);
    machine.servers();
    const told = await machine.sub('import', 'claude', '--dry-run');
    expect(told.stderr).toContain(`${own} belongs to the project`);
    const { code, stderr } = await machine.sub('import', 'claude', '--yes', '--user-only');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(machine.read(own)).toBe(before);
    expect(entryOf('files').args).toContain('shim');
  });

  test('comments among the arguments, which only the record brings back', async () => {
    const path = join(machine.project, 'mcp.jsonc');
    machine.write(path, '{ "mcpServers": { "a": { "command": "x", "args": [ // why\n "y"] } } }');
    const { stderr } = await machine.sub('import', '--config-path', path, '--dry-run');
    expect(stderr).toContain('the comments inside of a');
    machine.write(path, '{ // why\n "mcpServers": { "a": { "command": "x", "args": ["//"] } } }');
    expect((await machine.sub('import', '--config-path', path, '--dry-run')).stderr).toBe('');
  });

  test('a client with a window, whose servers find no policy of a project', async () => {
    machine.servers({ files: SERVER }, join(machine.home, '.cursor', 'mcp.json'));
    machine.write(join(machine.project, 'p.yaml'), DENY);
    const words = 'from a folder of its own choice';
    expect((await machine.sub('import', 'cursor', '--dry-run')).stderr).toContain(words);
    const named = await machine.sub('import', 'cursor', '--dry-run', '--policy', 'p.yaml');
    expect(named.stderr).toBe('');
    machine.servers();
    expect((await machine.sub('import', 'claude', '--dry-run')).stderr).toBe('');
  });

  test('a policy of the project that would keep the servers from starting', async () => {
    machine.servers();
    machine.write(join(machine.project, 'policy.yaml'), 'rules: [');
    const { code, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(code).toBe(0);
    expect(stderr).toContain(`its policy ${join(machine.project, 'policy.yaml')} is broken`);
  });
});

describe('what it refuses', () => {
  test.each([
    [['import', 'emacs'], 'SUB_CLIENT_UNKNOWN', 'claude-code'],
    [['import', 'cluade'], 'SUB_CLIENT_UNKNOWN', 'Did you mean claude?'],
    [['import', '--user-only', '--config-path', 'x'], 'SUB_USAGE', '--user-only'],
    [['import', 'claude'], 'SUB_CLIENT_CONFIG', '.claude.json'],
    [['import', 'custom'], 'SUB_USAGE', '--config-path'],
    [['import', 'claude', '--policy', 'none.yaml'], 'SUB_FILE_READ', 'none.yaml'],
    [['import', '--project', 'nowhere'], 'SUB_FILE_READ', 'nowhere'],
  ])('%j', async (args, code, words) => {
    const done = await machine.sub(...args);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(`[${code}]`);
    expect(done.stderr).toContain(words);
  });

  test('a server that is not there, with those that are', async () => {
    machine.servers();
    const { code, stderr } = await machine.sub('import', 'claude', '--yes', '--server', 'fils');
    expect(code).toBe(2);
    expect(stderr).toContain('files');
  });

  test('a config that is broken stays as it is, and the others are imported', async () => {
    const broken = machine.write(join(machine.project, '.mcp.json'), '{ "mcpServers": { ');
    machine.servers();
    const { code, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('.mcp.json');
    expect(machine.read(join(machine.project, '.mcp.json'))).toBe(broken);
    expect(entryOf('files').args).toContain('shim');
  });

  test('nothing but a broken config is an error, not nothing to do', async () => {
    machine.write(machine.config, '{');
    const { code, stdout, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(`${machine.config}: no valid JSON`);
  });

  test('a broken policy, before anything is changed', async () => {
    const before = machine.servers();
    machine.write(join(machine.project, 'bad.yaml'), 'rules: [');
    const { code } = await machine.sub('import', 'claude', '--yes', '--policy', 'bad.yaml');
    expect(code).toBe(2);
    expect(machine.read()).toBe(before);
  });
});
