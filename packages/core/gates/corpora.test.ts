// The red-team corpora through a guard: attacks do not arrive as they are, honest text does.
import { describe, expect, it } from 'vitest';
import type { Case } from '../../../test/corpora/index.ts';
import {
  DEFINITIONS,
  ENCODED,
  EXFILTRATION,
  HIDDEN,
  RESULTS,
  RUG_PULLS,
  SECRETS,
} from '../../../test/corpora/index.ts';
import { EMPTY_PINS } from '../surface/index.ts';
import { answer, callOf, optionsOf, result, textResult } from './guard.test-support.ts';
import { createGuard } from './guard.ts';

const STRICT = {
  inbound: { secret: 'redact', personal: 'allow', injection: 'block', hidden_text: 'redact' },
  outbound: { secret: 'block', personal: 'block', injection: 'allow', hidden_text: 'allow' },
  external_content: 'off',
} as const;

const guarded = () => createGuard(optionsOf({ content: STRICT }));

/** Whether the agent gets something else than what the server sent. */
function isTouched({ as, value }: Case): boolean {
  const guard = guarded();
  if (as === 'definition') {
    return guard.passing('in', answer('tools/list', { tools: [value] }), 0).kind !== 'same';
  }
  const body = as === 'text' ? textResult(String(value)) : { structuredContent: value };
  return guard.passing('in', result('read', body), 0).kind !== 'same';
}

function isStopped({ as, value }: Case): boolean {
  const args = as === 'json' && isRecord(value) ? value : { text: value };
  return guarded().content(callOf({ tool: 'post', args } as never), 0).kind === 'stop';
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const share = (cases: readonly Case[], test: (one: Case) => boolean) => {
  const missed = cases.filter((one) => !test(one)).map(({ id }) => id);
  return { share: 1 - missed.length / cases.length, missed };
};

describe('through a guard', () => {
  it.each(
    [DEFINITIONS, RESULTS, HIDDEN, ENCODED, SECRETS].map(
      (corpus) => [corpus.name, corpus] as const,
    ),
  )('attacks do not arrive as they are, and honest content does: %s', (_name, corpus) => {
    const caught = share(corpus.attacks, isTouched);
    expect(caught.share, caught.missed.join(' ')).toBeGreaterThanOrEqual(0.9);
    const passed = share(corpus.benign, (one) => !isTouched(one));
    expect(passed.share, passed.missed.join(' ')).toBeGreaterThanOrEqual(0.98);
  });

  it('data is not carried out, and honest calls pass', () => {
    const caught = share(EXFILTRATION.attacks, isStopped);
    expect(caught.share, caught.missed.join(' ')).toBeGreaterThanOrEqual(0.9);
    const passed = share(EXFILTRATION.benign, (one) => !isStopped(one));
    expect(passed.share, passed.missed.join(' ')).toBeGreaterThanOrEqual(0.98);
  });

  it.each(RUG_PULLS.map((pull, index) => [index, pull] as const))(
    'a tool that turns after it was trusted is hidden and blocked: %i',
    (_index, { before, after }) => {
      const pins = { mode: 'strict', opened: { ok: true, store: EMPTY_PINS } } as const;
      const guard = createGuard(optionsOf({ pins }));
      expect(guard.passing('in', answer('tools/list', { tools: [before] }), 0).kind).toBe('same');
      const passage = guard.passing('in', answer('tools/list', { tools: [after] }), 0);
      expect(passage).toMatchObject({ kind: 'changed', value: { tools: [] } });
      const { name } = after as { readonly name: string };
      expect(guard.surface(callOf({ tool: name, args: {} }), 0).kind).toBe('stop');
    },
  );
});
