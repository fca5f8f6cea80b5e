import { describe, expect, test } from 'vitest';
import { LegacyAgentNegotiation, ModernAgentNegotiation } from './negotiation.ts';
import {
  ask,
  bad,
  bridgeConfig,
  DISCOVERED,
  INITIALIZE,
  LEGACY_RESULT,
  messageOf,
  modernMeta,
  ok,
  plain,
  playWith,
  say,
} from './testing/bridge-play.ts';

function modern(first: object) {
  const negotiation = new ModernAgentNegotiation(
    bridgeConfig({ discoverMs: 100 }),
    messageOf(first),
  );
  const play = playWith(negotiation);
  const begun = play.run(negotiation.start(0));
  return { negotiation, play, begun };
}

describe('a server before a modern agent', () => {
  test('is modern when it answers the agent’s own `server/discover`; nothing is changed', () => {
    const { negotiation, play, begun } = modern(ask(1, 'server/discover'));
    expect(begun).toEqual([{ to: 'server', message: ask(1, 'server/discover') }]);
    play.agent(ask(2, 'tools/list'));
    expect(play.server(ok(1, DISCOVERED))).toEqual([
      { to: 'agent', message: ok(1, DISCOVERED) },
      { to: 'server', message: ask(2, 'tools/list') },
    ]);
    expect(negotiation.verdict).toEqual({ kind: 'same' });
  });

  test('is asked by the bridge when the agent does not ask', () => {
    const { negotiation, play, begun } = modern(ask(1, 'tools/list'));
    expect(begun).toMatchObject([{ message: { id: 't1', method: 'server/discover' } }]);
    expect(play.server(ok('t1', DISCOVERED))).toEqual([
      { to: 'server', message: ask(1, 'tools/list') },
    ]);
    expect(negotiation.verdict).toEqual({ kind: 'same' });
  });

  test.each([-32020, -32021, -32022])('is modern when it answers with the error %i', (code) => {
    const { negotiation, play } = modern(ask(1, 'server/discover'));
    expect(play.server(bad(1, code))).toEqual([{ to: 'agent', message: bad(1, code) }]);
    expect(negotiation.verdict).toEqual({ kind: 'same' });
  });

  test.each([
    ['-32601', bad(1, -32601)],
    ['-32602', bad(1, -32602)],
    ['-32000', bad(1, -32000)],
    ['a result without versions', ok(1, {})],
  ])('is legacy when it answers with %s', (_, answer) => {
    const { negotiation, play } = modern(ask(1, 'server/discover'));
    expect(play.server(answer)).toMatchObject([
      { to: 'server', message: { method: 'initialize' } },
    ]);
    expect(negotiation.verdict).toMatchObject({ kind: 'bridge' });
  });

  test('is left to a client that speaks both eras, which begins again by itself', () => {
    const clientInfo = { name: 'claude-code', version: '2' };
    const meta = { ...modernMeta(), 'io.modelcontextprotocol/clientInfo': clientInfo };
    const { negotiation, play } = modern(ask('probe', 'server/discover', {}, meta));
    expect(play.server(bad('probe', -32601))).toEqual([
      { to: 'agent', message: bad('probe', -32601) },
    ]);
    expect(negotiation.verdict).toEqual({ kind: 'open' });
  });

  test('gets the handshake of an agent that did not wait for its answer', () => {
    const { negotiation, play } = modern(ask(1, 'server/discover'));
    expect(play.agent(INITIALIZE)).toEqual([{ to: 'server', message: INITIALIZE }]);
    expect(negotiation.verdict).toEqual({ kind: 'same' });
  });

  test('is asked again after a login, and until then each request gets the error', () => {
    const { negotiation, play } = modern(ask(1, 'tools/list'));
    play.agent(ask(2, 'prompts/list'));
    const error = { code: -32603, message: 'Log in.', data: { http_status: 401 } };
    expect(play.server({ jsonrpc: '2.0', id: 't1', error })).toEqual([
      { to: 'agent', message: { jsonrpc: '2.0', id: 1, error } },
      { to: 'agent', message: { jsonrpc: '2.0', id: 2, error } },
    ]);
    expect(negotiation.verdict).toEqual({ kind: 'open' });
  });

  test('is legacy when it is silent and takes the handshake', () => {
    const { negotiation, play } = modern(ask(1, 'server/discover'));
    expect(play.tick(99)).toEqual([]);
    expect(play.tick(100)).toMatchObject([{ message: { id: 't1-1', method: 'initialize' } }]);
    expect(negotiation.verdict).toBeUndefined();
    expect(play.server(ok('t1-1', LEGACY_RESULT)).at(-1)).toMatchObject({
      to: 'agent',
      message: { id: 1, result: { supportedVersions: ['2026-07-28'] } },
    });
    expect(negotiation.verdict).toMatchObject({ kind: 'bridge' });
  });

  test('is modern when it was only slow', () => {
    const { negotiation, play } = modern(ask(1, 'server/discover'));
    play.tick(100);
    expect(play.server(ok(1, DISCOVERED))).toEqual([{ to: 'agent', message: ok(1, DISCOVERED) }]);
    expect(negotiation.verdict).toEqual({ kind: 'same' });
  });

  test.each([{ queuedMax: 1 }, { heldCharsMax: 400 }])(
    'is not flooded while it says nothing (%j)',
    (limits) => {
      const config = bridgeConfig(limits);
      const negotiation = new ModernAgentNegotiation(config, messageOf(ask(1, 'server/discover')));
      negotiation.start(0);
      const play = playWith(negotiation);
      expect(play.agent(ask(2, 'tools/list'))).toMatchObject([
        { to: 'agent', message: { id: 2, error: { code: -32603 } } },
      ]);
      expect(play.notes).toHaveLength(1);
    },
  );
});

