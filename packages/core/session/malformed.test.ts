import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { deny } from '../policy/testing/scenario.ts';
import {
  answersOf,
  bytesOf,
  call,
  eventsOf,
  initialize,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';

/** What may have been a call is on record as one that was refused. */
const RECORD = ['start (unreadable)', 'decision BLOCK INVALID_CALL', 'end ERROR'];
const ABOUT_RECORD = /^(?:start \(unreadable\)|decision \S+ \S+|end ERROR)$/;

function withoutRecord(sendInShort: readonly string[]): readonly string[] {
  return sendInShort.filter((one) => !ABOUT_RECORD.test(one));
}

describe('a message that may have been a call', () => {
  it.each([
    [
      'a call with a key twice',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/call"}',
    ],
    ['no JSON', 'not json'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}]'],
    ['an id that is none', '{"jsonrpc":"2.0","id":[1],"method":"tools/call"}'],
  ])('is recorded as refused, and counted: %s', async (_what, line) => {
    const { send, session } = await play();
    const sent = send('agent', line);
    expect(inShort(sent).slice(0, 3)).toEqual(RECORD);
    const [decided] = eventsOf(sent, 'tool_call_decision');
    expect(decided?.decision).toMatchObject({ explain: { reason_code: 'INVALID_CALL' } });
    expect(session.summary()).toMatchObject({ calls_total: 1, calls_blocked: 1 });
  });

  it.each([
    ['another method', '{"jsonrpc":"2.0","id":[1],"method":"ping"}'],
    ['an answer', '{"id":1,"result":{}}'],
  ])('is not: %s', async (_what, line) => {
    const { sendInShort, session } = await play();
    expect(sendInShort('agent', line)).toEqual(withoutRecord(sendInShort('agent', line)));
    expect(session.summary().calls_total).toBe(0);
  });

  it('is recorded as spared in development', async () => {
    const { send } = await play([], { profile: 'development' });
    const [decided] = eventsOf(send('agent', 'not json'), 'tool_call_decision');
    expect(decided?.decision).toMatchObject({ action: 'ALLOW', would: { action: 'BLOCK' } });
  });
});

describe('malformed lines of the agent', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"a","params":{', 'json', -32700],
    ['{"id":1,"method":"a"}', 'version', -32600],
    ['{"jsonrpc":"2.0","id":1}', 'shape', -32600],
    [
      '{"method":"tools/call","params":{"name":"a","name":"b"},"jsonrpc":"2.0","id":1}',
      'duplicate_key',
      -32600,
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":\r{"jsonrpc":"2.0"}}}',
      'smuggled',
      -32600,
    ],
  ])('are answered when their id is known: %s', async (line, reason, code) => {
    verifies('F-013', 'F-014', 'EC-STDIO-015', 'EC-STDIO-016', 'EC-STDIO-017', 'EC-STDIO-018');
    const { sendInShort } = await play();
    expect(withoutRecord(sendInShort('agent', line))).toEqual([
      `report REJECTED ${reason}`,
      `answer 1 ${code}`,
      `drop ${reason}`,
    ]);
    const lenient = await play([], { profile: 'development' });
    expect(withoutRecord(lenient.sendInShort('agent', line))).toEqual([
      `report WOULD_REJECT ${reason}`,
      'forward to server',
    ]);
  });

  it.each([
    ['not json', 'json'],
    ['{"jsonrpc":"2.0"}', 'shape'],
    ['{"jsonrpc":"2.0","id":[1],"method":"a"}', 'id'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', 'duplicate_key'],
    ['{"id":1,"result":{}}', 'version'],
    ['7', 'not_object'],
  ])('are dropped when nobody could be answered: %s', async (line, reason) => {
    verifies('F-013', 'EC-STDIO-015', 'EC-STDIO-017');
    const { sendInShort } = await play();
    const dropped = withoutRecord(sendInShort('agent', line));
    expect(dropped).toEqual([`report DROPPED ${reason}`, `drop ${reason}`]);
    const lenient = await play([], { profile: 'development' });
    expect(withoutRecord(lenient.sendInShort('agent', line))).toEqual([
      `report WOULD_DROP ${reason}`,
      'forward to server',
    ]);
  });

  it('are not answered in the name of a request that is open', async () => {
    const { sendInShort } = await play();
    sendInShort('agent', request(1, 'tools/list'));
    expect(sendInShort('agent', '{"id":1,"method":"a"}')).toEqual([
      'report DROPPED version',
      'drop version',
    ]);
  });

  it('are reported with the bytes around the fault, and no more of them', async () => {
    verifies('F-013');
    const { send } = await play();
    const line = bytesOf(
      '{"jsonrpc":"2.0","method":"a","params":{"secret":"hunter2-hunter2-hunter2?"}}\n',
    );
    line[line.indexOf(0x3f)] = 0xff;
    const [sendInShort] = send('agent', line);
    if (sendInShort?.do !== 'report') throw new Error('nothing was reported');
    expect(sendInShort.report).toMatchObject({ reason: 'utf8', bytes: line.length - 1 });
    expect(Buffer.from(sendInShort.report.sample ?? '', 'hex').length).toBeLessThanOrEqual(16);
    expect(sendInShort.report.sample).toContain('ff');
  });
});

