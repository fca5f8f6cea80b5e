// A change that Steward proposes, whole, for a person who decides about it.
import type { StewardAnswers } from '@subluminal/contracts';
import type { Colors } from '../terminal/io.ts';
import { harmlessLine, harmlessTabbed, paintedDiffLine } from '../terminal/text.ts';

export type ShownChange = StewardAnswers['changes/show'];

export function changeText(view: ShownChange, colors: Colors): string {
  // What a file holds must not act on the terminal; its lines stay lines.
  const lines = view.files.flatMap(({ diff }) => diff.trimEnd().split('\n'));
  const painted = lines.map((line) => `${paintedDiffLine(harmlessTabbed(line), colors)}\n`);
  return `${changeHead(view)}${painted.join('')}`;
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
