import type { ApiCall } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { alignCalls } from './align-calls.ts';
import { toolDifferences } from './tool-differences.ts';

function calls(...tools: readonly string[]): readonly ApiCall[] {
  const made = tools.map((tool_name) => ({ kind: 'tool_call', server_name: 's', tool_name }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Names are all that is looked at.
  return made as unknown as readonly ApiCall[];
}

const toolOf = (call: ApiCall | undefined) => (call?.kind === 'tool_call' ? call.tool_name : '');

it('calls that both runs made stand side by side, whatever one of them did between', () => {
  const rows = alignCalls(calls('read', 'write', 'test'), calls('read', 'lint\nfix', 'test'));
  expect(rows.map(({ calls: [left, right] }) => [toolOf(left), toolOf(right)])).toEqual([
    ['read', 'read'],
    ['write', ''],
    ['', 'lint\nfix'],
    ['test', 'test'],
  ]);
  expect(alignCalls([], calls('read'))).toHaveLength(1);
});

it('tools that differ most come first', () => {
  const tool = (tool_name: string, count: number, refused = 0) => ({
    ...{ server_name: 's', tool_name, calls: count, refused, errors: 0 },
  });
  expect(toolDifferences([tool('a', 1), tool('b', 9)], [tool('a', 1), tool('c', 2, 2)])).toEqual([
    { name: 's/b', calls: [9, 0], refused: [0, 0], errors: [0, 0] },
    { name: 's/c', calls: [0, 2], refused: [0, 2], errors: [0, 0] },
    { name: 's/a', calls: [1, 1], refused: [0, 0], errors: [0, 0] },
  ]);
});
