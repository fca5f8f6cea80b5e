import { describe, expect, test } from 'vitest';
import {
  ask,
  type BridgePlay,
  bad,
  modernAgent,
  modernMeta,
  ok,
  plain,
  SERVER_INFO,
  say,
  whole,
} from '../testing/bridge-play.ts';

const META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };
const CALL = { name: 'x', arguments: { a: 1 } };
const FORM = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
const SAMPLE = { messages: [], maxTokens: 5 };
const sampling = (id: unknown) => plain(id, 'sampling/createMessage', SAMPLE);
const input = { 'input-1': { action: 'accept', content: { name: 'n' } } };

/** A call whose server has asked for a form. */
function suspended(limits = {}): BridgePlay {
  const play = modernAgent(limits);
  play.agent(ask(1, 'tools/call', CALL));
  play.server(plain(40, 'elicitation/create', FORM));
  return play;
}

const retry = (id: unknown, more: object = {}) =>
  ask(id, 'tools/call', { ...CALL, inputResponses: input, requestState: 't2', ...more });

describe('a legacy server that asks for input', () => {
  test('the call ends with `input_required`, and its next round answers the server', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL));
    expect(play.server(plain(40, 'elicitation/create', { ...FORM, task: {} }))).toEqual([
      {
        to: 'agent',
        about: '1',
        message: ok(1, {
          resultType: 'input_required',
          inputRequests: { 'input-1': { method: 'elicitation/create', params: FORM } },
          requestState: 't2',
          _meta: META,
        }),
      },
    ]);
    expect(play.agent(retry(2))).toEqual([{ to: 'server', message: ok(40, input['input-1']) }]);
    expect(play.server(ok('t1-2', { content: [] }))).toEqual([
      { to: 'agent', about: '2', message: whole(2, { content: [] }) },
    ]);
  });

  test('requests of one read are asked together, later ones in the next round', () => {
    const play = modernAgent();
    play.agent(ask(1, 'prompts/get', { name: 'p' }));
    expect(play.server([sampling(40), plain(41, 'roots/list')])).toMatchObject([
      {
        message: {
          result: {
            inputRequests: {
              'input-1': { method: 'sampling/createMessage', params: SAMPLE },
              'input-2': { method: 'roots/list' },
            },
          },
        },
      },
    ]);
    expect(play.server(sampling(42))).toEqual([]);
    const inputResponses = { 'input-1': { role: 'assistant' }, 'input-2': { roots: [] } };
    const next = ask(2, 'prompts/get', { name: 'p', inputResponses, requestState: 't2' });
    expect(play.agent(next)).toMatchObject([
      { to: 'server', message: ok(40, { role: 'assistant' }) },
      { to: 'server', message: ok(41, { roots: [] }) },
      { to: 'agent', message: { id: 2, result: { requestState: 't3' } } },
    ]);
  });

  test('input that the agent left out is asked for again', () => {
    const play = suspended();
    expect(play.agent(retry(2, { inputResponses: {} }))).toMatchObject([
      {
        to: 'agent',
        message: {
          id: 2,
          result: { resultType: 'input_required', inputRequests: { 'input-1': { params: FORM } } },
        },
      },
    ]);
  });

  test.each([
    [
      'another call',
      ask(2, 'tools/call', { name: 'y', inputResponses: input, requestState: 't2' }),
    ],
    [
      'another method',
      ask(2, 'prompts/get', { ...CALL, inputResponses: input, requestState: 't2' }),
    ],
    ['an unknown state', retry(2, { requestState: 'guess' })],
    ['no state', retry(2, { requestState: undefined })],
  ])('a state serves only its own call: %s', (_, message) => {
    const play = suspended();
    expect(play.agent(message)).toMatchObject([
      { to: 'agent', message: { id: 2, error: { code: -32602 } } },
    ]);
    expect(play.agent(retry(3))).toMatchObject([{ to: 'server', message: { id: 40 } }]);
  });

  test('the same call may be written with its members in another order', () => {
    const play = suspended();
    const again = ask(2, 'tools/call', {
      requestState: 't2',
      inputResponses: input,
      arguments: { a: 1 },
      name: 'x',
    });
    expect(play.agent(again)).toMatchObject([{ to: 'server', message: { id: 40 } }]);
  });

  test('a state serves once', () => {
    const play = suspended();
    play.agent(retry(2));
    expect(play.agent(retry(3))).toMatchObject([{ message: { id: 3, error: { code: -32602 } } }]);
  });

  test('a state expires: the server gets an answer, and the call is cancelled', () => {
    const play = suspended({ inputMs: 100 });
    expect(play.tick(99)).toEqual([]);
    expect(play.tick(100)).toMatchObject([
      { to: 'server', message: ok(40, { action: 'cancel' }) },
      {
        to: 'server',
        message: { method: 'notifications/cancelled', params: { requestId: 't1-2' } },
      },
    ]);
    expect(play.agent(retry(2))).toMatchObject([{ message: { error: { code: -32602 } } }]);
  });

  test('an answer that came between two rounds is kept for the next', () => {
    const play = suspended();
    expect(play.server(bad('t1-2', -1))).toEqual([]);
    expect(play.agent(retry(2))).toEqual([{ to: 'agent', about: '2', message: bad(2, -1) }]);
  });

  test('progress follows the call into its next round', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL, modernMeta({ progressToken: 1 })));
    play.server(plain(40, 'elicitation/create', FORM));
    const progress = say('notifications/progress', { progressToken: 1, progress: 1 });
    expect(play.server(progress)).toEqual([]);
    const params = { ...CALL, inputResponses: input, requestState: 't2' };
    play.agent(ask(2, 'tools/call', params, modernMeta({ progressToken: 2 })));
    expect(play.server(progress)).toMatchObject([
      { to: 'agent', about: '2', message: { params: { progressToken: 2, progress: 1 } } },
    ]);
  });

  test('a cancel in the next round reaches the server', () => {
    const play = suspended();
    play.agent(retry(2));
    expect(play.agent(say('notifications/cancelled', { requestId: 2 }))).toMatchObject([
      { to: 'server', message: { params: { requestId: 't1-2' } } },
    ]);
  });

  test('what the server withdraws is not asked', () => {
    const play = suspended();
    play.server(sampling(41));
    play.server(say('notifications/cancelled', { requestId: 41 }));
    play.server(say('notifications/cancelled', { requestId: 40 }));
    expect(play.agent(retry(2))).toEqual([]);
  });

  test.each([
    ['sampling/createMessage', {}, -32601],
    ['roots/list', {}, -32601],
    ['elicitation/create', {}, -32601],
    ['elicitation/create', { elicitation: { url: {} } }, -32602],
  ])('%s is refused when the call names the capabilities %j', (method, capabilities, code) => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL, modernMeta({}, capabilities)));
    expect(play.server(plain(40, method, FORM))).toMatchObject([
      { to: 'server', message: { id: 40, error: { code } } },
    ]);
  });

  test('elicitation without modes means forms', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL, modernMeta({}, { elicitation: {} })));
    expect(play.server(plain(40, 'elicitation/create', { ...FORM, mode: 'url' }))).toMatchObject([
      { to: 'server', message: { id: 40, error: { code: -32602 } } },
    ]);
    expect(play.server(plain(41, 'elicitation/create', FORM))).toMatchObject([
      { to: 'agent', message: { result: { resultType: 'input_required' } } },
    ]);
  });

  test('of several calls, the stream says which one asks; without streams it is the newest', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL));
    play.agent(ask(2, 'tools/call', CALL));
    play.agent(ask(3, 'tools/list'));
    expect(play.server(sampling(40), '"t1-2"')).toMatchObject([
      { to: 'agent', message: { id: 1 } },
    ]);
    expect(play.server(sampling(41))).toMatchObject([{ to: 'agent', message: { id: 2 } }]);
  });

  test('outside of a call, it is refused, and roots wait for the next call', () => {
    const play = modernAgent();
    expect(play.server(sampling(40))).toMatchObject([
      { to: 'server', message: { id: 40, error: {} } },
    ]);
    expect(play.server(plain(41, 'roots/list'))).toEqual([]);
    play.agent(ask(1, 'tools/list'));
    expect(play.agent(ask(2, 'tools/call', CALL))).toMatchObject([
      {
        to: 'agent',
        message: { id: 2, result: { inputRequests: { 'input-1': { method: 'roots/list' } } } },
      },
    ]);
    // The server gets what it asked for before the call.
    const inputResponses = { 'input-1': { roots: [] } };
    const next = ask(3, 'tools/call', { ...CALL, inputResponses, requestState: 't2' });
    expect(play.agent(next)).toMatchObject([
      { to: 'server', message: ok(41, { roots: [] }) },
      { to: 'server', message: { id: 't1-3', method: 'tools/call', params: CALL } },
    ]);
    expect(play.server(ok('t1-3', { content: [] }))).toMatchObject([
      { to: 'agent', message: { id: 3 } },
    ]);
  });

  test('a call that waits for roots can be given up before the server knows of it', () => {
    const play = modernAgent({ inputMs: 100 });
    play.server(plain(41, 'roots/list'));
    play.agent(ask(2, 'tools/call', CALL));
    expect(play.tick(100)).toMatchObject([{ to: 'server', message: { id: 41, error: {} } }]);
  });

  test('a call that asks too often, or for too much, is refused', () => {
    const play = modernAgent({ inputsMax: 1, roundsMax: 1 });
    play.agent(ask(1, 'tools/call', CALL));
    expect(play.server([sampling(40), sampling(41)])).toMatchObject([
      { to: 'server', message: { id: 41, error: {} } },
      { to: 'agent', message: { id: 1 } },
    ]);
    play.agent(retry(2));
    expect(play.server(sampling(42))).toMatchObject([
      { to: 'server', message: { id: 42, error: {} } },
    ]);
  });

  test('a server that asks with too many words is refused', () => {
    const play = modernAgent({ heldCharsMax: 1_000 });
    play.agent(ask(1, 'tools/call', CALL));
    const long = { ...SAMPLE, systemPrompt: 'x'.repeat(600) };
    const asks = [40, 41].map((id) => plain(id, 'sampling/createMessage', long));
    expect(play.server(asks)).toMatchObject([
      { to: 'server', message: { id: 41, error: {} } },
      { to: 'agent', message: { id: 1, result: { inputRequests: { 'input-1': {} } } } },
    ]);
  });

  test('no more calls than the limit wait for input', () => {
    const play = suspended({ suspendedMax: 1 });
    play.agent(ask(2, 'tools/call', { name: 'y' }));
    expect(play.server(sampling(41))).toMatchObject([
      { to: 'server', message: { id: 41, error: {} } },
    ]);
  });
});

describe('the error that demands a visit to a web page', () => {
  const elicitations = [
    { mode: 'url', elicitationId: 'e', url: 'https://a.example/', message: 'Log in' },
  ];

  test('becomes `input_required`, and the next round makes the call again', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL));
    expect(play.server(bad('t1-2', -32042, { data: { elicitations } }))).toMatchObject([
      {
        to: 'agent',
        message: {
          result: {
            resultType: 'input_required',
            inputRequests: {
              'input-1': {
                method: 'elicitation/create',
                params: { mode: 'url', url: 'https://a.example/', message: 'Log in' },
              },
            },
          },
        },
      },
    ]);
    expect(play.agent(retry(2))).toEqual([
      { to: 'server', message: { jsonrpc: '2.0', id: 't1-3', method: 'tools/call', params: CALL } },
    ]);
    expect(play.agent(retry(3))).toMatchObject([{ message: { error: { code: -32602 } } }]);
  });

  test('stays an error when the agent opens no pages', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', CALL, modernMeta({}, { elicitation: {} })));
    expect(play.server(bad('t1-2', -32042, { data: { elicitations } }))).toMatchObject([
      { to: 'agent', message: { id: 1, error: { code: -32603 } } },
    ]);
  });
});
