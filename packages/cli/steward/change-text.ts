// A change that Steward proposes, whole, for a person who decides about it.
import type { StewardAnswers } from '@subluminal/contracts';
import { harmless, harmlessLine } from '../terminal/text.ts';

type ShownChange = StewardAnswers['changes/show'];

export function changeText(view: ShownChange): string {
  // What a file holds must not act on the terminal; its lines stay lines.
  const diffs = view.files.map(({ diff }) => diff.split('\n').map(harmless).join('\n'));
  return `${changeHead(view)}${diffs.join('\n')}\n`;
}

/** What is said of it, without its diffs. */
export function changeHead({ change, loosens, notes }: ShownChange): string {
  const { id, kind, state, why, by, is_modified } = change;
  const lines = [
    `${id}: ${kind}, ${state.replaceAll('_', ' ')}${by === null ? '' : ` (${by})`}`,
    ...(why === '' ? [] : [`Why, in its words: ${why}`]),
    ...(is_modified ? ['The proposed text was edited by you.'] : []),
    ...(loosens.length === 0 ? [] : ['It loosens what is allowed:']),
    ...loosens.map((line) => `  ${line}`),
    ...(notes.length === 0 ? [] : ['What it is and may do:']),
    ...notes.map((line) => `  ${line}`),
  ];
  return lines.map(harmlessLine).join('');
}
