// What the agent is told of what it has proposed.
import { type Failure, isFailure } from '@subluminal/contracts';
import { errorAnswer, type OwnAnswer } from '@subluminal/plane/agent-run';
import type { ChangeSet } from '../staging/index.ts';

/** `next`: what is to be done once it is merged. */
export function proposalAnswer(made: ChangeSet | Failure, next = ''): OwnAnswer {
  if (isFailure(made)) return errorAnswer(made);
  const said = `Proposed as ${made.id}. The user decides; nothing has changed yet. ${next}`;
  return { text: said.trim(), structured: { proposal: made.id } };
}
