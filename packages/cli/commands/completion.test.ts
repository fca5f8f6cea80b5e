import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionPoints } from '../completion/points.ts';
import { bashScript, fishScript, zshScript } from '../completion/scripts.ts';
import { choice, defineCommand, type HelpSection, many, textOption } from '../input/command.ts';
import { HELP_SECTIONS } from './index.ts';

const POINTS = await completionPoints(HELP_SECTIONS);

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-completion-'));
  writeFileSync(join(folder, 'sub.bash'), bashScript(POINTS));
  mkdirSync(join(folder, 'here'));
  for (const name of ['policy.yaml', 'policy two.yaml', 'query']) {
    writeFileSync(join(folder, 'here', name), '');
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function has(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** What bash would offer at the end of these words; the last one is being written. */
function offered(...words: readonly string[]): readonly string[] {
  return offeredEach([words])[0] ?? [];
}

/** The same for many lines: one process for all of them. */
function offeredEach(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const script = `
    source "$1"; shift
    spec="$(complete -p sub)"; handler="\${spec#*-F }"; handler="\${handler%% *}"
    while (($#)); do
      COMP_WORDS=("\${@:2:$1}"); COMP_CWORD=$(($1 - 1)); shift "$(($1 + 1))"
      COMPREPLY=()
      "$handler" sub "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
      ((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"
      printf '\\1'
    done`;
  const file = join(folder, 'sub.bash');
  const given = lines.flatMap((words) => [String(words.length + 1), 'sub', ...words]);
  const ended = spawnSync('bash', ['-c', script, 'bash', file, ...given], {
    cwd: join(folder, 'here'),
    encoding: 'utf8',
  });
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  const outputs = ended.stdout.split('\u0001').slice(0, -1);
  return outputs.map((output) => output.split('\n').filter((line) => line !== ''));
}

describe.skipIf(!has('bash'))('in bash', () => {
  test('commands, groups and the commands of a group are offered', () => {
    expect(offered('')).toEqual(expect.arrayContaining(['tail', 'query', 'policy', 'help']));
    expect(offered('ta')).toEqual(['tail']);
    expect(offered('policy', 'l')).toEqual(['lint']);
    expect(offered('--no-color', 'policy', 'key')).toEqual(['keygen']);
  });

  test('options are those of the command, and nothing but them', () => {
    expect(offered('tail', '--no-')).toEqual(['--no-follow', '--no-color']);
    expect(offered('policy', 'lint', '--s')).toEqual(['--strict']);
    expect(offered('version', '--s')).toEqual([]);
  });

  test('the names of clients are offered where a command takes one', () => {
    expect(offered('import', 'cl')).toEqual([
      'claude-code',
      'claude',
      'claude-desktop',
      'claude-app',
    ]);
    expect(offered('restore', 'cod')).toEqual(['codex', 'codex-cli', 'code']);
    expect(offered('wrap', '--agent-type', 'ze')).toEqual(['zed']);
  });

  test('choices are offered after their option, also after an equals sign', () => {
    expect(offered('tail', '--decision', 'B')).toEqual(['BLOCK']);
    expect(offered('policy', 'diff', '--fail-on', '')).toEqual(['critical', 'warn', 'any']);
    expect(offered('policy', 'diff', '--fail-on', '=')).toEqual(['critical', 'warn', 'any']);
    expect(offered('policy', 'diff', '--fail-on', '=', 'w')).toEqual(['warn']);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  test('files are offered where files are read, whatever their names', () => {
    const policies = ['policy.yaml', 'policy two.yaml'];
    expect(offered('policy', 'lint', 'po')).toEqual(expect.arrayContaining(policies));
    expect(offered('replay', 'last', '--policy', 'po')).toHaveLength(2);
    expect(offered('query', '--path', 'po')).toHaveLength(2);
    expect(offered('query', '--run', '')).toEqual([]);
    // A file that is called like a command does not lead elsewhere.
    expect(offered('policy', 'lint', 'query', '--st')).toEqual(['--strict']);
  });

  test('behind `--` the commands of the system are offered', () => {
    expect(offered('shim', '--', 'bas')).toContain('bash');
    expect(offered('shim', '--', 'cat', 'policy.')).toEqual(['policy.yaml']);
  });

  test('every command is found, with all of its options', () => {
    const each = offeredEach(POINTS.map(({ path }) => [...path, '--']));
    expect(each).toHaveLength(POINTS.length);
    for (const [at, { options }] of POINTS.entries()) {
      const flags = options
        .flatMap((option) => option.flags)
        .filter((name) => name.startsWith('--'));
      expect(each[at]).toEqual(expect.arrayContaining(flags));
    }
  });
});

describe('the names of clients are offered where a command takes one', () => {
  const CLIENTS = ['claude-code', 'codex', 'cursor', 'zed'];

  test.each([
    ['import', /else items=\((.*)\); _describe/],
    ['restore', /else items=\((.*)\); _describe/],
    ['wrap', /\(--agent-type\) items=\((.*)\); _describe/],
  ])('in zsh by `sub %s`', (path, offer) => {
    const blocks = zshScript(POINTS).split(/^ {4}(?=\()/m);
    const block = blocks.find((text) => text.startsWith(`('${path}')\n`)) ?? '';
    const words = offer.exec(block)?.[1]?.split(' ');
    expect(words).toEqual(expect.arrayContaining(CLIENTS.map((name) => `'${name}'`)));
  });

  test.each([
    ['import', ''],
    ['restore', ''],
    ['wrap', ' -l agent-type -x'],
  ])('in fish by `sub %s`', (path, option) => {
    const start = `complete -c sub -n '__sub_at "${path}"'${option} -a '`;
    const line = fishScript(POINTS)
      .split('\n')
      .find((one) => one.startsWith(start));
    const words = line?.slice(start.length).split("'", 1)[0]?.split(' ');
    expect(words).toEqual(expect.arrayContaining(CLIENTS));
  });
});

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

describe.each(Object.entries(SCRIPTS))('the script of %s', (shell, script) => {
  test('the shell can parse the script', (context) => {
    if (!has(shell)) context.skip();
    const ended = spawnSync(shell, ['-n'], { input: script(POINTS), encoding: 'utf8' });
    expect(ended).toMatchObject({ status: 0, stderr: '' });
  });

  test('the script has every command and every option', () => {
    const lines = script(POINTS);
    for (const { path, options } of POINTS) {
      expect(lines).toContain(path.join(' '));
      for (const { flags } of options) {
        for (const name of flags) expect(lines).toContain(name.replace(/^--?/, ''));
      }
    }
  });
});

describe('what a document says', () => {
  const sectionsWith = (doc: string, words = ['a', 'b']): readonly HelpSection[] => {
    const command = defineCommand({
      description: doc,
      args: { file: many('files'), id: 'an id' },
      options: { fast: doc, how: choice(words, doc), out: textOption('dir', doc, 'o') },
      examples: [],
      exitCodes: {},
      run: () => Promise.reject(new Error('it is not run')),
    });
    const load = () => Promise.resolve({ command });
    return [{ title: 'Test', entries: [{ path: ['go'], summary: doc, load }] }];
  };

  test('the help of an option cannot break out of its quotes', async () => {
    const points = await completionPoints(sectionsWith("it's `$(touch x)`\\"));
    expect(zshScript(points)).toContain("'--fast:it'\\''s `$(touch x)`\\'");
    expect(fishScript(points)).toContain("-l fast -d 'it\\'s `$(touch x)`\\\\'");
    expect(bashScript(points)).not.toContain('touch');
  });

  test('a word that would become code is refused', async () => {
    await expect(completionPoints(sectionsWith('fine', ['$(touch x)']))).rejects.toThrow(
      'cannot be completed',
    );
  });

  test('the help of an option says what its value is', async () => {
    const [, go] = await completionPoints(sectionsWith('fine'));
    expect(go).toMatchObject({
      path: ['go'],
      argument: { kind: 'files' },
      options: [
        { flags: ['--fast'] },
        { flags: ['--how'], value: { kind: 'words', words: ['a', 'b'] } },
        { flags: ['--out', '-o'], value: { kind: 'files' } },
        { flags: ['--json'] },
        { flags: ['--no-color'] },
        { flags: ['--help', '-h'] },
      ],
    });
  });
});
