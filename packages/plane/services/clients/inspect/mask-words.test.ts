import { expect, test } from 'vitest';
import { maskedWords } from './mask-words.ts';

function shown(...words: readonly string[]): string {
  return words.map(maskedWords()).join(' ');
}

test.each([
  [['--api-key', 'V'], '--api-key …'],
  [['--', '--wrap', '0a1b2c3d-08c4-7060-b4da-0a1b2c3d4e5f'], '-- --wrap …-08c4-7060-b4da-…'],
  [['--token', 'V', 'x'], '--token … x'],
  [['--bearer-env', 'JBSWY3DPEHPK3PXP'], '--bearer-env …'],
  [['--', '--bearer-env', 'TOKEN'], '-- --bearer-env …'],
  [['--client-secret', '-V'], '--client-secret …'],
  [['-p', 'V'], '-p …'],
  [['-pV'], '-p…'],
  [['--key=V'], '--key=…'],
  [['-e', 'DB_PASS=V'], '-e DB_PASS=…'],
  [['-e', 'MODE=V'], '-e MODE=…'],
  [['--env=MODE=V'], '--env=MODE=…'],
  [['ACME_KEY=V=V'], 'ACME_KEY=…'],
  [['--header', 'Authorization: Bearer V'], '--header Authorization:…'],
  [['https://h/?a=1&token=V'], 'https://h/?a=1&token=…'],
  [['postgres://me:V@host/db'], 'postgres://…@host/db'],
  [['--password', '--V'], '--password …'],
  [['--token', '--api-key', 'V'], '--token … …'],
  [['--pat', 'V'], '--pat …'],
  [['--sas', 'V'], '--sas …'],
  [['--login=bob:V'], '--login=…'],
  [['--as=bob:V'], '--as=…'],
  [['--header=X-Api: V'], '--header=…'],
  [['-H', 'X-Api: V'], '-H X-Api:…'],
  [['X-Api: V'], 'X-Api:…'],
  [['-eFOO=V'], '-eFOO=…'],
  [['--env-var', 'FOO=V'], '--env-var FOO=…'],
  [['run', '--', 'API=S3CR3Tnine'], 'run -- API=…'],
  [['https://h/?sig=V'], 'https://h/?sig=…'],
  [['https://h/?q=S3CR3Tnine#x'], 'https://h/?q=…#x'],
  [['https://h/hook/S3CR3Tnine/x'], 'https://h/hook/…/x'],
  [['bob:V@host'], '…@host'],
  [['Server=x;Pwd=V;'], 'Server=…'],
  [['Server=x;Port=V;'], 'Server=…'],
  [['{"apiKey":"V"}'], '…'],
  [['--functions', 'x9Yz8Wq7Rt6'], '--functions …'],
])('%j becomes %s', (words, expected) => {
  expect(shown(...words)).toBe(expected);
});

test.each([
  [['shim', '--url', 'https://h/mcp', '--header-env', 'X-Key=MCP_HEADER_X_KEY']],
  [['shim', '--bearer-env', 'NOTES_TOKEN', '--transport', 'sse']],
  [['-y', '@scope/server-files', '/home/me', '--port=80']],
  [['sub.mjs', 'shim', '--server-name', 'auth', '--policy', '/p.yaml', '--', 'npx']],
  [['--no-auth', '--verbose']],
  [['-e', 'console.log(1)']],
  [['--package=@scope/server@1.2.3', '--mode=read-only', 'node20', 'https://h/v2/x?page=2']],
  [['/opt/a1b2c3d4e5/bin/node', './x1y2z3w4/run.js', 'C:\\a1b2c3d4e5']],
])('%j stays', (words) => {
  expect(shown(...words)).toBe(words.join(' '));
});

test('a long word takes no time that grows with its square', () => {
  const word = 'key'.repeat(700_000);
  expect(shown(word)).toBe(word);
  expect(shown(`${word}=V`)).not.toContain('V');
});

test('the id of a session of `sub wrap` is shown', () => {
  const words = ['shim', '--wrap', '0a1b2c3d-08c4-7060-b4da-0a1b2c3d4e5f', '--', 'node'];
  expect(shown(...words)).toBe(words.join(' '));
});
