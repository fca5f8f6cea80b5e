// One process of a test: does what each line on its input tells it, and answers with a line.

import { createInterface } from 'node:readline';
import { isFailure } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import { openDesk } from '../desk.ts';

import { granted, question } from './bench.ts';

export type Task =
  | { readonly does: 'ask'; readonly timeoutMs: number }
  | { readonly does: 'end'; readonly ids: readonly string[]; readonly by: string }
  | { readonly does: 'take'; readonly times: number };

const [home = ''] = process.argv.slice(2);
const desk = openDesk({ home, ports: { nowMs: () => Date.now(), uuid: uuidv7 } });
if (isFailure(desk)) throw new Error(desk.message);
const { queue, grants } = desk;

function perform(task: Task): unknown {
  switch (task.does) {
    case 'ask':
      return queue.ask(question({ timeoutMs: task.timeoutMs }));
    case 'end':
      return task.ids.map((id) => {
        const state = task.by === 'one' ? 'approved' : 'rejected';
        const ended = queue.end(id, { state, by: task.by, channel: 'test' });
        return ended.kind === 'ended' || ended.kind === 'already'
          ? { kind: ended.kind, by: ended.outcome.by }
          : ended;
      });
    case 'take':
      return Array.from({ length: task.times }, () => grants.takeGrant(granted(), Date.now())?.id);
  }
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(perform(JSON.parse(line) as Task))}\n`);
}
