import { describe, expect, it } from 'vitest';
import { deny } from '../policy/testing/scenario.ts';
import { guardOf } from './guard.test-support.ts';
import { initialize, inShort, play, readHeadOnce } from './playbook.test-support.ts';

const LOOK_ALIKES = [
  'tools∕call',
  'tools⁄call',
  'tools／call',
  'tools⧸call',
  'tools╱call',
  'tools⟋call',
  'toolsノcall',
  'tools\\call',
  'tools＼call',
  'tools%2fcall',
  'tools%2Fcall',
  'tools%252fcall',
  '%74ools/call',
  'tools％2fcall',
  'Tools/Call',
  'TOOLS/CALL',
  'tools/caLL',
  'ｔｏｏｌｓ/ｃａｌｌ',
  '𝐭𝐨𝐨𝐥𝐬/call',
  'tооls/call',
  'toolѕ/call',
  ' tools/call',
  'tools/call ',
  'tools / call',
  'tools\u00a0/call',
  'tools\u200b/call',
  'tools/call\u2060',
  'tools/call/',
  '/tools/call',
  'tools//call',
  './tools/call',
  'tools/call?x=1',
  'tools/call#x',
  'tools/call;v=1',
  'tools.call',
  'tools:call',
  'tools_call',
  'toolscall',
  'Prompts/Get',
  'resources%2fread',
  'Resources∕Templates/list',
  'tools/List',
  'Initialize',
  'notifications/Cancelled',
  'completion/Complete',
  'tasks/Result',
];

const line = (method: string, id?: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    params: { name: 'rm', arguments: {} },
  });

describe('a method that only looks like one of the protocol', () => {
  it.each(LOOK_ALIKES)('%j does not pass, with gates or without', async (method) => {
    for (const config of [{}, { guard: guardOf() }]) {
      const { sendInShort } = await play([deny('all')], { config });
      const refused = sendInShort('agent', line(method, 1));
      expect(refused).toContain('report REJECTED method');
      expect(refused).toContain('answer 1 -32600');
      expect(refused.join()).not.toContain('forward');
      expect(sendInShort('agent', line(method)).join()).not.toContain('forward');
    }
  });

  it.each(['tools\u0000/call', 'tools/call\n', '\u007ftools/call'])(
    '%j does not pass either',
    async (method) => {
      const { sendInShort } = await play();
      expect(sendInShort('agent', line(method, 1)).join()).not.toContain('forward');
    },
  );

  it.each([
    'Sampling/createMessage',
    'sampling∕createMessage',
    'elicitation%2fcreate',
    'Roots/List',
    'notifications/Message',
    'notifications/tools/list_Changed',
  ])('%j of a server does not pass', async (method) => {
    const { sendInShort } = await play();
    expect(sendInShort('server', line(method, 1)).join()).not.toContain('forward');
    expect(sendInShort('server', line(method)).join()).not.toContain('forward');
  });

  it('is on record as a call that was refused', async () => {
    const { sendInShort } = await play();
    expect(sendInShort('agent', line('Tools/Call', 1))).toContain('start (unreadable)');
  });

  it('does not pass in a batch', async () => {
    const { sendInShort } = await play();
    for (const [at, message] of initialize('2025-03-26').entries()) {
      sendInShort(at === 0 ? 'agent' : 'server', message);
    }
    const batch = `[${line('Tools/Call', 1)},${line('ping', 2)}]`;
    expect(sendInShort('agent', batch)).toContain('report REJECTED method');
  });

  it('does not pass in a message that is too large to inspect', async () => {
    const { session } = await play();
    const head = Buffer.from(
      '{"jsonrpc":"2.0","id":1,"method":"tools∕call","params":{"name":"rm","arguments":{"a":"',
    );
    expect(inShort(session.handle(readHeadOnce(session, 'agent', head), 0))).toEqual(['swallow']);
  });

  it('passes in development, which reports what production would do', async () => {
    const { sendInShort } = await play([], { profile: 'development' });
    expect(sendInShort('agent', line('Tools/Call', 1))).toContain('report WOULD_REJECT method');
  });
});

describe('a method that the protocol does not have', () => {
  it.each([
    'ping',
    'tools/list',
    'tasks/update',
    'server/discover',
    'subscriptions/listen',
    'admin/run',
    'x/tools/call',
    'tools/called',
    'tools/call2',
    'vendor/ツール',
    '工具/调用',
    '100%/done',
    '%',
  ])('%j passes', async (method) => {
    const { sendInShort } = await play();
    expect(sendInShort('agent', line(method, 1))).toEqual(['forward to server']);
  });
});
