// What the person at this terminal decides about a change that they have seen.
import type { Failure, StewardAnswers } from '@subluminal/contracts';
import { userName } from '../approvals/desk.ts';
import type { ShownChange } from './change-text.ts';
import { stewardAnswer } from './steward-home.ts';

type DecidedChange = StewardAnswers['changes/approve'];

/** Who decides at this terminal. */
export function terminalPerson() {
  return { person: userName(), channel: 'terminal' } as const;
}

export function approveChange({ change, sha256 }: ShownChange): Promise<DecidedChange | Failure> {
  return stewardAnswer('changes/approve', { id: change.id, sha256, ...terminalPerson() });
}

export function rejectChange(id: string): Promise<DecidedChange | Failure> {
  return stewardAnswer('changes/reject', { id, ...terminalPerson() });
}

export function decidedText({ id, state }: DecidedChange): string {
  return `${id} is ${state.replaceAll('_', ' ')}.`;
}
