// Against a stand-in of Slack's HTTP API, through Slack's own client.
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Bench, ME } from '../../../stores/approvals/testing/bench.ts';
import { HttpService, type Received } from '../../../stores/approvals/testing/http-service.ts';
import type { RunningChannel } from '../shared/announce-requests.ts';
import { slackCallback } from './callback.ts';
import { SlackChannel } from './channel.ts';
import type { SlackConfig } from './client.ts';

const SIGNING = 'signing-secret';
const ANN = 'U0ANN00000';
const EVE = 'U0EVE00000';
const CHANNEL = 'C0CHANNEL0';

interface Reaction {
  readonly name: string;
  readonly users: readonly string[];
  readonly count: number;
}

let bench: Bench;
let api: HttpService;
let reactions: readonly Reaction[];
let posts: number;
const running: RunningChannel[] = [];
beforeEach(async () => {
  bench = new Bench();
  reactions = [];
  posts = 0;
  api = await HttpService.start(({ path }) => {
    if (path === '/chat.postMessage') {
      return {
        status: 200,
        body: { ok: true, channel: CHANNEL, ts: `1700000000.00000${++posts}` },
      };
    }
    if (path === '/reactions.get') {
      return { status: 200, body: { ok: true, type: 'message', message: { reactions } } };
    }
    return { status: 200, body: { ok: true } };
  });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((channel) => channel.stop()));
  await api.stop();
  bench.end();
});

function config(): SlackConfig {
  return {
    token: 'xoxb-of-the-tests',
    signingSecret: SIGNING,
    channel: CHANNEL,
    users: [ANN],
    pollMs: 20,
    timeoutMs: 5_000,
    apiUrl: api.url,
  };
}

function start(): RunningChannel {
  const channel = new SlackChannel(bench.desk, config());
  running.push(channel);
  return channel;
}

function form(received: Received | undefined): URLSearchParams {
  return new URLSearchParams(String(received?.body));
}

interface Block {
  readonly type: string;
  readonly text?: { readonly type: string; readonly text: string };
  readonly elements?: readonly { readonly action_id?: string; readonly value?: string }[];
}

function blocksOf(received: Received | undefined): readonly Block[] {
  return JSON.parse(form(received).get('blocks') ?? '[]') as Block[];
}

function buttonsOf(received: Received | undefined) {
  return blocksOf(received).find(({ type }) => type === 'actions')?.elements ?? [];
}

