// What keeps adoption from doing its work, with the code that users see.
import { basename } from 'node:path';
import type { SubCode } from '@subluminal/contracts';
import type { ConfigProblem } from '../index.ts';
import type { Holder } from '../store/lock.ts';

export interface AdoptProblem {
  readonly kind: 'refused';
  readonly code: SubCode;
  readonly message: string;
  readonly fix: string;
}

export function adoptProblem(code: SubCode, message: string, fix: string): AdoptProblem {
  return { kind: 'refused', code, message, fix };
}

/** The message of a reader names the file by its last part only. */
export function withCode(code: SubCode, { path, message, fix }: ConfigProblem): AdoptProblem {
  if (message.includes(path)) return adoptProblem(code, message, fix);
  const short = `${basename(path)}: `;
  const rest = message.startsWith(short) ? message.slice(short.length) : message;
  return adoptProblem(code, `${path}: ${rest}`, fix);
}

export function heldBy(path: string, { pid, elsewhere }: Holder): AdoptProblem {
  if (elsewhere !== undefined) {
    return adoptProblem(
      'SUB_CLIENT_LOCKED',
      `${path} is in use by a sub in another container (process ${pid} there), which cannot be seen from here.`,
      `End it there, or run \`sub unwrap\` there. If that container is gone: ${elsewhere}.`,
    );
  }
  return adoptProblem(
    'SUB_CLIENT_LOCKED',
    `${path} is in use by another sub (process ${pid}).`,
    'Try again when that one has ended.',
  );
}
