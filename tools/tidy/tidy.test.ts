import { expect, test } from 'vitest';
import { formatFinding, tidy } from './tidy.ts';

test('puts the findings of all rules in order of place', () => {
  const findings = tidy([
    { path: 'packages/core/b.ts', text: 'a;\nDate.now();\nexport default a;\n' },
    { path: 'packages/core/a-utils.ts', text: "import 'node:fs';\n" },
    { path: 'packages/core/c.ts', text: 'export { a };\n' },
  ]);
  expect(findings.map(formatFinding)).toEqual([
    'packages/core/a-utils.ts:1: layers: a pure package has no I/O of its own, but imports node:fs',
    'packages/core/a-utils.ts:1: names: a-utils.ts: "utils" says nothing; name what it does',
    'packages/core/b.ts:2: purity: Date.now has no place in a pure package; take it as an argument',
    'packages/core/b.ts:3: shape: export by name, not as default',
  ]);
});
