import type { Bundle } from '@subluminal/contracts';
import { compileBundle } from '@subluminal/core/policy';
import { expect, test } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { firstLoosening } from './first-loosening.ts';

function compiled(rules: Bundle['rules']) {
  const rest = { defaults: { decision_on_error: 'BLOCK' }, selectors: {} } as const;
  const bundle: Bundle = { policy_id: 'p', version: '1', mode: 'control', ...rest, rules };
  return compileBundle(bundle, { sha256, profile: 'production' });
}

function denying(tool: string): Bundle['rules'][number] {
  return {
    rule_id: `no-${tool}`,
    kind: 'deny',
    enabled: true,
    severity: 'warn',
    match: { tool_name: { glob: [tool] } },
    effect: { action: 'BLOCK', message: 'No.' },
  };
}

test('one rule more is no loosening, although the version stayed the same', async () => {
  const [few, more] = await Promise.all([compiled([]), compiled([denying('rm')])]);
  expect(firstLoosening(few, more)).toBeUndefined();
  expect(firstLoosening(more, few)).toContain('no-rm');
});
