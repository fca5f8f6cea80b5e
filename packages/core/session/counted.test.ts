import { expect, it } from 'vitest';
import { deny } from '../policy/testing/scenario.ts';
import { bytesOf, call, play, readHeadOnce, request, result } from './playbook.test-support.ts';
import type { SessionConfig } from './types.ts';

const noWrite = deny('no-write', { tool_name: { glob: ['write*'] } });

function counting() {
  const heard: string[] = [];
  const counted: SessionConfig['counted'] = (from, method) => {
    heard.push(`${from} ${method}`);
  };
  return { heard, counted };
}

function deciding() {
  const heard: string[] = [];
  const decided: SessionConfig['decided'] = (ref, decision, messageId) => {
    heard.push(`${ref.tool_name} ${decision.action} ${messageId}`);
  };
  return { heard, decided };
}

it('each message is counted once, by its method or by its kind', async () => {
  const { heard, counted } = counting();
  const { send } = await play([], { config: { counted } });
  send('agent', request(1, 'initialize'));
  send('server', result(1));
  send('agent', { jsonrpc: '2.0', method: 'notifications/initialized' });
  send('agent', call(2, 'read'));
  send('server', request(1, 'roots/list'));
  send('agent', '{"broken');
  send('server', '[]');
  expect(heard).toEqual([
    'agent initialize',
    'server response',
    'agent notifications/initialized',
    'agent tools/call',
    'server roots/list',
    'agent invalid',
    'server batch',
  ]);
});

it('a message that is too large to inspect is counted by its head', async () => {
  const { heard, counted } = counting();
  const { session } = await play([], { config: { counted } });
  const heads = [
    ['agent', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"'],
    ['server', '{"jsonrpc":"2.0","id":1,"result":{"content":['],
    ['agent', '[{"jsonrpc":"2.0"'],
    ['server', '{"jsonrpc":"2.0","id":1,"'],
  ] as const;
  for (const [from, head] of heads) {
    session.handle(readHeadOnce(session, from, bytesOf(head)), 0);
    session.largeEnd(from, { bytesTotal: 9, streamHash: 'a', outcome: 'cut' }, 0);
  }
  const expected = ['agent tools/call', 'server response', 'agent batch', 'server other'];
  expect(heard).toEqual(expected);
});

it('the decision hook gets each decision with the id of its request', async () => {
  const { heard, decided } = deciding();
  const { send } = await play([noWrite], { config: { decided } });
  send('agent', call(1, 'read'));
  send('agent', call('a"b', 'write'));
  send('agent', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'read' } });
  expect(heard).toEqual(['read ALLOW 1', 'write BLOCK "a\\"b"', 'read ALLOW undefined']);
});

it('a message that may have been a call is a decision without a request', async () => {
  const { heard, decided } = deciding();
  const { send } = await play([], { config: { decided } });
  send('agent', '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"read"}}');
  expect(heard).toEqual(['(unreadable) BLOCK undefined']);
});
