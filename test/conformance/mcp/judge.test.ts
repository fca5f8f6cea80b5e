import { describe, expect, it } from 'vitest';
import { type Check, judge, type KnownFailure, type Outcome, rowsOf } from './judge.ts';

const passes: Check = { id: 'call', status: 'SUCCESS' };
const fails: Check = { id: 'call', status: 'FAILURE', errorMessage: 'no answer' };
const warns: Check = { id: 'call', status: 'WARNING', errorMessage: 'late' };

function outcome(...checks: readonly Check[]): Outcome {
  return { scenario: 'tools_call', checks, said: '' };
}

function verdictOn(direct: Outcome, serve: Outcome, known: readonly KnownFailure[] = []) {
  const outcomes = { direct: [direct], serve: [serve] };
  return judge(rowsOf({ mode: 'client', revision: '2025-11-25', outcomes }, known));
}

const KNOWN: KnownFailure = { mode: 'client', scenario: 'tools_call', reason: 'of the suite' };

describe('the verdict on the runs of the suite', () => {
  it('is clean when both runs pass', () => {
    expect(verdictOn(outcome(passes), outcome(passes))).toEqual({
      unexpected: [],
      stale: [],
      added: { direct: 0, serve: 0 },
      isClean: true,
    });
  });

  it.each([
    ['a check that fails through sub only', outcome(fails)],
    ['a warning through sub only', outcome(warns)],
    ['a check that the run through sub does not reach', outcome()],
    ['a scenario that did not run through sub', { ...outcome(passes), scenario: 'other' }],
  ])('counts %s', (_name, serve) => {
    const { isClean, added } = verdictOn(outcome(passes), serve);
    expect({ isClean, added }).toEqual({ isClean: false, added: { direct: 0, serve: 1 } });
  });

  it('refuses a direct run that fails without a reason', () => {
    const { isClean, unexpected } = verdictOn(outcome(fails), outcome(fails));
    expect(isClean).toBe(false);
    expect(unexpected.map(({ scenario }) => scenario)).toEqual(['tools_call']);
  });

  it('accepts a known failure that fails in both runs', () => {
    expect(verdictOn(outcome(fails), outcome(fails), [KNOWN]).isClean).toBe(true);
  });

  it('refuses more failures through sub than the direct run of a known failure has', () => {
    const more: Check = { id: 'list', status: 'FAILURE' };
    expect(verdictOn(outcome(fails), outcome(fails, more), [KNOWN]).isClean).toBe(false);
  });

  it('excuses a check that a run through sub need not reach, and no failure of it', () => {
    const known = [{ ...KNOWN, notReached: ['call'] }];
    expect(verdictOn(outcome(passes), outcome(), known).isClean).toBe(true);
    expect(verdictOn(outcome(passes), outcome(fails), known).isClean).toBe(false);
  });

  it('calls a known failure stale when it passes directly', () => {
    const { isClean, stale } = verdictOn(outcome(passes), outcome(passes), [KNOWN]);
    expect({ isClean, stale }).toEqual({ isClean: false, stale: [KNOWN] });
  });
});
