// What the user can mend about the ledger of a home.
import type { SubCode } from '@subluminal/contracts';
import type { ConfigProblem } from '../../stores/config/index.ts';
import { LedgerError } from '../../stores/ledger/index.ts';

export interface HomeFault {
  readonly kind: 'fault';
  readonly code: SubCode;
  readonly message: string;
  readonly fix: string;
  /** What else is wrong, and comes before it. */
  readonly others?: readonly HomeFault[];
}

export function homeFault(code: SubCode, message: string, fix: string): HomeFault {
  return { kind: 'fault', code, message, fix };
}

export function isHomeFault(value: unknown): value is HomeFault {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'fault';
}

export function configFault(problems: readonly ConfigProblem[]): HomeFault {
  const faults = problems.map(({ code, where, message, fix }) =>
    homeFault(code, `${where}: ${message}.`, fix),
  );
  const last = faults.at(-1);
  if (last === undefined) throw new Error('a configuration failed without a problem');
  return faults.length === 1 ? last : { ...last, others: faults.slice(0, -1) };
}

function ledgerFault({ code, message, fix }: LedgerError, file: string): HomeFault {
  switch (code) {
    case 'SUB_LEDGER_MISSING':
      return homeFault(code, `there is no ledger at ${file}.`, fix);
    case 'SUB_LEDGER_LOCKED':
      return homeFault(code, `another process writes to ${file}.`, fix);
    default:
      return homeFault(code, message.endsWith('.') ? message : `${message}.`, fix);
  }
}

/** What the user can mend is told; everything else is a defect. */
export async function faultsOf<T>(file: string, work: () => Promise<T>): Promise<T | HomeFault> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof LedgerError)) throw cause;
    return ledgerFault(cause, file);
  }
}
