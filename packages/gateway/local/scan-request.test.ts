import { createHash } from 'node:crypto';
import { fullContent, isFailure } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { coreWires } from '../turns/index.ts';
import { RequestScanner } from './scan-request.ts';

const SECRET = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const fingerprint = (text: string) => createHash('sha256').update(text).digest('hex');
const MODEL = 'claude-sonnet-4-6';
const FAR = '2999-01-01T00:00:00Z';

function scanned(
  suppressed: { server?: string; tool?: string; expires?: string; value?: string },
  content: unknown = `Use ${SECRET} there.`,
) {
  const { server = 'anthropic', tool = MODEL, expires = FAR, value = SECRET } = suppressed;
  const entry = {
    rule: 'github-token',
    server,
    tool,
    fingerprint: fingerprint(value),
    expires,
  };
  const section = fullContent({ outbound: { secret: 'redact' }, suppressions: [entry] });
  const scanner = new RequestScanner({ section, isEnforced: true, fingerprint });
  const body = Buffer.from(
    JSON.stringify({ model: MODEL, max_tokens: 1, messages: [{ role: 'user', content }] }),
  );
  const outline = coreWires.outline('anthropic_messages', body);
  if (isFailure(outline)) throw new Error(outline.message);
  const first = scanner.scan(body, outline, 'anthropic');
  // What was looked through before is known, and comes out the same.
  expect(scanner.scan(body, outline, 'anthropic')).toEqual(first);
  return { sent: first.body.toString(), content: first.content };
}

describe('a suppression for a turn', () => {
  it('silences one value on one model of one provider', () => {
    const { sent, content } = scanned({});
    expect(sent).toContain(SECRET);
    expect(content).toBeUndefined();
  });

  it.each([
    ['another model', { tool: 'claude-opus-4-6' }],
    ['another provider', { server: 'openai' }],
    ['another value', { value: SECRET.toUpperCase() }],
    ['the time before', { expires: '2020-01-01T00:00:00Z' }],
  ])('for %s silences nothing', (_what, suppressed) => {
    const { sent, content } = scanned(suppressed);
    expect(sent).not.toContain(SECRET);
    expect(sent).toContain('[REDACTED-GITHUB-TOKEN-');
    expect(content).toEqual({ action: 'redact', findings: ['secret:github-token'] });
  });
});
