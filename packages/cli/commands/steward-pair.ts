// `sub steward pair`: who may write to Steward on its channels.
import { isFailure } from '@subluminal/contracts';
import {
  badUsage,
  defineCommand,
  optional,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { mayAct } from '../input/require-person.ts';
import { stewardAnswer } from '../steward/steward-home.ts';
import { harmlessLine } from '../terminal/text.ts';

export const pair = defineCommand({
  description:
    'Lets a sender of a channel write to Steward: they write to it, get a code, and you type that code here within 15 minutes. --list shows who is paired, --remove ends it.',
  args: { code: optional('The code that the sender was told') },
  options: {
    list: 'List the senders that are paired',
    remove: textOption('CHANNEL:SENDER', 'End the pairing of this sender'),
  },
  examples: [
    'sub steward pair ABCD-EFGH',
    'sub steward pair --list',
    'sub steward pair --remove telegram:12345',
  ],
  exitCodes: {
    0: 'the sender is paired or removed, or the senders are listed',
    2: 'wrong flags, a code that nobody has, no terminal, or Steward does not run',
  },
  requires: 'person',
  run: async ({ args: { code }, options: { list, remove } }, io) => {
    const asked = [code !== '', list, remove !== undefined].filter(Boolean).length;
    if (asked !== 1) return badUsage('give a code, --list or --remove.', 'Give one of them.');
    if (list) {
      const { senders } = orThrow(await stewardAnswer('paired', {}));
      const lines = senders.map(({ channel, sender, name, paired_at_ms }) =>
        harmlessLine(`${channel}:${sender}  ${name}  ${new Date(paired_at_ms).toISOString()}`),
      );
      return printout({ senders }, lines.join('') || 'Nobody is paired.\n');
    }
    const forbidden = mayAct('terminal', io);
    if (forbidden !== undefined) return forbidden;
    if (remove !== undefined) {
      const [channel = '', ...rest] = remove.split(':');
      const sender = rest.join(':');
      if (sender === '') return badUsage('--remove takes CHANNEL:SENDER.', 'See --list.');
      const done = await stewardAnswer('unpair', { channel, sender });
      return isFailure(done)
        ? done
        : printout({ removed: remove }, harmlessLine(`${remove} is removed.`));
    }
    const paired = await stewardAnswer('pair', { code });
    if (isFailure(paired)) return paired;
    const { channel, sender, name } = paired;
    return printout(
      paired,
      harmlessLine(`${name} (${channel}:${sender}) may write to Steward now.`),
    );
  },
});
