import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codexProvider, escapeOf, pointAgent } from './point-agent.ts';

const ADDRESS = { url: 'http://127.0.0.1:4000', token: 'the-token' };

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-point-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function start(client: string, command: readonly string[] = [client]) {
  return { client, command, env: { HOME: home, NO_PROXY: 'corp' }, cwd: home };
}

function write(path: string, text: string): void {
  const file = join(home, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

describe('Claude Code', () => {
  it('is pointed by its environment, past a proxy', () => {
    const ready = pointAgent(start('claude', ['claude', '-p', 'x']), ADDRESS, { kind: 'openai' });
    expect(ready.command).toEqual(['claude', '-p', 'x']);
    expect(ready.env).toMatchObject({
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000/t/the-token/anthropic',
      NO_PROXY: 'corp,127.0.0.1,localhost',
    });
  });

  it.each([
    ['.claude/settings.json', 'ANTHROPIC_BASE_URL', 'https://elsewhere.example'],
    ['.claude/settings.local.json', 'CLAUDE_CODE_USE_BEDROCK', '1'],
  ])('does not start where %s sets %s', (file, name, value) => {
    write(file, JSON.stringify({ env: { [name]: value } }));
    expect(escapeOf(start('claude'))).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
  });

  it('does not start with Vertex in its environment', () => {
    const env = { HOME: home, CLAUDE_CODE_USE_VERTEX: '1' };
    expect(escapeOf({ ...start('claude'), env })).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
  });

  it.each([
    [['--settings', '{"env":{"ANTHROPIC_BASE_URL":"https://elsewhere.example"}}']],
    [['--settings=own.json']],
    [['-p', 'x', '--settings', 'own.json']],
  ])('does not start where the arguments %j set another address', (args) => {
    write('own.json', '{"env":{"CLAUDE_CODE_USE_VERTEX":"1"}}');
    const given = start('claude', ['claude', ...args]);
    expect(escapeOf(given)).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
  });

  it('starts with settings that lead nowhere else', () => {
    write('.claude/settings.json', '{ "env": { "CLAUDE_CODE_USE_BEDROCK": "0", "X": "1" } }');
    expect(escapeOf(start('claude'))).toBeUndefined();
  });
});

describe('Codex', () => {
  it('gets a provider behind its name, and the token not on its command line', () => {
    const provider = codexProvider(start('codex'));
    expect(provider).toEqual({ kind: 'openai' });
    const ready = pointAgent(start('codex', ['codex', 'exec', 'x']), ADDRESS, { kind: 'openai' });
    const [program, flag, config = '', ...rest] = ready.command;
    expect([program, flag, ...rest]).toEqual([
      'codex',
      '-c',
      '-c',
      'model_provider="subluminal"',
      'exec',
      'x',
    ]);
    expect(parse(config)).toEqual({
      model_providers: {
        subluminal: {
          name: 'OpenAI',
          base_url: 'http://127.0.0.1:4000/codex',
          wire_api: 'responses',
          requires_openai_auth: true,
          supports_websockets: false,
          env_http_headers: { 'x-subluminal-token': 'SUB_MODELS_TOKEN' },
        },
      },
    });
    expect(ready.command.join(' ')).not.toContain(ADDRESS.token);
    expect(ready.env).toMatchObject({ SUB_MODELS_TOKEN: ADDRESS.token });
  });

  it('keeps the provider that its config names, at another address', () => {
    write(
      '.codex/config.toml',
      'model_provider = "corp"\n[model_providers.corp]\nbase_url = "https://corp.example/v1"\n',
    );
    const provider = codexProvider(start('codex'));
    expect(provider).toEqual({ kind: 'own', name: 'corp', baseUrl: 'https://corp.example/v1' });
    if (provider.kind !== 'own') throw new Error('it is its own');
    const { command } = pointAgent(start('codex'), ADDRESS, provider);
    expect(command).toContain('model_providers.corp.base_url="http://127.0.0.1:4000/codex"');
    expect(command.join(' ')).not.toContain('model_provider=');
  });

  it('does not start when its provider has no address, or its config cannot be read', () => {
    write('.codex/config.toml', 'model_provider = "ollama"\n');
    expect(codexProvider(start('codex'))).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
    write('.codex/config.toml', 'model_provider = \n');
    expect(codexProvider(start('codex'))).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
  });

  it.each([
    [['codex', '-c', 'model_provider="x"']],
    [['codex', '-cmodel_provider=x']],
    [['codex', '--oss', 'exec']],
    [['codex', '--profile=fast']],
    [['codex', 'exec', '-p', 'fast']],
    [['codex', '-pfast']],
    [['codex', '-c=model_provider=x']],
    [['codex', '--config=model_provider="x"']],
    [['codex', '--config', '"model_provider"="x"']],
    [['codex', '-c', 'model_providers.subluminal.base_url="https://elsewhere.example"']],
    [['codex', '-c', 'profiles.fast.model_provider="x"']],
  ])('does not start with %j, which chooses a provider', (command) => {
    expect(escapeOf(start('codex', command))).toMatchObject({ code: 'SUB_MODELS_ESCAPE' });
  });

  it('starts with a prompt that speaks of a profile', () => {
    expect(escapeOf(start('codex', ['codex', 'exec', 'write the profile page']))).toBeUndefined();
    expect(escapeOf(start('codex', ['codex', 'exec', 'profile the parser']))).toBeUndefined();
    expect(escapeOf(start('codex', ['codex', 'exec', '--', '--oss']))).toBeUndefined();
  });
});
