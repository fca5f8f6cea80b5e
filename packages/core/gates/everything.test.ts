// With a content section, all that passes is looked through: no method is a way round it.
import type { ContentSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { OtherMessage, Way } from '../session/guard.ts';
import { ENFORCED, optionsOf } from './guard.test-support.ts';
import { createGuard } from './guard.ts';

const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const CONTENT: ContentSection = {
  outbound: { secret: 'block' },
  inbound: { secret: 'block', injection: 'block' },
};
const guard = createGuard(optionsOf({ content: CONTENT }));

type Row = readonly [Way, OtherMessage['kind'], string];
const ROWS: readonly Row[] = [
  ...[
    'tasks/get',
    'tasks/list',
    'tasks/cancel',
    'completion/complete',
    'server/discover',
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'x/y',
  ].map((method) => ['in', 'answer', method] as const),
  ...['roots/list', 'sampling/createMessage', 'elicitation/create', 'ping', 'x/y'].flatMap(
    (method) => [['in', 'request', method] as const, ['out', 'answer', method] as const],
  ),
  ...[
    'notifications/message',
    'notifications/progress',
    'notifications/tasks/status',
    'notifications/cancelled',
    'notifications/resources/updated',
    'notifications/claude/channel',
  ].flatMap((method) => [
    ['in', 'notification', method] as const,
    ['out', 'notification', method] as const,
  ]),
  ...['tasks/list', 'logging/setLevel', 'tools/list', 'x/y'].map(
    (method) => ['out', 'request', method] as const,
  ),
];

describe('content', () => {
  it.each(ROWS)('%s, a %s of %s, is looked through', (way, kind, method) => {
    expect(guard.wants(way, kind, method)).toBe(true);
    const message = (value: unknown) => ({ kind, method, value, isError: false });
    const held = guard.passing(way, message({ a: { b: [`the key ${TOKEN}`] } }), 0);
    expect(held).toMatchObject({ kind: 'refused', reason_code: 'CONTENT_BLOCKED' });
    expect(JSON.stringify(held)).not.toContain(TOKEN);
    expect(guard.passing(way, message({ a: 'fine' }), 0)).toEqual({ kind: 'same' });
  });

  it('beside the entries of a list is looked through', () => {
    const value = { tools: [{ name: 'a', inputSchema: {} }], _meta: { note: TOKEN } };
    const message = { kind: 'answer', method: 'tools/list', value, isError: false } as const;
    expect(guard.passing('in', message, 0)).toMatchObject({ kind: 'refused' });
    const mild = createGuard(optionsOf({ content: {} }));
    expect(mild.passing('in', message, 0)).toMatchObject({
      kind: 'changed',
      value: { tools: value.tools, _meta: { note: '[redacted:github-token]' } },
    });
  });

  it('in an error of any method is looked through', () => {
    for (const method of ['ping', 'tasks/get', 'initialize', 'tools/list']) {
      const value = { code: 1, message: TOKEN };
      const message = { kind: 'answer', method, value, isError: true } as const;
      expect(guard.passing('in', message, 0)).toMatchObject({ kind: 'refused' });
    }
  });

  it('lets the members that the protocol itself fills pass', () => {
    const strict = createGuard(
      optionsOf({
        content: { outbound: { secret: 'block', personal: 'block', hidden_text: 'block' } },
        enforces: ENFORCED,
      }),
    );
    const meta = {
      progressToken: '0d5f1c7e-3c9a-4a52-9f44-0a5b8f6f6f10',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2.1.0' },
    };
    const value = { _meta: meta, cursor: 'eyJvZmZzZXQiOjUwfQ==', taskId: meta.progressToken };
    const message = { kind: 'request', method: 'tools/list', value, isError: false } as const;
    expect(strict.passing('out', message, 0)).toEqual({ kind: 'same' });
    const gone = { requestId: meta.progressToken, reason: 'the user has stopped it' };
    const cancelled = { ...message, kind: 'notification', value: gone } as const;
    expect(strict.passing('out', cancelled, 0)).toEqual({ kind: 'same' });
  });
});