/** What Slack sends when somebody presses a button. */
function press(
  action_id: string,
  value: string,
  more: { user?: string; secret?: string; ageMs?: number } = {},
) {
  const { user = ANN, secret = SIGNING, ageMs = 0 } = more;
  const payload = {
    type: 'block_actions',
    user: { id: user, username: 'ann' },
    channel: { id: CHANNEL },
    actions: [{ action_id, value }],
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor((bench.nowMs - ageMs) / 1_000));
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    headers: { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${digest}` },
    rawBody: Buffer.from(body),
  };
}

describe('a message in Slack', () => {
  test('shows the whole call with two buttons, and is updated when it is over', async () => {
    start();
    const id = bench.ask();
    const [post] = await api.until('/chat.postMessage', 1);
    expect(post?.headers.authorization).toBe('Bearer xoxb-of-the-tests');
    expect(form(post).get('channel')).toBe(CHANNEL);
    const text = form(post).get('blocks') ?? '';
    for (const part of ['files/write_file', 'src/main.ts', 'ask-writes', 'coder', 'write_like']) {
      expect(text).toContain(part);
    }
    expect(buttonsOf(post).map((one) => one.action_id)).toEqual([
      'subluminal_approve',
      'subluminal_reject',
    ]);
    bench.desk.decide(id, { state: 'rejected', ...ME, note: 'not today' });
    const [update] = await api.until('/chat.update', 1);
    expect(form(update).get('ts')).toBe('1700000000.000001');
    expect(form(update).get('blocks')).toMatch(/rejected by ann \(terminal\).*not today/);
    expect(buttonsOf(update)).toEqual([]);
  });

  test('shows what the agent says of its call, within the room of a block', async () => {
    start();
    const long = 'x'.repeat(4_000);
    const judgement = { by: 'guardian', verdict: 'BLOCK', reason: 'y'.repeat(1_000) } as const;
    const judgements = Array.from({ length: 16 }, () => judgement);
    const about = {
      reasoning: long,
      task: long.slice(0, 2_000),
      channel: 'slack',
      request: 'Pay.',
      judgements,
    };
    bench.ask({ about }, { reason: long.slice(0, 2_000), rule_id: long.slice(0, 1_000) });
    const [post] = await api.until('/chat.postMessage', 1);
    const facts = blocksOf(post)[1]?.text?.text ?? '';
    expect(facts).toContain('The user said: Pay.');
    expect(facts).toContain('BLOCK by guardian: yyy');
    expect(facts.length).toBeLessThanOrEqual(3_000);
  });

  test('makes hostile text harmless: no mention, no link, no markup, no hidden characters', async () => {
    start();
    const evil = '<!channel> *x* ```<https://evil.example|click>``` \u202e\u001b[31m';
    bench.ask({}, { args: { evil }, reason: evil, tool: 'a<!here>&b' });
    const [post] = await api.until('/chat.postMessage', 1);
    expect(form(post).get('text')).toBe('An agent wants to call files/a&lt;!here&gt;&amp;b.');
    const kinds = blocksOf(post).map(({ type, text }) => text?.type ?? type);
    expect(kinds).toEqual(['plain_text', 'plain_text', 'rich_text', 'actions']);
    const shown = blocksOf(post)
      .map((block) => JSON.stringify(block))
      .join('');
    expect(shown).toContain('\\\\u{202e}');
    // Line ends are ours; nothing else that acts on a reader is left.
    expect(shown.replaceAll('\\n', '')).not.toMatch(/[\p{C}]|(?<!\\)\\u/u);
    expect(form(post).get('unfurl_links')).toBe('false');
  });

  test('has no button to approve a call that does not fit into it, nor does 👍 approve it', async () => {
    start();
    const id = bench.ask({}, { args: { text: 'x'.repeat(20_000) } });
    const [post] = await api.until('/chat.postMessage', 1);
    expect(buttonsOf(post).map((one) => one.action_id)).toEqual(['subluminal_reject']);
    reactions = [{ name: '+1', users: [ANN], count: 1 }];
    await api.until('/reactions.get', 3);
    const forged = press('subluminal_approve', buttonsOf(post)[0]?.value ?? '');
    await slackCallback(bench.desk, config())(forged);
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test('is posted once by several processes, and found again after a restart', async () => {
    const [one, two] = [start(), start()];
    const id = bench.ask();
    await api.until('/chat.postMessage', 1);
    await Promise.all([one.stop(), two.stop()]);
    running.length = 0;
    start();
    bench.desk.queue.end(id, { state: 'cancelled', by: 'client', channel: 'shim' });
    const next = bench.ask();
    await api.until('/chat.postMessage', 2);
    reactions = [{ name: 'thumbsup::skin-tone-3', users: [ANN], count: 1 }];
    await new Promise((resolve) => bench.desk.queue.watch([next], resolve));
    expect(posts).toBe(2);
  });

  test('that Slack refuses is reported without the token, and the request goes on waiting', async () => {
    await api.stop();
    api = await HttpService.start(() => ({
      status: 200,
      body: { ok: false, error: 'not_in_channel' },
    }));
    const channel = start();
    const id = bench.ask();
    await api.until('/chat.postMessage', 1);
    await channel.stop();
    expect(bench.warnings).toEqual(['Slack: it refused (not_in_channel).']);
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });
});

