import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChatAddress } from '../channels/index.ts';
import type { Journal } from '../journal/index.ts';
import { World } from '../loop/testing/fakes.ts';
import { ReplyDelivery } from './deliver-replies.ts';

type Result = Awaited<ReturnType<ConstructorParameters<typeof ReplyDelivery>[0]['reply']>>;

let world: World;
let journal: Journal;
let sent: string[];
let waits: { readonly goOn: () => void }[];
/** What the service of a chat says; it takes everything unless something stands here. */
let answers: { [chat: string]: Result[] };
beforeEach(async () => {
  world = new World();
  ({ journal } = await world.start());
  [sent, waits, answers] = [[], [], {}];
});
afterEach(() => world.remove());

function say(chat: string, text: string, channel = 'telegram'): void {
  const asker = { channel, person: chat, address: chat };
  const { id } = journal.conversationFor({ id: `${channel} ${chat}`, ...asker });
  journal.addMessage({ conversationId: id, role: 'assistant', text });
}

function deliver(): ReplyDelivery {
  return new ReplyDelivery({
    journal,
    log: (line) => world.logged.push(line),
    reply: async ({ conversation }: ChatAddress, text) => {
      const said = answers[conversation]?.shift() ?? { kind: 'sent' };
      if (said.kind === 'sent') sent.push(`${conversation}: ${text}`);
      return said;
    },
    wait: (_ms, signal) =>
      new Promise((goOn, stop) => {
        waits.push({ goOn });
        signal.addEventListener('abort', () => stop(new Error('stopped')));
      }),
  });
}

test('a reply whose service is away is tried again before the next, and no other chat waits', async () => {
  answers = { away: [{ kind: 'later', why: 'Nobody answers.' }] };
  say('away', 'One.');
  const delivery = deliver();
  say('away', 'Two.');
  say('there', 'Hello.');
  await expect.poll(() => [waits.length, ...sent]).toEqual([1, 'there: Hello.']);
  waits[0]?.goOn();
  await delivery.settled();
  expect(sent).toEqual(['there: Hello.', 'away: One.', 'away: Two.']);
  expect(journal.unsentMessages()).toEqual([]);
  delivery.stop();
});

test('what was not sent when it stops is sent at the next start', async () => {
  answers = { away: [{ kind: 'later', why: 'The channel was stopped.' }] };
  say('away', 'One.');
  const first = deliver();
  await expect.poll(() => waits.length).toBe(1);
  first.stop();
  await first.settled();
  expect(sent).toEqual([]);
  const second = deliver();
  await second.settled();
  expect(sent).toEqual(['away: One.']);
  second.stop();
});

test('a reply that is refused is given up, and the log says so', async () => {
  answers = { gone: [{ kind: 'refused', why: 'There is no such chat.' }] };
  say('gone', 'One.');
  say('gone', 'Two.');
  const delivery = deliver();
  await delivery.settled();
  expect(sent).toEqual(['gone: Two.']);
  expect(world.logged).toEqual(['A reply on telegram is given up: There is no such chat.']);
  delivery.stop();
});

test('what a schedule has found goes to where the user has written last, and NOTHING goes nowhere', async () => {
  const { id } = journal.conversationFor({
    ...{ id: 'last', channel: 'telegram', person: 'chat', address: 'chat' },
  });
  journal.addMessage({ conversationId: id, role: 'user', text: 'Tell me when it rains.' });
  const delivery = deliver();
  say('', 'It rains.', 'schedule');
  say('', 'NOTHING.', 'schedule');
  await expect.poll(() => journal.unsentMessages()).toEqual([]);
  await delivery.settled();
  expect(sent).toEqual(['chat: It rains.']);
  delivery.stop();
});
