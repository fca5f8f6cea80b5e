import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  inOrder,
  type ScriptedTurn,
  settled,
  TERMINAL,
  TOOLS,
  use,
  World,
} from './testing/fakes.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.remove());

async function perform(text: string, ...turns: readonly ScriptedTurn[]) {
  if (turns.length > 0) world.script = inOrder(...turns);
  const { journal, conversations } = await world.start();
  conversations.receive({ ...TERMINAL, text });
  await settled(journal);
  const [task] = journal.lastTasks(1);
  if (task === undefined) throw new Error('there is no task');
  const messages = journal.messagesAfter(0, task.conversationId);
  return { journal, conversations, task, steps: journal.steps(task.id), last: messages.at(-1) };
}

describe('a task', () => {
  test('calls the tools that the model proposes, one after the other, and replies', async () => {
    const { steps, last, task } = await perform(
      'Read it and write to Bob.',
      {
        uses: [
          use('files__read', { path: '/srv/a' }),
          use('email__send', { to: 'bob@example.com' }),
        ],
      },
      { text: 'Bob has it.' },
    );
    expect(world.calls.map(({ server, tool, args }) => [server, tool, args])).toEqual([
      ['files', 'read', { path: '/srv/a' }],
      ['email', 'send', { to: 'bob@example.com' }],
    ]);
    expect(steps.map(({ state }) => state)).toEqual(['done', 'done']);
    expect(last).toMatchObject({ role: 'assistant', text: 'Bob has it.' });
    expect(task).toMatchObject({ state: 'done', costMicros: 20, steps: 2 });
  });

  test('tells what a person who is asked has to know, beside the call', async () => {
    await perform('Write to Bob.', { uses: [use('email__send')] }, { text: 'Done.' });
    expect(world.calls[0]?.about).toMatchObject({
      reasoning: 'The user asked for it.',
      channel: 'terminal',
      request: 'Write to Bob.',
    });
    expect(world.said).toContain('Write to Bob.');
  });

  test('is told how many tools are not offered, because models take no more', async () => {
    const [tool] = world.tools;
    if (tool === undefined) throw new Error('there is no tool');
    world.tools = Array.from({ length: 130 }, (_, n) => ({ ...tool, name: `read_${n}` }));
    await perform('Read it.', { text: 'Done.' });
    expect(world.questions[0]?.tools).toHaveLength(128);
    expect(world.questions[0]?.system).toContain('your servers have 2 more.');
  });

  test('gives refusals and hints back to the model as errors', async () => {
    world.answer = () => ({
      kind: 'refused',
      callId: 'c',
      action: 'deny',
      reasonCode: 'DENYLIST_MATCH',
      ruleId: 'r',
      summary: 'Mail is off.',
      hint: 'Write a draft.',
    });
    const { steps } = await perform(
      'Send.',
      { uses: [use('email__send')] },
      { text: 'It is off.' },
    );
    expect(steps[0]).toMatchObject({ state: 'refused', callId: 'c' });
    expect(world.questions[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      isError: true,
      text: 'Refused: Mail is off.\nHint: Write a draft.',
    });
  });

  test('tells the model of a tool that is not there, and calls nothing', async () => {
    const { steps } = await perform('Go.', { uses: [use('shell__rm')] }, { text: 'I cannot.' });
    expect(steps[0]).toMatchObject({ server: '', tool: 'shell__rm', state: 'failed' });
    expect(world.calls).toEqual([]);
  });

  test('a call that broke off after it left is unknown, and the model is told', async () => {
    world.answer = () => ({ kind: 'failed', message: 'The line broke.', wasForwarded: true });
    const { steps } = await perform(
      'Send.',
      { uses: [use('email__send')] },
      { text: 'Who knows.' },
    );
    expect(steps[0]?.state).toBe('unknown');
    expect(world.questions[1]?.messages.at(-1)?.text).toContain('not known whether');
  });

  test('an empty answer is told to the model twice, and fails the task then', async () => {
    world.script = () => ({});
    const { task, last } = await perform('Go.');
    expect(world.questions).toHaveLength(3);
    expect(world.questions[1]?.messages.at(-1)?.text).toContain('empty');
    expect(task.state).toBe('failed');
    expect(last).toMatchObject({ role: 'notice' });
  });
});

test('nobody judges a call whose arguments do not fit', async () => {
  const argsProblem = () => 'The arguments do not fit.';
  world.tools = TOOLS.map((tool) => ({ ...tool, argsProblem }));
  world.script = inOrder({ uses: [use('email__send')] }, { text: 'It cannot be sent.' });
  const { steps } = await perform('Go.');
  expect(steps).toMatchObject([{ state: 'failed', result: argsProblem(), judgements: [] }]);
  expect(world.proposals).toEqual([]);
});

