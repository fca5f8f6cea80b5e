// Limits of a manifest where the hub of the run counts for them.
import { describe, expect, it } from 'vitest';
import { call, lineOf, play, readOnce } from '../session/playbook.test-support.ts';
import type { HubAnswer } from '../session/types.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { ENFORCED, OBSERVED, optionsOf } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import type { Enforcement } from './guard-options.ts';

const YAML = `server: files
allowed_tools:
  - { name: search, rate_limit: 1/minute }
  - { name: read }
  - { name: gone, allowed: false, rate_limit: 1/minute }
blocked_params: [{ pattern: "*.bcc" }]
`;
const ALLOWED = {
  decision: {
    action: 'ALLOW',
    rule_id: null,
    severity: 'info',
    reason_code: 'DEFAULT_ALLOW',
    summary: '',
  },
  trace: [],
  risk_class: [],
} as const;

async function session(enforces: Enforcement = ENFORCED, hubCounts = true) {
  const manifest = await manifestOf(YAML);
  const guard = createGuard(optionsOf({ server: 'files', manifest, hubCounts, enforces }));
  const { session: played, sendInShort } = await play([], { config: { guard, hub: true } });
  const asked = (message: unknown) =>
    played.questions(readOnce(played, 'agent', lineOf(message)), 0);
  const answered = (message: unknown, limit: NonNullable<HubAnswer['outcome']>['limit']) => {
    const line = lineOf(message);
    const [question] = played.questions(readOnce(played, 'agent', line), 0);
    const answer = { callId: question?.ref.call_id ?? '', outcome: { ...ALLOWED, limit } };
    return played.handle(readOnce(played, 'agent', line), 0, { answers: [answer] });
  };
  return { asked, answered, sendInShort };
}

describe('a call of a tool with a limit', () => {
  it('is counted by the hub, and others are not', async () => {
    const { asked } = await session();
    expect(asked(call(1, 'search'))[0]?.limits).toEqual([
      { key: 'tool search', calls: 1, periodMs: 60_000, cooldownMs: undefined },
    ]);
    expect(asked(call(2, 'read'))).toEqual([]);
  });

  it('that is refused anyway is not counted', async () => {
    const { asked } = await session();
    expect(asked(call(1, 'gone'))[0]?.limits).toEqual([]);
    expect(asked(call(2, 'search', { m: { bcc: 'x' } }))[0]?.limits).toEqual([]);
  });

  it('passes or waits as the hub decides, whatever was counted here', async () => {
    const { answered } = await session();
    const decisions = (commands: ReturnType<typeof answered>) =>
      commands.flatMap((command) =>
        command.do === 'emit' && command.type === 'tool_call_decision'
          ? [command.body.decision]
          : [],
      );
    const wait = { kind: 'rate', waitMs: 7_000, words: '1 call in 1 minute' } as const;
    expect(decisions(answered(call(1, 'search'), wait))).toMatchObject([
      { action: 'THROTTLE', explain: { reason_code: 'RATE_LIMITED' }, backoff_ms: 7_000 },
    ]);
    for (const id of [2, 3]) {
      const [decision] = decisions(answered(call(id, 'search'), { kind: 'counted' }));
      expect(decision?.action).toBe('ALLOW');
    }
  });

  it('does not pass when the hub cannot be asked', async () => {
    const { sendInShort } = await session();
    expect(sendInShort('agent', call(1, 'search'))).toContain('decision BLOCK HUB_UNAVAILABLE');
  });

  it('is counted here where there is no hub, or nothing is enforced', async () => {
    for (const [enforces, hubCounts] of [
      [OBSERVED, true],
      [ENFORCED, false],
    ] as const) {
      const { asked, sendInShort } = await session(enforces, hubCounts);
      expect(asked(call(1, 'search'))).toEqual([]);
      expect(sendInShort('agent', call(2, 'search'))).toContain('forward to server');
    }
  });
});