describe('a server that refused a legacy agent', () => {
  const refusal = bad(0, -32022, { data: { supported: ['2026-07-28'] } });

  function legacy() {
    const config = bridgeConfig({ discoverMs: 100 });
    const negotiation = new LegacyAgentNegotiation(
      config,
      messageOf(INITIALIZE),
      messageOf(refusal),
    );
    negotiation.start(0);
    return { negotiation, play: playWith(negotiation) };
  }

  test('is modern when it says so, and the agent gets its handshake', () => {
    const { negotiation, play } = legacy();
    play.agent(plain(9, 'ping'));
    expect(play.server(ok('t1', DISCOVERED))).toMatchObject([
      { to: 'agent', message: { id: 0, result: { protocolVersion: '2025-11-25' } } },
      { to: 'agent', message: ok(9) },
    ]);
    expect(negotiation.verdict).toMatchObject({ kind: 'bridge' });
  });

  test.each([
    ['an error', bad('t1', -32601)],
    ['another result', ok('t1', {})],
  ])('is legacy when it answers with %s: the agent gets the refusal', (_, answer) => {
    const { negotiation, play } = legacy();
    expect(play.server(answer)).toEqual([{ to: 'agent', message: refusal }]);
    expect(negotiation.verdict).toEqual({ kind: 'open' });
  });

  test('is modern when its refusal is of that era: the agent learns what else keeps it out', () => {
    const { negotiation, play } = legacy();
    const error = { code: -32603, message: 'Log in.', data: { http_status: 401 } };
    expect(play.server({ jsonrpc: '2.0', id: 't1', error })).toEqual([
      { to: 'agent', message: { jsonrpc: '2.0', id: 0, error } },
    ]);
    expect(negotiation.verdict).toEqual({ kind: 'open' });
  });

  test('is legacy when it is silent', () => {
    const { negotiation, play } = legacy();
    expect(play.tick(100)).toEqual([{ to: 'agent', message: refusal }]);
    expect(negotiation.verdict).toEqual({ kind: 'open' });
  });

  test('is refused when it speaks only newer revisions', () => {
    const { play } = legacy();
    const supportedVersions = ['2030-01-01'];
    expect(play.server(ok('t1', { ...DISCOVERED, supportedVersions }))).toMatchObject([
      { to: 'agent', message: { id: 0, error: { code: -32603, data: supportedVersions } } },
    ]);
  });

  test('may go on to send other messages', () => {
    const { play } = legacy();
    const message = say('notifications/message', { level: 'info', data: 1 });
    expect(play.server(message)).toEqual([{ to: 'agent', message }]);
  });
});