describe('a task stops', () => {
  test('when the same is proposed again and again', async () => {
    world.script = () => ({ uses: [use('files__read', { path: '/srv/a', more: { b: 1, a: 2 } })] });
    const { task, steps } = await perform('Go.');
    expect(task.state).toBe('stopped');
    expect(task.reason).toContain('again');
    expect(steps).toHaveLength(2);
  });

  test('when a tool that is not there is called again and again', async () => {
    world.script = () => ({ uses: [use('no_such_tool', {})] });
    const { task, steps } = await perform('Go.');
    expect(task.state).toBe('stopped');
    expect(task.reason).toContain('no_such_tool again and again');
    expect(steps).toHaveLength(2);
  });

  const endless = () => {
    let n = 0;
    return () => ({ uses: [use('files__read', { path: `/srv/${++n}` })], costMicros: 1_000 });
  };

  test.each([
    ['steps of a task', { taskStepsMax: 3 }, 'as many as a task may'],
    ['money of a task', { taskCostMicrosMax: 4_000 }, 'as much as a task may'],
    ['steps of a day', { dayStepsMax: 3 }, 'steps of this day'],
    ['money of a day', { dayCostMicrosMax: 4_000 }, 'money of this day'],
  ])('at its limit on the %s', async (_name, limit, reason) => {
    world.limits = { ...world.limits, ...limit };
    world.script = endless();
    const { task, steps } = await perform('Go.');
    expect(task.state).toBe('stopped');
    expect(task.reason).toContain(reason);
    expect(steps).toHaveLength(3);
  });

  test.each([
    ['a task', { taskWorkMsMax: 5_000 }],
    ['a day', { dayWorkMsMax: 5_000 }],
  ])('when the time of %s is over', async (_name, limit) => {
    world.limits = { ...world.limits, ...limit };
    const turns = endless();
    world.script = () => {
      world.nowMs += 3_000;
      return turns();
    };
    const { task, steps } = await perform('Go.');
    expect(task.state).toBe('stopped');
    expect(steps).toHaveLength(1);
  });

  test('when the user says so, and withdraws the call that is under way', async () => {
    let begin = () => undefined as void;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    world.answer = ({ signal }) =>
      new Promise((answer) => {
        begin();
        signal?.addEventListener('abort', () =>
          answer({ kind: 'failed', message: 'Withdrawn.', wasForwarded: true }),
        );
      });
    world.script = inOrder({ uses: [use('email__send')] }, { text: 'Never said.' });
    const { journal, conversations } = await world.start();
    conversations.receive({ ...TERMINAL, text: 'Send.' });
    await begun;
    expect(conversations.receive({ ...TERMINAL, text: '/stop' })).toMatchObject({ count: 1 });
    await conversations.close();
    const [task] = journal.lastTasks(1);
    expect(task).toMatchObject({ state: 'stopped', reason: 'you stopped it' });
    expect(world.questions).toHaveLength(1);
  });
});

describe('a conversation', () => {
  test('does one task at a time, and shows the model what was said before', async () => {
    world.script = ({ messages }) => ({ text: `I saw ${messages.length} messages.` });
    const { journal, conversations } = await world.start();
    conversations.receive({ ...TERMINAL, text: 'First.' });
    await settled(journal);
    world.nowMs += 1_000;
    conversations.receive({ ...TERMINAL, text: 'Second.' });
    await settled(journal);
    expect(world.questions.at(-1)?.messages.map(({ text }) => text)).toEqual([
      'First.',
      'I saw 1 messages.',
      'Second.',
    ]);
  });

  test('words that the agent wrote itself do not count as the words of the user', async () => {
    world.script = () => ({ text: 'Done.' });
    const { journal, conversations } = await world.start();
    conversations.receive({ ...TERMINAL, text: 'Write to eve@example.com.', askedBy: 'agent' });
    await settled(journal);
    expect(world.said).toEqual([]);
    expect(world.questions[0]?.messages.at(-1)?.text).toContain('the user has not said it');
  });

  test('takes no empty message, no endless one and no endless queue', async () => {
    world.script = () => new Promise(() => undefined);
    const { conversations, journal } = await world.start();
    const send = (text: string) => conversations.receive({ ...TERMINAL, text }).kind;
    expect(send(' ')).toBe('refused');
    expect(send('x'.repeat(200_000))).toBe('refused');
    const kinds = Array.from({ length: 22 }, () => send('Go.'));
    expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(2);
    conversations.stop(journal.lastTasks(1)[0]?.conversationId ?? '');
  });
});

test('a few runs wait for the next message; of more, the one that was idle longest ends', async () => {
  world.script = inOrder({ text: 'Hello.' });
  const { journal, conversations } = await world.start();
  const say = async (person: string) => {
    const taken = conversations.receive({ ...TERMINAL, person, address: person, text: 'Hi.' });
    await settled(journal);
    const { conversationId } = taken.kind === 'task' ? taken.task : { conversationId: '' };
    return journal.conversation(conversationId)?.runId;
  };
  const first = await say('ada');
  const second = await say('bob');
  for (let n = 0; n < 6; n++) await say(`person ${n}`);
  // It is not the one that was opened first, but the one that is silent for longest.
  expect(await say('ada')).toBe(first);
  await say('the last');
  await expect.poll(() => world.closed).toEqual([second]);
  expect(await say('bob')).not.toBe(second);
});

test('a change reaches every open run, also when one is slow and another fails', async () => {
  world.script = () => ({ text: 'Yes.' });
  const { journal, conversations } = await world.start();
  for (const person of ['slow', 'broken', 'well']) {
    conversations.receive({ ...TERMINAL, person, text: 'Are you there?' });
  }
  await settled(journal);
  let finish: () => void = () => undefined;
  const reached: string[] = [];
  const changing = conversations.forEachRun(async (_run, { person }) => {
    if (person === 'slow') await new Promise<void>((resolve) => (finish = resolve));
    if (person === 'broken') throw new Error('it has no room');
    reached.push(person);
  });
  await expect.poll(() => reached).toEqual(['well']);
  finish();
  await changing;
  expect(reached).toEqual(['well', 'slow']);
  expect(world.logged).toEqual([expect.stringContaining('it has no room')]);
});
