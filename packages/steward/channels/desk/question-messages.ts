// A question as messages: the whole of it, in parts where it is long, and the buttons under the last.
import { splitText } from '../shared/split-text.ts';
import type { Channel, OutboundMessage, PressVerdict } from '../shared/types.ts';
import type { OpenQuestion } from './questions.ts';

/** More than this nobody reads on a phone. */
const PARTS_MAX = 8;

export function questionMessages(
  channel: Channel,
  { code, confirmation }: OpenQuestion,
): { readonly messages: readonly OutboundMessage[]; readonly isWhole: boolean } {
  const { textLengthMax, buttonTextLengthMax = textLengthMax } = channel.limits;
  const escape = (text: string) => channel.escape(text);
  const { title, lines, details, expiresAtMs, showCommand } = confirmation;
  const body = [title, ...lines].join('\n');
  const split = splitText(body, { lengthMax: textLengthMax, partsMax: PARTS_MAX, escape });
  const isWhole = confirmation.isWhole && split.leftOut === 0;
  const until = `${new Date(expiresAtMs).toISOString().slice(11, 16)} UTC`;
  const how = isWhole
    ? `Answer until ${until}, here or in words: approve ${code} or reject ${code}`
    : `Not all of it can be shown here. Decide it on the machine: ${showCommand}. Or: reject ${code}`;
  const verdicts: PressVerdict[] = isWhole ? ['approve', 'reject'] : ['reject'];
  if (details !== undefined && details.length > 0) verdicts.push('details');
  const buttons = { code, verdicts };
  const [only] = split.parts;
  const together = `${only ?? ''}\n\n${escape(how)}`;
  if (split.parts.length === 1 && together.length <= buttonTextLengthMax) {
    return { messages: [{ text: together, confirmation: buttons, isQuestion: true }], isWhole };
  }
  const parts = split.parts.map((text) => ({ text, isQuestion: true }));
  const last = splitText(`${title}\n${how}`, {
    lengthMax: buttonTextLengthMax,
    partsMax: 1,
    escape,
  });
  const asked = { text: last.parts[0] ?? '', confirmation: buttons, isQuestion: true };
  return { messages: [...parts, asked], isWhole };
}
