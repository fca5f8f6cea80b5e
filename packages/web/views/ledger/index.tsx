import { CallLedger } from './call-ledger.tsx';

export function LedgerView() {
  return <CallLedger />;
}
