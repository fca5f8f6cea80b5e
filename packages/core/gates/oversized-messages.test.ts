import type { ContentSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { OtherMessage, Way } from '../session/guard.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { EMPTY_PINS } from '../surface/index.ts';
import {
  answer,
  arrived,
  ENFORCED,
  OBSERVED,
  optionsOf,
  result,
  textResult,
} from './guard.test-support.ts';
import { createGuard } from './guard.ts';

const PINS = { mode: 'on', opened: { ok: true, store: EMPTY_PINS } } as const;
const MANIFEST = await manifestOf('server: mail\ndefault: auto_execute\n');
const SMALL = await manifestOf(
  'server: mail\ndefault: auto_execute\nanswers: { max_size_bytes: 200, on_excess: truncate }\n',
);
const content = (unscanned: NonNullable<ContentSection['unscanned']>): ContentSection => ({
  unscanned,
});

type Row = readonly [Way, OtherMessage['kind'], string, string];

describe('a message that cannot be inspected', () => {
  it.each<readonly [string, Partial<Parameters<typeof optionsOf>[0]>, readonly Row[]]>([
    [
      'a manifest',
      { manifest: MANIFEST },
      [
        ['in', 'answer', 'tools/list', 'refused'],
        ['in', 'answer', 'prompts/list', 'refused'],
        ['in', 'answer', 'initialize', 'same'],
        ['in', 'answer', '', 'refused'],
        ['out', 'request', 'resources/read', 'refused'],
        ['out', 'notification', 'resources/read', 'refused'],
        ['out', 'request', 'subscriptions/listen', 'refused'],
        ['out', 'request', 'admin/run', 'refused'],
        ['out', 'request', 'tools/list', 'same'],
        ['in', 'notification', 'notifications/message', 'same'],
      ],
    ],
    [
      'pins',
      { pins: PINS },
      [
        ['in', 'answer', 'tools/list', 'refused'],
        ['in', 'answer', 'initialize', 'refused'],
        ['in', 'answer', 'server/discover', 'refused'],
        ['in', 'answer', 'prompts/list', 'same'],
        ['in', 'answer', 'tools/call', 'same'],
      ],
    ],
    [
      'content that must be scanned',
      { content: content('block') },
      [
        ['in', 'answer', 'tools/call', 'refused'],
        ['in', 'answer', 'tools/list', 'refused'],
        ['in', 'request', 'sampling/createMessage', 'refused'],
        ['out', 'answer', 'elicitation/create', 'refused'],
        ['out', 'notification', 'notifications/cancelled', 'refused'],
        ['in', 'answer', 'tasks/get', 'refused'],
        ['in', 'notification', 'notifications/any', 'refused'],
      ],
    ],
    [
      'content that may pass',
      { content: content('tag') },
      [
        ['in', 'answer', 'tools/call', 'same'],
        ['in', 'answer', 'resources/templates/list', 'refused'],
      ],
    ],
    [
      'nothing that is enforced',
      { manifest: MANIFEST, pins: PINS, content: content('block'), enforces: OBSERVED },
      [
        ['in', 'answer', 'tools/list', 'same'],
        ['in', 'answer', 'tools/call', 'same'],
        ['out', 'request', 'prompts/get', 'same'],
      ],
    ],
  ])('under %s', (_name, options, rows) => {
    const guard = createGuard(optionsOf(options));
    for (const [way, kind, method, expected] of rows) {
      expect([method, guard.unseen(way, kind, method).kind]).toEqual([method, expected]);
    }
  });

  it('may be too deep as well', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level++) deep = { a: deep };
    const guard = createGuard(optionsOf({ manifest: MANIFEST, content: content('block') }));
    expect(guard.passing('in', result('t', deep), 0).kind).toBe('refused');
    expect(guard.passing('in', answer('tools/list', { tools: [deep] }), 0).kind).toBe('refused');
    const call = { callId: 'c', tool: 't', args: { a: deep }, isApproved: () => false } as never;
    expect(guard.content(call, 0).kind).toBe('stop');
  });
});

describe('an answer to no open request', () => {
  const stray = answer('', { tools: [{ name: 'a' }] });

  it('is refused where answers are guarded, since a client may know the id', () => {
    for (const options of [{ manifest: MANIFEST }, { pins: PINS }, { content: content('tag') }]) {
      const guard = createGuard(optionsOf(options));
      expect(guard.wants('in', 'answer', '')).toBe(true);
      expect(guard.passing('in', stray, 0)).toMatchObject({
        kind: 'refused',
        reason_code: 'ANSWER_REFUSED',
      });
    }
    const observed = createGuard(optionsOf({ pins: PINS, enforces: OBSERVED }));
    expect(observed.passing('in', stray, 0)).toEqual({ kind: 'same' });
  });
});

describe('the size that a manifest allows', () => {
  const long = textResult('ä\n'.repeat(500));

  it('cuts the texts of an answer until it fits', () => {
    const guard = createGuard(optionsOf({ manifest: SMALL }));
    expect(guard.wants('in', 'answer', 'tools/call')).toBe(true);
    const message = result('t', long);
    const shown = JSON.stringify(arrived(message, guard.passing('in', message, 0)));
    expect(new TextEncoder().encode(shown).length).toBeLessThanOrEqual(200);
    expect(shown).toContain('TRUNCATED');
    expect(guard.passing('in', result('t', textResult('short')), 0)).toEqual({ kind: 'same' });
  });

  it('refuses an answer that cannot be cut', () => {
    const guard = createGuard(optionsOf({ manifest: SMALL }));
    const message = result('t', { structuredContent: { a: 'x'.repeat(500) } });
    const passage = guard.passing('in', message, 0);
    expect(passage).toMatchObject({ kind: 'refused', reason_code: 'RESULT_TOO_LARGE' });
    expect(JSON.stringify(passage)).toContain('Ask for less');
    expect(guard.unseen('in', 'answer', 'tools/call')).toMatchObject({ kind: 'refused' });
  });

  it('is only noted where the manifest is not enforced', () => {
    const enforces = { ...ENFORCED, surface: false };
    const guard = createGuard(optionsOf({ manifest: SMALL, enforces }));
    expect(guard.passing('in', result('t', long), 0)).toEqual({
      kind: 'same',
      note: { action: 'tag', findings: ['size:too_large'] },
    });
  });
});