describe('a reaction', () => {
  test.each([
    ['+1', 'approved'],
    ['thumbsup', 'approved'],
    ['-1::skin-tone-6', 'rejected'],
  ])('%s of somebody on the list means %s', async (name, state) => {
    start();
    const id = bench.ask();
    reactions = [{ name, users: [EVE, ANN], count: 2 }];
    const ended = await new Promise((resolve) => bench.desk.queue.watch([id], resolve));
    expect(ended).toMatchObject({ state, outcome: { by: `slack:${ANN}`, channel: 'slack' } });
  });

  test('of both kinds is no approval', async () => {
    start();
    const id = bench.ask();
    reactions = [
      { name: '+1', users: [ANN], count: 1 },
      { name: '-1', users: [ANN], count: 1 },
    ];
    const ended = await new Promise((resolve) => bench.desk.queue.watch([id], resolve));
    expect(ended).toMatchObject({ state: 'rejected' });
  });

  test('of a user who is not on the list decides nothing, and the user gets one reply', async () => {
    start();
    const id = bench.ask();
    reactions = [
      { name: '+1', users: [EVE], count: 1 },
      { name: 'tada', users: [ANN], count: 1 },
    ];
    const [told] = await api.until('/chat.postEphemeral', 1);
    expect(form(told).get('user')).toBe(EVE);
    await api.until('/reactions.get', 4);
    expect(api.received.filter(({ path }) => path === '/chat.postEphemeral')).toHaveLength(1);
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });
});

describe('a button', () => {
  async function posted() {
    start();
    const id = bench.ask();
    const [post] = await api.until('/chat.postMessage', 1);
    // The mark is written when the answer has come.
    while (bench.desk.queue.marked(id, 'slack-sent') === undefined) await new Promise(setImmediate);
    return {
      id,
      value: buttonsOf(post)[0]?.value ?? '',
      answers: slackCallback(bench.desk, config()),
    };
  }

  test('approves once; a replay of the press is not taken', async () => {
    const { id, value, answers } = await posted();
    const pressed = press('subluminal_approve', value);
    expect(await answers(pressed)).toEqual({ status: 200, body: {} });
    expect(bench.desk.queue.get(id)).toMatchObject({
      state: 'approved',
      outcome: { by: `slack:${ANN} (ann)`, channel: 'slack' },
    });
    expect(await answers(pressed)).toMatchObject({ status: 409 });
    expect(await answers(press('subluminal_reject', value))).toEqual({ status: 200, body: {} });
    const [told] = await api.until('/chat.postEphemeral', 1);
    expect(form(told).get('text')).toBe('Too late: it was approved before.');
  });

  test('rejects', async () => {
    const { id, value, answers } = await posted();
    await answers(press('subluminal_reject', value));
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'rejected' });
  });

  test('pressed by a user who is not on the list decides nothing, and the user gets a reply', async () => {
    const { id, value, answers } = await posted();
    await answers(press('subluminal_approve', value, { user: EVE }));
    const [told] = await api.until('/chat.postEphemeral', 1);
    expect(form(told).get('user')).toBe(EVE);
    expect(form(told).get('text')).toMatch(/^You are not on the list/);
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test('about another request than the one that is there decides nothing', async () => {
    const { id, answers } = await posted();
    await answers(press('subluminal_approve', `${id}:${'f'.repeat(64)}`));
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test.each([
    ['of another app', { secret: 'another' }, 401],
    ['that is old', { ageMs: 301_000 }, 401],
  ])('%s is not believed', async (_what, more, status) => {
    const { id, value, answers } = await posted();
    expect(await answers(press('subluminal_approve', value, more))).toMatchObject({ status });
    expect(await answers({ headers: {}, rawBody: Buffer.alloc(0) })).toMatchObject({ status: 401 });
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test('that is not ours is nothing', async () => {
    const { id, value, answers } = await posted();
    const other = press('another_app', value);
    expect(await answers(other)).toEqual({ status: 200, body: {} });
    // Slack sends it again when it has seen no answer.
    expect(await answers(other)).toEqual({ status: 200, body: {} });
    expect(await answers(press('subluminal_approve', 'nonsense'))).toMatchObject({ status: 400 });
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });
});
