import { describe, expect, it, test } from 'vitest';
import { anthropicWire } from './anthropic/index.ts';
import { chatWire } from './chat/index.ts';
import { REFUSAL_MEDIA_TYPE, refusalAnswer, refusalStream, type TurnRefusal } from './refusals.ts';
import { responsesWire } from './responses/index.ts';

const NOW_MS = 1_700_000_000_000;

function refusal(fields: Partial<TurnRefusal> = {}): TurnRefusal {
  return { kind: 'policy', message: 'No.', ruleIds: ['P-1', 'P-2'], headers: {}, ...fields };
}

describe('a refusal', () => {
  const STATUSES = [
    ['policy', 400],
    ['approval', 400],
    ['permission', 400],
    ['invalid', 400],
    ['authentication', 401],
    ['too_large', 413],
    ['budget', 429],
    ['rate', 429],
    ['unavailable', 503],
  ] as const;

  const ANTHROPIC: ReadonlySet<string> = new Set(['policy', 'approval', 'permission']);

  test.each(STATUSES)(
    'because of %s has the status %i, or 451 on Anthropic’s wire',
    (kind, status) => {
      for (const wire of [anthropicWire, chatWire, responsesWire]) {
        const answer = refusalAnswer(wire, refusal({ kind }), { nowMs: NOW_MS });
        const is451 = wire === anthropicWire && ANTHROPIC.has(kind);
        expect(answer.status).toBe(is451 ? 451 : status);
        expect(answer.body).toMatchObject({ error: { message: 'No.' } });
      }
    },
  );

  test.each(STATUSES)('because of %s says whether to try again', (kind) => {
    const { headers } = refusalAnswer(chatWire, refusal({ kind }), { nowMs: NOW_MS });
    const isRetryable = kind === 'rate' || kind === 'unavailable';
    expect(headers['x-should-retry']).toBe(isRetryable ? undefined : 'false');
  });

  it('because of a budget ends a turn of Codex, with the reason and the time', () => {
    const message = 'The budget „run“ is used up.';
    const answer = refusalAnswer(
      responsesWire,
      refusal({ kind: 'budget', message, retryAfterMs: 1_500 }),
      { nowMs: NOW_MS },
    );
    expect(answer.body).toMatchObject({
      error: { type: 'usage_limit_reached', resets_at: NOW_MS / 1_000 + 2, message },
    });
    expect(answer.headers).toMatchObject({
      'x-codex-promo-message': 'The budget  run  is used up',
      'retry-after': '2',
    });
  });

  it('because of a budget is a quota on the chat wire', () => {
    const { body } = refusalAnswer(chatWire, refusal({ kind: 'budget' }), { nowMs: NOW_MS });
    expect(body).toEqual({
      error: {
        message: 'No.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    });
  });

  test.each([
    [refusal(), 451],
    [refusal({ kind: 'approval', approvalId: 'a-1' }), 202],
    [refusal({ kind: 'approval' }), 451],
    [refusal({ kind: 'budget' }), 429],
    [refusal({ kind: 'permission' }), 403],
  ])('is data for a client that asks for it: %j', (refused, status) => {
    const accept = `text/html, ${REFUSAL_MEDIA_TYPE};q=0.9`;
    const answer = refusalAnswer(chatWire, refused, { accept, nowMs: NOW_MS });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe(REFUSAL_MEDIA_TYPE);
    expect(answer.body).toMatchObject({
      error: { kind: refused.kind, rule_ids: ['P-1', 'P-2'], policy_reason: 'P-1,P-2' },
    });
  });

  it('names the approval, and keeps the headers of the turn', () => {
    const fields = {
      kind: 'approval',
      approvalId: 'a-1',
      headers: { 'x-aicg-trace-id': 't' },
    } as const;
    const { headers } = refusalAnswer(chatWire, refusal(fields), { nowMs: NOW_MS });
    expect(headers).toMatchObject({ 'x-aicg-approval-id': 'a-1', 'x-aicg-trace-id': 't' });
  });

  test.each([anthropicWire, chatWire, responsesWire])(
    'in an open stream is a whole message of the assistant',
    (wire) => {
      const text = refusalStream(wire, { message: 'Not approved.' }, { id: 'r', model: 'm' });
      const reader = wire.answerReader();
      const events = text
        .split('\n\n')
        .filter((event) => event !== '')
        .flatMap((event) => {
          const data = event.split('\n').find((line) => line.startsWith('data: ')) ?? '';
          return reader.push({ event: 'message', data: data.slice(6) });
        });
      expect(events.map(({ type }) => type).filter((type) => type !== 'usage')).toEqual([
        'start',
        'block_start',
        'text',
        'block_end',
        'stop',
        'end',
      ]);
      expect(events).toContainEqual({ type: 'text', text: 'Not approved.' });
      expect(events).toContainEqual({ type: 'stop', stop: 'end_turn' });
    },
  );
});
