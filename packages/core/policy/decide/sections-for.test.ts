import { type Bundle, CONTENT_DEFAULTS } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { normalizeBundle } from '../compile/normalize.ts';
import { compileTightened } from '../compile/snapshot.ts';
import { bundleOf, IDENTITY } from '../testing/scenario.ts';
import { sectionsFor } from './sections-for.ts';

type Parts = Partial<Omit<Bundle, 'rules'>>;

async function sections(user: Parts, project: Parts) {
  const documents = [user, project].map((parts) => normalizeBundle(bundleOf([], parts)));
  const [first, second] = documents;
  if (first === undefined || second === undefined) throw new Error('two policies');
  const snapshot = await compileTightened(first, second, { sha256: () => '0'.repeat(64) });
  return sectionsFor(snapshot, IDENTITY);
}

const ELSEWHERE = { selectors: { env: ['elsewhere'] } };

describe('the sections in force', () => {
  it('are those of the only policy that has them', async () => {
    const { content, taint } = await sections({ content: {} }, { taint: {} });
    expect(content).toEqual(CONTENT_DEFAULTS);
    expect(taint).toMatchObject({ on_taint: 'ask' });
  });

  it('are the stricter of both, field by field', async () => {
    const user = {
      content: { outbound: { secret: 'block' as const, personal: 'allow' as const } },
    };
    const project = {
      content: { outbound: { secret: 'allow' as const, personal: 'block' as const } },
    };
    const { content } = await sections(user, project);
    expect(content?.outbound).toMatchObject({ secret: 'block', personal: 'block' });
  });

  it('leave a policy out that is not for this agent', async () => {
    const { content, taint, mode } = await sections(
      { content: {}, mode: 'observe' },
      { taint: {}, ...ELSEWHERE },
    );
    expect([content !== undefined, taint, mode]).toEqual([true, undefined, 'observe']);
  });

  it('only tag, if their policy observes and the other one enforces', async () => {
    const { content, taint, mode } = await sections(
      { content: {}, taint: {}, mode: 'observe' },
      { mode: 'guardrails' },
    );
    expect(mode).toBe('guardrails');
    expect(content?.outbound).toMatchObject({ secret: 'tag', injection: 'allow' });
    expect(content).toMatchObject({ external_content: 'off', unscanned: 'tag' });
    expect(taint).toMatchObject({ on_taint: 'tag', rule_of_two: { mode: 'off' } });
  });

  it('are those of the policy that enforces, where the other one observes', async () => {
    const { content } = await sections(
      { content: { outbound: { personal: 'block' } }, mode: 'observe' },
      { content: {}, mode: 'guardrails' },
    );
    expect(content).toEqual(CONTENT_DEFAULTS);
  });

  it('ask nobody if one of the policies asks nobody', async () => {
    const { mode } = await sections({ mode: 'control' }, { mode: 'guardrails' });
    expect(mode).toBe('guardrails');
  });
});
