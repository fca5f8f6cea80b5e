// What the user can mend about the ledger of a home.
import type { SubCode } from '@subluminal/contracts';
import { type ConfigProblem, formatConfigProblem } from '../../config/index.ts';
import { LedgerError } from '../../ledger/index.ts';

interface HomeFault {
  readonly kind: 'fault';
  readonly code: SubCode;
  readonly message: string;
  readonly fix: string;
}

function homeFault(code: SubCode, message: string, fix: string): HomeFault {
  return { kind: 'fault', code, message, fix };
}

function isHomeFault(value: unknown): value is HomeFault {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'fault';
}

function configFault([first, ...others]: readonly ConfigProblem[]): HomeFault {
  if (first === undefined) throw new Error('a configuration failed without a problem');
  const { code, where, message } = first;
  const more = others.map((problem) => ` ${formatConfigProblem(problem)}`).join('');
  return homeFault(code, `${where}: ${message}.${more}`, first.fix);
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
async function faultsOf<T>(file: string, work: () => Promise<T>): Promise<T | HomeFault> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof LedgerError)) throw cause;
    return ledgerFault(cause, file);
  }
}

export type { HomeFault };
export { configFault, faultsOf, homeFault, isHomeFault };