describe('malformed lines of the server', () => {
  it('are dropped, and the next line passes', async () => {
    verifies('F-013', 'EC-STDIO-015');
    const { sendInShort } = await play();
    sendInShort('agent', call(1, 'a'));
    expect(sendInShort('server', 'Server listening…')).toEqual([
      'report DROPPED json',
      'drop json',
    ]);
    expect(sendInShort('server', result(1))).toEqual(['end OK', 'forward to agent']);
    const lenient = await play([], { profile: 'development' });
    expect(lenient.sendInShort('server', 'hello')).toEqual([
      'report WOULD_DROP json',
      'forward to agent',
    ]);
  });

  it('end the request that they seem to answer, so that the agent does not wait for ever', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const { sendInShort, session } = await play();
    sendInShort('agent', call(1, 'a'));
    const line = '{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}';
    expect(sendInShort('server', line)).toEqual([
      'end ERROR',
      'report REJECTED duplicate_key',
      'answer 1 -32603',
      'drop duplicate_key',
    ]);
    expect(session.openRequests('agent')).toBe(0);
  });

  it('cannot smuggle an answer behind an unescaped newline', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const { sendInShort } = await play();
    sendInShort('agent', call(1, 'a'));
    const inside = '{"jsonrpc":"2.0","id":77,"result":{"content":[]}}';
    const [first = '', second = ''] =
      `{"jsonrpc":"2.0","id":1,"result":{"text":"x\n${inside}`.split('\n');
    expect(sendInShort('server', first)).toContain('drop json');
    expect(sendInShort('server', second)).toContain('drop unsolicited_answer');
  });
});

describe('batches', () => {
  const denied = deny('w', { tool_name: { glob: ['write'] } });
  const batch = [call(1, 'read'), call(2, 'write'), request(3, 'tools/list')];

  async function agreed(version: string) {
    const one = await play([denied]);
    const [opens, opened] = initialize(version);
    one.send('agent', opens);
    one.send('server', opened);
    return one;
  }

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'are refused where %s was negotiated',
    async (version) => {
      verifies('F-007b', 'EC-STDIO-035');
      const { sendInShort } = await agreed(version);
      expect(sendInShort('agent', batch)).toEqual([
        ...RECORD,
        'report REJECTED batch',
        'answer 1 -32600',
        'answer 2 -32600',
        'answer 3 -32600',
        'drop batch',
      ]);
      expect(sendInShort('agent', '[1,2')).toEqual([
        ...RECORD,
        'report DROPPED batch',
        'drop batch',
      ]);
      expect(sendInShort('server', [result(1)])).toEqual(['report DROPPED batch', 'drop batch']);
    },
  );

  it('pass unread in development', async () => {
    const { sendInShort } = await play([], { profile: 'development' });
    expect(withoutRecord(sendInShort('agent', batch))).toEqual([
      'report WOULD_REJECT batch',
      'forward to server',
    ]);
  });

  it('are governed one by one where 2025-03-26 was negotiated', async () => {
    verifies('F-007b');
    const { send } = await agreed('2025-03-26');
    const sent = send('agent', `[ ${batch.map((one) => JSON.stringify(one)).join(' , ')} ]`);
    expect(inShort(sent)).toEqual([
      'start read',
      'decision ALLOW DEFAULT_ALLOW',
      'start write',
      'decision BLOCK DENYLIST_MATCH',
      'end ERROR',
      'answer 2 -32081',
      'forward to server in part',
    ]);
    const forwarded = sent.at(-1);
    if (forwarded?.do !== 'forward' || forwarded.bytes === undefined)
      throw new Error('not in part');
    const wanted = `[${JSON.stringify(batch[0])},${JSON.stringify(batch[2])}]\n`;
    expect(Buffer.from(forwarded.bytes).toString()).toBe(wanted);
    const answers = send('server', [result(1), result(3), result(9)]);
    expect(inShort(answers)).toEqual([
      'end OK',
      'report DROPPED unsolicited_answer',
      'forward to agent in part',
    ]);
  });

  it('pass byte for byte when nothing in them is refused', async () => {
    const { sendInShort } = await agreed('2025-03-26');
    expect(sendInShort('agent', [request(1, 'ping'), request(2, 'ping')])).toEqual([
      'forward to server',
    ]);
    expect(sendInShort('server', [result(1), result(2)])).toEqual(['forward to agent']);
  });

  it.each(['[]', '[1]', '[{}', '[{},]', '[{}]]', `[${'{},'.repeat(1_000)}{}]`])(
    'are refused when malformed: %s',
    async (line) => {
      verifies('F-007b');
      const { sendInShort } = await agreed('2025-03-26');
      expect(sendInShort('agent', line)).toEqual([
        expect.stringMatching(/^report DROPPED (json|not_object|too_many_keys)$/),
        expect.stringMatching(/^drop /),
      ]);
    },
  );

  it('answer their invalid messages, and are dropped if all are refused', async () => {
    const { send, sendInShort } = await agreed('2025-03-26');
    expect(sendInShort('agent', '[{"id":5,"method":"a"}]')).toEqual([
      'report REJECTED version',
      'answer 5 -32600',
      'drop refused',
    ]);
    const twice = send('agent', [request(6, 'ping'), request(6, 'ping')]);
    expect(answersOf(twice)).toHaveLength(1);
    expect(inShort(twice).at(-1)).toBe('forward to server in part');
  });
});

describe('the end of the input', () => {
  it('drops half a line', async () => {
    verifies('EC-STDIO-027');
    const { session } = await play();
    expect(inShort(session.partial('server', bytesOf('{"jsonrpc"'), 0))).toEqual([
      'report DROPPED partial',
      'drop partial',
    ]);
  });
});
