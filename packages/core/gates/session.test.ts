// The guard in a session: what leaves it, line by line.
import { describe, expect, it } from 'vitest';
import { join, mixed } from '../../../test/corpora/parts.ts';
import {
  call,
  eventsOf,
  initialize,
  play,
  request,
  result,
} from '../session/playbook.test-support.ts';
import type { Command } from '../session/types.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { EMPTY_PINS } from '../surface/index.ts';
import { optionsOf } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import { createLeakFinder } from './leak-finder.ts';

const TOKEN = join('gh', 'p_', mixed(36));
const VALUE = 'tk-9fX2qLm8Zr4Wv7Bd1Kp6';

async function guarded() {
  const guard = createGuard(
    optionsOf({
      server: 'files',
      manifest: await manifestOf(
        'server: files\nallowed_tools: [{ name: read }, { name: post }, { name: gone, allowed: false }]\n',
      ),
      pins: { mode: 'on', opened: { ok: true, store: EMPTY_PINS } },
      content: { external_content: 'off', outbound: { secret: 'redact', personal: 'block' } },
      leaks: createLeakFinder([{ name: 'files-token', value: VALUE }]),
    }),
  );
  return play([], { config: { guard } });
}

/** The lines that go on, where they were changed. */
const lines = (commands: readonly Command[]) =>
  commands.flatMap((command) =>
    command.do === 'forward' && command.bytes !== undefined
      ? [Buffer.from(command.bytes).toString()]
      : [],
  );

describe('a secret of digits', () => {
  const PIN = '73190246581937264058';
  const NUMBERS = [
    PIN,
    `-${PIN}`,
    `999${PIN}`,
    `0.${PIN}`,
    `5.000000000000000000${PIN}`,
    `${PIN}e2`,
  ];
  const digits = () => {
    const leaks = createLeakFinder([{ name: 'pin', value: PIN }]);
    return play([], { config: { guard: createGuard(optionsOf({ server: 'files', leaks })) } });
  };

  it.each(NUMBERS)('is not sent as the number %s, wherever it stands', async (number) => {
    const { sendInShort } = await digits();
    const params = (text: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${text}}`;
    for (const text of [
      `{"name":"post","arguments":{"a":["say \\"1\\"",{"n":${number}}]}}`,
      `{"name":"post","arguments":{},"inputResponses":{"k":{"content":{"n":${number}}}}}`,
      `{"name":"post","arguments":{},"_meta":{"n":${number}}}`,
    ]) {
      expect(sendInShort('agent', params(text))).toContain('decision BLOCK LEAK_BLOCKED');
    }
    const extra = `{"jsonrpc":"2.0","id":2,"method":"ping","odd":${number}}`;
    expect(sendInShort('agent', extra)).not.toContain('forward to server');
    const other = `{"jsonrpc":"2.0","id":3,"method":"x/y","params":{"n":${number}}}`;
    expect(sendInShort('agent', other)).not.toContain('forward to server');
  });

  it.each(NUMBERS)('does not arrive as the number %s', async (number) => {
    const { send } = await digits();
    send('agent', call(1, 'read'));
    const structured = `{"content":[],"structuredContent":{"text":"${PIN}","n":${number}}}`;
    const commands = send('server', `{"jsonrpc":"2.0","id":1,"result":${structured}}`);
    expect(commands.map((command) => command.do)).not.toContain('forward');
    send('agent', call(2, 'read'));
    const fine = `{"jsonrpc":"2.0","id":2,"result":{"content":[],"n":12345678901234567890}}`;
    expect(send('server', fine).map((command) => command.do)).toContain('forward');
  });
});

describe('a session with the guard', () => {
  it('shows the tools of the manifest, and records the hidden ones', async () => {
    const { send } = await guarded();
    for (const [index, said] of initialize('2025-06-18').entries()) {
      expect(send(index === 0 ? 'agent' : 'server', said).map((command) => command.do)).toContain(
        'forward',
      );
    }
    send('agent', request(1, 'tools/list'));
    const read = { name: 'read', inputSchema: { type: 'object' } };
    const commands = send('server', result(1, { tools: [read, { name: 'gone' }] }));
    expect(lines(commands)).toEqual([
      `{"jsonrpc":"2.0","id":1,"result":{"tools":[${JSON.stringify(read)}]}}\n`,
    ]);
    const told = eventsOf(commands, 'surface').map(({ surface }) => [surface.what, surface.name]);
    expect(told).toContainEqual(['tool_hidden', 'gone']);
  });

  it('refuses, redacts and blocks calls by their content', async () => {
    const { send, sendInShort } = await guarded();
    expect(sendInShort('agent', call(1, 'gone'))).toContain('decision BLOCK TOOL_FORBIDDEN');
    expect(sendInShort('agent', call(2, 'post', { card: '4111 1111 1111 1111' }))).toContain(
      'decision BLOCK CONTENT_BLOCKED',
    );
    expect(sendInShort('agent', call(3, 'post', { text: VALUE }))).toContain(
      'decision BLOCK LEAK_BLOCKED',
    );
    const sent = send('agent', call(4, 'post', { text: `key ${TOKEN}` }));
    expect(lines(sent).join('')).toContain('"arguments":{"text":"key [redacted:github-token]"}');
    expect(eventsOf(sent, 'tool_call_decision')[0]?.call).toMatchObject({
      content: { action: 'redact', findings: ['secret:github-token'] },
    });
  });

  it('takes secrets out of answers, and hands none on to nothing that is open', async () => {
    const { send } = await guarded();
    send('agent', call(1, 'read'));
    const text = `a ${VALUE} b`;
    const answered = send('server', result(1, { content: [{ type: 'text', text }] }));
    expect(lines(answered).join('')).toContain('a [REDACTED:injected-secret] b');
    send('agent', call(2, 'read'));
    const stray = send('server', result('2', { content: [{ type: 'text', text: 'hi' }] }));
    expect(stray.map((command) => command.do)).not.toContain('forward');
  });
});
