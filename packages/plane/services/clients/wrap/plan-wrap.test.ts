import { failure } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { besideSession } from './plan-wrap.ts';

function fixFor(...command: readonly string[]): string {
  const locked = failure('SUB_CLIENT_LOCKED', 'It is in use.', 'Wait.');
  return besideSession(locked, { id: 'claude-code' }, { command }).fix;
}

test('the command to copy is quoted, and shows no secret of the agent', () => {
  const fix = fixFor('claude', '--api-key', 'sesame-open', '-m', "it's on; rm x");
  expect(fix).toContain(`\`sub run -- claude --api-key '…' -m 'it'\\''s on; rm x'\`.`);
  expect(fix).not.toContain('sesame');
});

test('a command that is too long to show says so', () => {
  expect(fixFor('agent', 'word '.repeat(100))).toMatch(/word w?o?r?d?…`\.$/);
});
