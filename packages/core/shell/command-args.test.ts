import type { JsonObject } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { commandsInArgs } from './command-args.ts';

function linesIn(server_name: string, tool_name: string, args: JsonObject): readonly string[] {
  return commandsInArgs({ server_name, tool_name }, args).commands.map(({ line }) => line);
}

describe('the commands of a call', () => {
  it.each<[string, string, JsonObject, readonly string[]]>([
    ['claude-code', 'Bash', { command: 'ls -l', description: 'rm -rf /' }, ['ls -l']],
    [
      'codex',
      'shell',
      { command: ['bash', '-lc', "echo 'a b'"] },
      ["bash -lc 'echo '\\''a b'\\'''"],
    ],
    ['codex', 'exec_command', { cmd: 'ls', workdir: 'src', shell: '/bin/zsh' }, ['ls']],
    ['cursor', 'Shell', { command: 'ls', working_directory: '/x' }, ['ls']],
    ['gemini-cli', 'run_shell_command', { command: 'ls' }, ['ls']],
    ['copilot-cli', 'write_bash', { sessionId: '1', input: 'rm x' }, ['rm x']],
    ['x', 'run_process', { command_line: 'ls' }, ['ls']],
    ['x', 'spawn', { command: 'git', args: ['push', 'a b'] }, ["git push 'a b'"]],
    ['x', 'spawn', { command: 'git', args: 'push -f' }, ['git push -f']],
    ['x', 'batch', { commands: ['ls', ['git', 'push'], 'pwd'] }, ['ls', 'git push', 'pwd']],
    ['x', 'batch', { steps: [{ cmd: 'ls' }, { cmd: 'pwd' }] }, ['ls', 'pwd']],
    ['x', 'batch', { commands: [{ cmd: 'ls' }, { command: ['rm', 5] }] }, ['ls', 'rm 5']],
    ['x', 'execute_code', { code: 'ls', language: 'bash' }, ['ls']],
    ['shell', 'run', { script: 'ls' }, ['ls']],
    ['x', 'RunBash', { run: 'ls' }, ['ls']],
    // None of these is a command.
    ['codex', 'apply_patch', { command: '*** Begin Patch\n*** Add File: a\n+b' }, []],
    ['x', 'execute_code', { code: 'print(1)', language: 'python' }, []],
    ['browser', 'execute_script', { script: 'return document.title' }, []],
    ['x', 'query', { sql: 'select 1', description: 'x' }, []],
    ['x', 'start', { run_id: 'abc', command: '', timeout: 3 }, []],
  ])('of %s %s are found: %j', (server, tool, args, lines) => {
    expect(linesIn(server, tool, args)).toEqual(lines);
  });

  it('count as commands of other tools although they look like a patch', () => {
    expect(linesIn('x', 'apply_patch', { command: '*** Begin Patch\nrm -rf ~' })).toHaveLength(1);
    expect(linesIn('x', 'run_command', { command: '*** Begin Patch\nrm -rf ~' })).toHaveLength(1);
  });

  it.each<[string, JsonObject]>([
    ['powershell', { command: 'ls' }],
    ['Bash', { command: 'ls', shell: '/tmp/evil' }],
    ['Bash', { command: 'ls', shell: 'pwsh' }],
    ['Bash', { command: 'git status', env: { GIT_PAGER: 'evil' } }],
  ])('of the tool %s with %j mean something else than their words', (tool_name, args) => {
    const found = commandsInArgs({ server_name: 'x', tool_name }, args);
    expect(found.commands).toEqual([expect.objectContaining({ isObscured: true })]);
  });

  it('run in the folder that stands beside them', () => {
    const found = commandsInArgs(
      { server_name: 'codex', tool_name: 'shell' },
      { command: ['ls'], workdir: '/etc' },
    );
    expect(found.commands).toEqual([{ line: 'ls', folders: ['/etc'], isObscured: false }]);
  });

  it.each<[string, string, JsonObject, readonly (string | undefined)[]]>([
    // Arguments that the tool has, and what its hook adds.
    ['codex', 'Bash', { workdir: '/etc' }, ['/etc']],
    ['cursor', 'Shell', { working_directory: 'src' }, ['src']],
    ['gemini-cli', 'run_shell_command', { dir_path: 'src' }, ['src']],
    ['gemini-cli', 'run_shell_command', { dir_path: 'src', cwd: '/etc' }, ['/etc/src']],
    ['claude-code', 'Bash', { cwd: '/etc' }, ['/etc']],
    // Arguments that it has not.
    ['claude-code', 'Bash', { dir: 'src', workdir: 'src', directory: 'src' }, [undefined]],
    ['claude-code', 'Bash', { CWD: 'src' }, [undefined]],
    ['codex', 'Bash', { dir: 'src' }, [undefined]],
    ['copilot-cli', 'Bash', { working_directory: 'src' }, [undefined]],
    // Nobody knows what another tool does with them.
    ['x', 'run', { dir: 'src' }, [undefined, 'src']],
    ['x', 'run', { dir: 'src', cwd: '/etc' }, [undefined, 'src', '/etc']],
  ])('of %s %s with %j run in %j', (server_name, tool_name, args, folders) => {
    const { commands } = commandsInArgs({ server_name, tool_name }, { command: 'ls', ...args });
    expect(commands).toEqual([{ line: 'ls', folders, isObscured: false }]);
  });

  it('are reported as incomplete beyond the limits', () => {
    const many = { commands: Array.from({ length: 1_000 }, () => 'ls') };
    expect(commandsInArgs({ server_name: 'x', tool_name: 'y' }, many).isWhole).toBe(false);
    const long = { command: 'x'.repeat(300_000) };
    expect(commandsInArgs({ server_name: 'x', tool_name: 'y' }, long).isWhole).toBe(false);
    let deep: JsonObject = { command: 'ls' };
    for (let depth = 0; depth < 100; depth++) deep = { inner: deep };
    expect(commandsInArgs({ server_name: 'x', tool_name: 'y' }, deep).isWhole).toBe(false);
  });
});
